#include "heuristics/preemption/eviction_ledger.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heuristics/state/fit.h"
#include "model/base/saturating.h"
#include "model/problem/eviction_loss.h"

namespace muster::preemption {

namespace {

bool has_limits(const QueueBounds& bounds) {
  return !bounds.limited_usage.empty() || std::ranges::any_of(bounds.usage, [](const QueueAmounts& of_queue) {
    return std::ranges::any_of(of_queue, [](Amount bound) { return bound != kNoBound; });
  });
}

}  // namespace

EvictionLedger::EvictionLedger(const EvictionRules& rules, ClusterState& state, const QueueBounds& bounds,
                               std::vector<PlannedEviction> stale)
    : problem_(state.problem()),
      state_(state),
      rules_(rules),
      log_(problem_.pods.size()),
      stale_(std::move(stale)),
      is_local_(!has_limits(bounds)) {}

const EvictionLedger::Checkpoint& EvictionLedger::begin_attempt() {
  gave_way_.clear();
  return attempt_ = checkpoint();
}

void EvictionLedger::rollback(const Checkpoint& to) {
  state_.rollback(to.state);
  log_.rollback(to.log);
  has_evicted_ = to.has_evicted;
}

void EvictionLedger::record(const PlannedEviction& eviction) {
  log_.set(eviction);
  rules_.note(eviction, kinds_);
}

bool EvictionLedger::obeys_rules() const {
  return !has_evicted_ || rules_.surely_hold(state_, kinds_) || rules_.hold(state_, evictions());
}

void EvictionLedger::take(const std::vector<PodIndex>& pods, const Claim& claim) {
  constexpr std::array kReasons{EvictionReason::kConsolidate, EvictionReason::kConsolidate, EvictionReason::kPreempt,
                                EvictionReason::kReclaim};
  for (const PodIndex pod : pods) {
    if (!state_.is_present(pod)) continue;
    state_.take(pod);
    if (fit::is_pending(problem_.pods[pod])) {
      gave_way_.push_back(problem_.pods[pod].gang);
    } else {
      record({pod, kReasons[static_cast<std::size_t>(claim.mode)], claim.claimant});
      is_local_ = is_local_ && (problem_.gangs[problem_.pods[pod].gang].pods.size() == 1 ||
                                !has_waiting_pod(state_, problem_.pods[pod].gang));
    }
  }
}

void EvictionLedger::adopt(const std::vector<PlannedEviction>& evictions) {
  for (const PlannedEviction& eviction : evictions) {
    record(eviction);
    has_evicted_ = true;
  }
  is_local_ = false;
}

void EvictionLedger::name_claimants() {
  std::vector<PlannedEviction> named = evictions();
  rules_.name_claimants(state_, named);
  for (const PlannedEviction& eviction : named) {
    if (eviction.reason != EvictionReason::kStale) record(eviction);
  }
}

std::vector<PlannedEviction> EvictionLedger::evictions() const {
  std::vector<PlannedEviction> result = stale_;
  for (const PlannedEviction& eviction : log_.entries()) {
    if (!state_.is_present(eviction.pod) || !is_home(state_, eviction.pod)) result.push_back(eviction);
  }
  return result;
}

bool EvictionLedger::may_move_more(std::size_t pods) const {
  const auto& most = problem_.snapshot->policy.max_moves;
  if (!most) return true;
  const auto moves = std::ranges::count_if(log_.entries(), [&](const PlannedEviction& eviction) {
    return state_.is_present(eviction.pod) && !is_home(state_, eviction.pod);
  });
  return moves + static_cast<std::int64_t>(pods) <= *most;
}

std::int64_t EvictionLedger::evicted_loss() const {
  std::int64_t loss = 0;
  for (const PlannedEviction& eviction : log_.entries()) {
    const Pod& pod = problem_.pods[eviction.pod];
    if (!state_.is_present(eviction.pod)) loss = saturating_add(loss, evicted_value(pod));
  }
  return loss;
}

bool has_waiting_pod(const ClusterState& state, GangIndex gang) {
  return std::ranges::any_of(state.problem().gangs[gang].pods, [&](PodIndex pod) {
    return fit::is_pending(state.problem().pods[pod]) && !state.is_present(pod);
  });
}

}  // namespace muster::preemption
