// Which node a pod goes to: the best by a rule among all that fit, found by an index that follows the state.
//
// No candidate is ever left out: on occupied clusters a cap on candidates costs points of the objective. For each class
// of pods that is asked for often there is a tree of the least scores of the nodes, whose leaves are brought up to date
// only for nodes that changed since the class was asked for last. Most of these are too full for the class by then,
// which a few numbers side by side tell without a look at the node; where it is too full for all classes that ask for
// devices in the same way, each of them looks at it once. Nor is anything looked at, or searched for, where nothing but
// the best node has changed, and is better than it was.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heuristics/cluster_state.h"
#include "heuristics/fit.h"
#include "model/problem.h"

namespace muster {

enum class NodeRule : std::uint8_t {
  kBestFit,  // fewest idle devices left, then tightest shared device, then least cpu left
  kKeepCpu,  // least cpu stranded beside idle devices, then as kBestFit
  kSpread    // least in use
};

// The one of the snapshot's policy, where nothing else is tried.
inline NodeRule usual_rule(const Problem& problem) {
  return problem.snapshot->policy.placement == PlacementPolicy::kSpread ? NodeRule::kSpread : NodeRule::kKeepCpu;
}

class NodeChooser {
 public:
  // All three must outlive the chooser, and `state` must not be replaced by another one.
  NodeChooser(const ClusterState& state, const QueueBounds& bounds, NodeRule rule);
  virtual ~NodeChooser() = default;  // other rules choose in their own way (online_placing.cpp)
  NodeChooser(const NodeChooser&) = delete;
  NodeChooser& operator=(const NodeChooser&) = delete;

  // The best node that can take the pod, or none. `among`: the nodes to look at, empty for all of them.
  // Cost: O(log nodes) for each node that changed since the pod's class was asked for last, O(nodes) the first time;
  // O(|among|) where it is given.
  virtual NodeIndex choose(PodIndex pod, std::span<const NodeIndex> among);

  // The devices that the pod takes on that node: those that are free at once, if that suffices.
  virtual DeviceList devices_for(PodIndex pod, NodeIndex node) const;

  // How many pods of the class fit on the node beside what is present, at most `limit`; filters included. An upper
  // bound.
  std::int64_t copies(PodClassIndex pod_class, NodeIndex node, std::int64_t limit) const;

 private:
  // Smaller is better; kNoFit: it does not fit.
  using Score = std::uint64_t;
  static constexpr Score kNoFit = ~Score{0};
  static constexpr Score kUnknown = kNoFit - 1;

  // The least score of each branch. Level 0 is by node, each branch of the next one holds kBranches of it; the last has
  // at most kBranches. All levels lie behind each other.
  static constexpr std::size_t kBranches = 16;
  struct Tree {
    std::unique_ptr<Score[]> least;
    std::size_t read = 0;         // of ClusterState::touched
    std::size_t read_filled = 0;  // of Touched::filled
    NodeIndex best;               // as of then
    Score best_score = kNoFit;
  };
  // What most nodes that cannot take a pod lack, side by side: what is free, or is asked for, at most; `share` in
  // millionths of the device that has most room. Where nothing is asked for it is kNothing.
  struct Glance {
    Amount cpu = 0, memory = 0;
    std::int64_t share = 0;
    std::int32_t idle = 0;
  };
  // How a class asks for devices: not at all, for parts of them, for whole ones.
  static constexpr std::size_t kAsks = 3;
  // Nodes in the order in which they were last touched, the latest first: a list that ends, and begins, at none. Those
  // that are too full for every class that has, or may get, a tree leave it, and each tree is told so once.
  struct Recency {
    NodeIndex earlier, later;
    std::size_t touched_at = 0;  // position in ClusterState::touched + 1; 0: not in the list
  };
  struct Touched {
    Glance least_asked;  // of all those classes
    NodeIndex latest;
    Indexed<NodeIndex, Recency> recency;
    std::vector<NodeIndex> filled;  // those that became so, in order
  };

  Score score(PodClassIndex pod_class, NodeIndex node) const;
  Score binpack_score(const PodClass& pod_class, NodeIndex node, const Room& room) const;
  Score spread_score(const PodClass& pod_class, NodeIndex node) const;
  bool fits_at_once(const PodClass& pod_class, NodeIndex node) const;
  Room held_room(NodeIndex node) const;
  bool has_departing(NodeIndex node) const;
  std::span<const PodIndex> occupants(NodeIndex node) const {
    const std::uint32_t begin = occupants_begin_[node.value()];
    return std::span(occupants_).subspan(begin, occupants_begin_[node.value() + 1] - begin);
  }
  void list_occupants();

  NodeIndex scan(PodIndex pod, std::span<const NodeIndex> among) const;
  NodeIndex best_of_tree(PodClassIndex pod_class);
  bool is_best_again(PodClassIndex pod_class, const Tree& tree) const;
  void find_best(Tree& tree) const;
  void build(PodClassIndex pod_class, Tree& tree);
  void update(PodClassIndex pod_class, Tree& tree) const;
  void drop_filled(const Glance& asked, const Touched& list, Tree& tree) const;
  void raise(Tree& tree, std::size_t branch) const;
  void set_score(Tree& tree, std::size_t node, Score score) const;
  Score least_below(const Tree& tree, std::size_t level, std::size_t at) const;
  void read_touched();
  void touch(Touched& list, NodeIndex node, std::size_t touched_at, const Glance& before) const;
  static std::size_t asks(const PodClass& pod_class);
  Glance glance_at(NodeIndex node) const;
  static Glance asked_by(const PodClass& pod_class);
  static bool is_short(const Glance& free, const Glance& asked);
  void group_alike();
  bool wants_tree(PodClassIndex pod_class) const;

  const Problem& problem_;
  const ClusterState& state_;
  const QueueBounds& bounds_;
  NodeRule rule_;
  std::vector<std::size_t> level_begin_;  // of the trees' levels, and the end
  std::array<Touched, kAsks> touched_;
  std::size_t touched_read_ = 0;
  // Nodes that had the same room when the first tree was built, and what they all score until they are touched.
  Indexed<NodeIndex, std::uint32_t> alike_;
  std::vector<Score> score_of_alike_;
  Indexed<NodeIndex, std::uint8_t> is_touched_;  // since they were grouped
  Indexed<NodeIndex, Glance> glances_;           // none before the first pod
  std::vector<NodeIndex> all_nodes_;
  Indexed<PodClassIndex, std::int64_t> pending_;  // pods of the class that wait
  Indexed<PodClassIndex, std::unique_ptr<Tree>> trees_;
  // Pods that the snapshot has on node n, releasing ones too: `occupants_[occupants_begin_[n] .. [n + 1]]`, ascending.
  std::vector<std::uint32_t> occupants_begin_;
  std::vector<PodIndex> occupants_;
  Indexed<NodeIndex, std::uint8_t> has_releasing_;
  Amount typical_cpu_per_gpu_ = 0;  // of what waits for devices; thousandths of a core
  mutable std::vector<Amount> held_free_;
  mutable std::vector<DeviceUnits> held_devices_;
};

}  // namespace muster
