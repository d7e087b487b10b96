// Bounds of the levels `work` by packing: whether the pods that must all be present, for a level to reach the sum of
// their work, fit on the nodes together.
//
// Sums over all nodes say that they do as long as nothing is wasted; where the cluster is nearly full, few contents of
// a node waste so little. So nodes are filled one after another, each with the largest pod that is left and as much
// else as fits, as long as no more is wasted than there is to spare: bin completion (Korf 2003; Fukunaga and Korf
// 2007). All rules but capacity and the filters of nodes are left out, and a part of a device counts as none of it, so
// that what does not fit here fits in no plan.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/objective/possibilities.h"
#include "model/problem/problem.h"

namespace muster::lp {

class PackingBound {
 public:
  // The problem must outlive it. Cost: O(pods).
  explicit PackingBound(const Problem& problem);

  // The work of all pods of that rank (a position in ObjectiveTerms::priorities) or before that may be present.
  Work all_work(std::size_t rank) const { return work_[rank]; }
  // The most work of that rank or before in any plan in which all pods of the ranks before are present. At most
  // all_work, which it is at once on more nodes than BoundTuning::packing_depth. Cost: O(pods + nodes x kinds of pods),
  // and BoundTuning::steps looks at one kind for one node; the first time for each rank.
  Work most_work(std::size_t rank);

 private:
  struct Packing;
  class Search;

  struct Present;

  bool is_too_deep(std::size_t kinds) const;
  Present present_pods(std::size_t rank) const;
  std::optional<Packing> packing(const Present& present) const;
  Work find_most_work(std::size_t rank) const;

  const Problem& problem_;
  Possibilities possibilities_;
  std::vector<Work> work_;                  // by rank
  std::vector<std::optional<Work>> known_;  // by rank, of earlier questions
};

}  // namespace muster::lp
