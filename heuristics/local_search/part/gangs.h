// The gangs of one part of the search: those that wait as a whole, those that lie in the part as a whole, and how many
// pods the others can spare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "heuristics/local_search/part/nodes.h"
#include "heuristics/local_search/part/search_part.h"
#include "heuristics/local_search/part/trial.h"
#include "heuristics/local_search/scope.h"
#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::local_search {

class PartGangs {
 public:
  // `state` does not change meanwhile; all must outlive it. Cost: O(pods on the nodes).
  PartGangs(const SearchScope& scope, const ClusterState& state, const SearchPart& part, const PartNodes& nodes);

  const std::vector<GangIndex>& waiting() const { return waiting_; }  // whose minimum may be placed as a whole
  // Gangs that lie completely in this part, and have no pod more than they need.
  const std::vector<GangIndex>& whole() const { return whole_; }
  // The node of a pod of such a gang, as a position of PartNodes.
  std::size_t position_of(PodIndex pod) const { return positions_.at(pod); }

  // Whether the pod, which is placed, may be dropped by itself now. Gangs of several pods belong to one part, which
  // counts their spare ones.
  bool may_drop(PodIndex pod);
  // A pod is dropped, or placed, by itself.
  void note_dropped(PodIndex pod) { change_spare(pod, -1); }
  void note_placed(PodIndex pod) { change_spare(pod, +1); }

  // The gangs that a kept trial has destroyed and completed as a whole.
  void note_kept(const Trial& trial);
  // A pod now lies on the node at the position.
  void note_position(PodIndex pod, std::size_t position) { positions_[pod] = position; }

 private:
  struct ByValue {
    std::size_t operator()(PodIndex pod) const { return pod.value(); }
  };
  void find_whole_gangs(const PartNodes& nodes);
  std::int32_t& spare(GangIndex gang);
  void change_spare(PodIndex pod, std::int32_t change);

  const SearchScope& scope_;
  const Problem& problem_;
  const ClusterState& state_;
  const SearchPart& part_;
  std::vector<GangIndex> waiting_, whole_;
  std::unordered_map<PodIndex, std::size_t, ByValue> positions_;  // of the pods of gangs
  std::map<GangIndex, std::int32_t> spare_;                       // of the gangs that were asked for
};

}  // namespace muster::local_search
