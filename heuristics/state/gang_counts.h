// How many pods of each gang are present.
#pragma once

#include <cstdint>

#include "model/problem/problem.h"

namespace muster {

// Cheap to copy.
class GangCounts {
 public:
  // Only pods that have succeeded count. Cost: O(pods).
  explicit GangCounts(const Problem& problem) : members_(problem.groups.size(), 0), versions_(problem.gangs.size(), 0) {
    for (const Pod& pod : problem.pods) {
      if (pod.status == PodStatus::kSucceeded) ++members_[pod.group];
    }
  }

  // Pods of a leaf group that count towards its minimum: present, or succeeded.
  std::int32_t members(GroupIndex leaf) const { return members_[leaf]; }
  // Increases with every change of the gang's pods, undone ones too.
  std::uint32_t version(GangIndex gang) const { return versions_[gang]; }

  // The pod comes (`by` 1) or leaves (-1).
  void count(const Pod& pod, std::int32_t by) {
    members_[pod.group] += by;
    ++versions_[pod.gang];
  }

 private:
  Indexed<GroupIndex, std::int32_t> members_;
  Indexed<GangIndex, std::uint32_t> versions_;
};

}  // namespace muster
