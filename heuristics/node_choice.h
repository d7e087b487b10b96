// Which node a pod goes to: the best by a rule among all that fit, found by an index that follows the state.
//
// No candidate is ever left out: on occupied clusters a cap on candidates costs points of the objective. For each class
// of pods that is asked for often there is a tournament tree over the nodes, whose leaves are brought up to date only
// for nodes that changed since the class was asked for last.
#pragma once

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

class NodeChooser {
 public:
  // All three must outlive the chooser, and `state` must not be replaced by another one.
  NodeChooser(const ClusterState& state, const QueueBounds& bounds, NodeRule rule);

  // The best node that can take the pod, or none. `among`: the nodes to look at, empty for all of them.
  // Cost: O(log nodes) for each node that changed since the pod's class was asked for last; O(|among|) where it is
  // given.
  NodeIndex choose(PodIndex pod, std::span<const NodeIndex> among);

  // The devices that the pod takes on that node: those that are free at once, if that suffices.
  std::vector<std::int32_t> devices_for(PodIndex pod, NodeIndex node) const;

  // How many pods of the class fit on the node beside what is present, at most `limit`; filters included. An upper
  // bound.
  std::int64_t copies(PodClassIndex pod_class, NodeIndex node, std::int64_t limit) const;

 private:
  // Smaller is better; kNoFit: it does not fit.
  using Score = std::uint64_t;
  static constexpr Score kNoFit = ~Score{0};

  struct Tree {
    std::vector<Score> scores;           // by node
    std::vector<std::uint32_t> winners;  // heap order; the leaves are the nodes
    std::size_t read = 0;                // of ClusterState::touched
  };

  Score score(PodClassIndex pod_class, NodeIndex node) const;
  Score binpack_score(const PodClass& pod_class, NodeIndex node, const Room& room) const;
  Score spread_score(const PodClass& pod_class, NodeIndex node) const;
  bool fits_at_once(const PodClass& pod_class, NodeIndex node) const;
  Room held_room(NodeIndex node) const;
  bool has_departing(NodeIndex node) const;

  NodeIndex scan(PodIndex pod, std::span<const NodeIndex> among) const;
  NodeIndex best_of_tree(PodClassIndex pod_class);
  void build(PodClassIndex pod_class, Tree& tree) const;
  void update(PodClassIndex pod_class, Tree& tree) const;
  void replay(Tree& tree, std::uint32_t node) const;
  bool wants_tree(PodClassIndex pod_class) const;

  const Problem& problem_;
  const ClusterState& state_;
  const QueueBounds& bounds_;
  NodeRule rule_;
  std::size_t leaves_ = 1;  // a power of two, at least the number of nodes
  std::vector<NodeIndex> all_nodes_;
  Indexed<PodClassIndex, std::int64_t> pending_;  // pods of the class that wait
  Indexed<PodClassIndex, std::unique_ptr<Tree>> trees_;
  Indexed<NodeIndex, std::vector<PodIndex>> occupants_;  // pods that the snapshot has on the node, releasing ones too
  Indexed<NodeIndex, std::uint8_t> has_releasing_;
  Amount typical_cpu_per_gpu_ = 0;  // of what waits for devices; thousandths of a core
  mutable std::vector<Amount> held_free_;
  mutable std::vector<DeviceUnits> held_devices_;
};

}  // namespace muster
