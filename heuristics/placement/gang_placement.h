// Places gangs: the minimum whole or not at all, through nested k-of-n subgroups and topology, then one more pod at a
// time.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/placement/node_choice.h"
#include "heuristics/placement/regions.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/problem/problem.h"

namespace muster::placement {

// The order in which the pods of a group are tried: those that are hardest to place first.
enum class PodOrder : std::uint8_t { kBigFirst, kCpuFirst, kAsGiven };

class GangPlacer {
 public:
  // All must outlive the placer.
  GangPlacer(ClusterState& state, const QueueBounds& bounds, NodeChooser& chooser,
             PodOrder order = PodOrder::kBigFirst);

  ClusterState& state() { return state_; }
  const QueueBounds& bounds() const { return bounds_; }
  const NodeChooser& chooser() const { return chooser_; }

  // Whether any pod of the gang may be placed at all: rules QueueExists and Timeout, and the `place` action.
  bool may_place(GangIndex gang) const;

  // Places what the gang's minimum still lacks, or nothing. True if it is met afterwards. Cost: for each required
  // domain that could hold it, O(pods x choice of a node).
  bool place_minimum(GangIndex gang);

  // Places one more pod of a gang whose minimum is met. False if none of the waiting pods fits.
  bool place_one_more(GangIndex gang);

  // Places the waiting pods of the gangs that fit: minimums in the order given, then elastic pods. `stop` may be empty.
  void fill_up(const std::vector<GangIndex>& gangs, const std::function<bool()>& stop);

  // Places a given pod where its gang's topology allows. False if it does not fit.
  bool place_pod(PodIndex pod);

  // Called for a pod that fits on none of the nodes (empty: all of them); may make room and put the pod. Empty: no room
  // is made.
  using Clear = std::function<bool(PodIndex, std::span<const NodeIndex>)>;
  Clear exchange_clear(Clear clear) { return std::exchange(clear_, std::move(clear)); }

  // Pods of the gang that may still be placed, in the order in which they are tried.
  std::vector<PodIndex> waiting(GroupIndex group) const;

 private:
  using Nodes = std::span<const NodeIndex>;

  bool place_group(GroupIndex group, DomainIndex within, int depth);
  bool place_within(GroupIndex group, DomainIndex within, int depth);
  bool place_leaf(GroupIndex group, DomainIndex within);
  bool place_some_once(const std::vector<PodIndex>& pods, std::int32_t missing, DomainIndex within);
  bool place_from_first(GangIndex gang);
  PodIndex first_of_affinity(GangIndex gang) const;
  std::vector<std::vector<NodeIndex>> roomiest_domains(PodClassIndex pod_class, std::int64_t wanted) const;
  bool place_some(const std::vector<PodIndex>& pods, std::int32_t missing, DomainIndex within);
  void find_waiting(GroupIndex group, std::vector<PodIndex>& pods) const;
  bool place_children(GroupIndex group, DomainIndex within, int depth);
  bool put_on_best_node(PodIndex pod, DomainIndex within);
  // What the region has in common with domains of the level, the most promising first; those that cannot hold the
  // minimum left out.
  std::vector<DomainIndex> candidates(GroupIndex group, TopologyLevelIndex level, DomainIndex within);
  // The domain of the level that holds the present pods of the group; split: they are in several, or outside the
  // topology.
  struct Occupied {
    DomainIndex domain;
    bool any = false, is_split = false;
  };
  Occupied occupied_domain(GroupIndex group, TopologyLevelIndex level) const;
  Occupied look_for_occupied(GroupIndex group, TopologyLevelIndex level) const;
  void add_to(Occupied& occupied, NodeIndex node, TopologyLevelIndex level) const;
  void put(PodIndex pod, NodeIndex node);
  // The regions for one more pod of the leaf group, by required topology of the groups above it.
  std::vector<DomainIndex> regions_for_one_more(GroupIndex leaf);

  ClusterState& state_;
  const Problem& problem_;
  const QueueBounds& bounds_;
  NodeChooser& chooser_;
  PodOrder order_;
  Clear clear_;
  std::vector<PodIndex> spare_pods_;  // memory for those of one group
  // The results of occupied_domain for groups of one gang, as of a version of the gang. They follow the pods that are
  // put, so a gang that grows one pod at a time is examined once.
  struct Found {
    GroupIndex group;
    TopologyLevelIndex level;
    std::uint32_t version = 0;
    Occupied occupied;
  };
  mutable std::vector<Found> found_;
  Regions regions_;
};

}  // namespace muster::placement
