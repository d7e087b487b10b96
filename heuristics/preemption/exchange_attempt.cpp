#include "heuristics/preemption/exchange_attempt.h"

#include <algorithm>
#include <utility>

#include "heuristics/preemption/victims/put_back.h"

namespace muster::preemption {

ExchangeAttempt::Before ExchangeAttempt::begin(const ExchangeLimit& limit) {
  claim_.stage = ClaimStage::kPlain;
  claim_.rank = ranks_.latest();
  claim_.exchange = limit;
  return {attempt_.begin(), ledger_.evicted_loss()};
}

void ExchangeAttempt::evict_like(const PlannedEviction& eviction) {
  claim_.claimant = eviction.for_gang;
  claim_.mode = eviction.reason == EvictionReason::kPreempt ? PreemptionMode::kPreempt : PreemptionMode::kReclaim;
}

bool ExchangeAttempt::bring(const std::vector<PodIndex>& pods) {
  const auto before = ledger_.checkpoint();
  const bool placed = nominator_.with_room([&] {
    return std::ranges::all_of(pods, [&](PodIndex pod) {
      return state_.is_present(pod) || put_back(state_, bounds_, pod) || placer_.place_pod(pod);
    });
  });
  if (!placed) ledger_.rollback(before);
  return placed;
}

bool ExchangeAttempt::end(const Before& before) {
  returns_.settle();
  if (check_.rules_hold()) {
    std::vector<Work> levels = attempt_.levels_now();
    if (levels > attempt_.levels_before() ||
        (levels == attempt_.levels_before() && ledger_.evicted_loss() < before.evicted_loss)) {
      attempt_.keep(std::move(levels));
      return true;
    }
  }
  undo(before);
  return false;
}

}  // namespace muster::preemption
