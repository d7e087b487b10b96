// The pods that wait in one part of the search, each of which may be placed by itself: in groups of equal value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "heuristics/local_search/part/coarse_amounts.h"
#include "heuristics/local_search/scope.h"
#include "model/base/require.h"
#include "model/problem/problem.h"

namespace muster::local_search {

class WaitingPods {
 public:
  // Pods of one class, and of gangs that count equally.
  struct Group {
    PodClassIndex pod_class;
    CoarseAmounts request;
    std::int64_t worth = 0;      // of each, see SearchScope::worth
    std::vector<PodIndex> pods;  // the pod that has waited longest is last
  };

  // It must outlive this.
  explicit WaitingPods(const SearchScope& scope) : scope_(scope), problem_(scope.problem()) {}

  // In the order in which their first pods came; a group may be empty.
  const std::vector<Group>& groups() const { return groups_; }
  void insert(PodIndex pod);    // cost: O(pods of the group)
  void withdraw(PodIndex pod);  // the same
  // The pod of the group that has waited longest no longer waits. Requires a group that is not empty.
  void pop(std::size_t group) {
    MUSTER_REQUIRE_SLOW(!groups_[group].pods.empty());
    groups_[group].pods.pop_back();
  }

 private:
  Group& group_of(PodIndex pod);
  bool waits_less(PodIndex a, PodIndex b) const;

  const SearchScope& scope_;
  const Problem& problem_;
  std::vector<Group> groups_;
  std::map<std::pair<PodClassIndex, std::int64_t>, std::size_t> positions_;  // by class and worth
};

}  // namespace muster::local_search
