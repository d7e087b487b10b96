// The parts of a round of the search: around nodes in a random order, so that gangs lie within one part if possible;
// waiting pods and gangs are distributed over the parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/local_search/plan_value.h"
#include "heuristics/local_search/scope.h"
#include "heuristics/local_search/search_part.h"
#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::local_search {

class RoundParts {
 public:
  // `state` may change between two rounds. Both must outlive it.
  RoundParts(const SearchScope& scope, const ClusterState& state, std::uint64_t seed);

  struct Round {
    std::int64_t trials_left = 0;  // for this round and all that follow
    bool counts_usable = true;     // see SearchPart
  };
  // Parts without common nodes; none if no node may be changed. Cost: O(pods + nodes).
  std::vector<SearchPart> next(const Round& round);

  // So many rounds without an improvement are enough: every node has then had several turns.
  std::size_t most_vain_rounds() const;

 private:
  std::vector<NodeIndex> next_turns();
  void fill(SearchPart& part);
  void add_gangs_of(NodeIndex node, SearchPart& part);
  void add(NodeIndex node, SearchPart& part);
  void distribute_waiting(std::vector<SearchPart>& parts);
  bool waits(PodIndex pod) const;
  bool could_complete(const Gang& gang) const;

  const SearchScope& scope_;
  const Problem& problem_;
  const ClusterState& state_;
  RandomSource random_;
  std::vector<NodeIndex> turns_;  // nodes that have not had their turn, the next one last
  std::uint32_t round_ = 0;
  Indexed<NodeIndex, std::uint32_t> taken_in_;  // the last round in which it was in a part
};

}  // namespace muster::local_search
