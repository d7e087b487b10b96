// Which work a pass of greedy admits: gangs within the fair shares first, then gangs within the quotas, then the rest.
#pragma once

#include <cstdint>

#include "heuristics/greedy/share_room.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::greedy {

enum class Pass : std::uint8_t { kWithinShare, kWithinQuota, kRest };

// Counts the work of one pass in units: the minimum of a gang, or one pod beyond it. Cost of each function: O(depth of
// the queue).
class PassAdmission {
 public:
  // Both must outlive it.
  PassAdmission(const Problem& problem, const FairShares& shares)
      : share_(problem, shares.share_work), quota_(problem, shares.quota_work) {}

  // Before the first pass of several: nothing is counted.
  void clear() {
    share_.clear();
    quota_.clear();
  }
  void begin(Pass pass) { pass_ = pass; }
  Pass pass() const { return pass_; }

  bool admits(QueueIndex leaf, const WorkPair& unit) const {
    if (pass_ == Pass::kWithinShare) return share_.fits(leaf, unit);
    return pass_ == Pass::kRest || quota_.gains(leaf, unit);
  }
  // A unit that is present. Beyond the share it does not take part in the pass within the shares.
  void count(QueueIndex leaf, const WorkPair& unit) {
    if (pass_ == Pass::kWithinShare && share_.fits(leaf, unit)) share_.add(leaf, unit);
    if (pass_ == Pass::kWithinQuota) quota_.add(leaf, unit);
  }
  // The sum of several units. False: they exceed a share, so that the result depends on their order; nothing has
  // changed.
  bool count_sum(QueueIndex leaf, const WorkPair& sum) {
    if (pass_ == Pass::kWithinQuota) quota_.add(leaf, sum);
    return pass_ != Pass::kWithinShare || share_.add_whole(leaf, sum);
  }
  // How full the leaf's share is, see ShareRoom::fullness.
  double fullness(QueueIndex leaf) const { return share_.fullness(leaf); }

 private:
  ShareRoom share_, quota_;
  Pass pass_ = Pass::kWithinShare;
};

}  // namespace muster::greedy
