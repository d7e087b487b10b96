// Which work a pass of greedy admits: gangs within the fair shares first, then gangs within the quotas, then the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/greedy/gang_order.h"
#include "heuristics/greedy/waiting_gangs.h"
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
  // How full the leaf's share is, see ShareSlack::fullness.
  double fullness(QueueIndex leaf) const { return share_.fullness(leaf); }

 private:
  ShareSlack share_, quota_;
  Pass pass_ = Pass::kWithinShare;
};

// The gangs that are known to fail, so that passes do not try them again: all gangs of a shape fit or fail together.
//
// A gang that found no room finds none until room has been made. Within a pass the shares and quotas only fill up, so a
// gang beyond them stays beyond them.
//
// O(1) each, except for the functions that forget.
class KnownFailures {
 public:
  explicit KnownFailures(std::size_t shapes)
      : found_no_room_(shapes, 0), claim_failed_(shapes, 0), beyond_(shapes, 0) {}

  // The gang's minimum found no room.
  bool found_no_room(const GangEntry& gang) const {
    return gang.shape >= 0 ? found_no_room_[index(gang)] != 0 : gang.failed_at == epoch_;
  }
  void note_no_room(GangEntry& gang) {
    if (gang.shape >= 0) {
      found_no_room_[index(gang)] = 1;
    } else {
      gang.failed_at = epoch_;
    }
  }
  // No room could be made for the gang's minimum.
  bool has_claim_failed(const GangEntry& gang) const { return gang.shape >= 0 && claim_failed_[index(gang)] != 0; }
  void note_failed_claim(const GangEntry& gang) {
    if (gang.shape >= 0) claim_failed_[index(gang)] = 1;
  }
  // The pass does not admit the gang's minimum.
  bool is_beyond(const GangEntry& gang) const { return gang.shape >= 0 && beyond_[index(gang)] != 0; }
  void note_beyond(const GangEntry& gang) {
    if (gang.shape >= 0) beyond_[index(gang)] = 1;
  }

  void begin_pass() { beyond_.assign(beyond_.size(), 0); }
  // Room was made for a claim: what found no room before may find it now.
  void note_claim() {
    ++epoch_;
    found_no_room_.assign(found_no_room_.size(), 0);
    claim_failed_.assign(claim_failed_.size(), 0);
  }
  bool any_claim() const { return epoch_ > 0; }

 private:
  static std::size_t index(const GangEntry& gang) { return static_cast<std::size_t>(gang.shape); }

  std::vector<char> found_no_room_, claim_failed_, beyond_;  // by shape
  int epoch_ = 0;                                            // the claims that were met
};

// The order in which leaf queues have their turn: the one that is furthest below its share next.
//
// Queues equally full: by their priority, then by index. Cost: O(queues) for each gang.
class QueueByQueue {
 public:
  // Of the entries, which stay in order within their queue, those that may find room. All must outlive it.
  QueueByQueue(const Problem& problem, const PassAdmission& admission, const KnownFailures& failures,
               std::span<GangEntry> entries);

  bool is_empty() const { return lines_.empty(); }
  // Chooses the queue that is next, and returns its first gang. Requires that it is not empty.
  GangEntry& next();
  // The gang that comes so many after next() in its queue; null: none does.
  const GangEntry* ahead(std::size_t distance) const;
  // The gang of next() has been tried, and counted if it was placed.
  void pop();

 private:
  struct Line {
    QueueIndex queue;
    double fullness = 0;
    std::vector<GangEntry*> waiting;  // the next one last
  };
  bool comes_before(const Line& a, const Line& b) const;

  const Problem& problem_;
  const PassAdmission& admission_;
  std::vector<Line> lines_;
  std::size_t chosen_ = 0;
};

}  // namespace muster::greedy
