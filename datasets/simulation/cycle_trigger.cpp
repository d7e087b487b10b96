#include "datasets/simulation/cycle_trigger.h"

#include <algorithm>

namespace muster::simulation {
namespace {

// Rules that may later permit, with nothing else changed, what they do not permit now.
bool clock_matters(const Snapshot& snapshot) {
  if (snapshot.policy.aging_interval > 0) return true;
  const auto protects = [](const SnapshotQueue& queue) {
    return queue.preempt_min_runtime.value_or(0) > 0 || queue.reclaim_min_runtime.value_or(0) > 0;
  };
  if (std::ranges::any_of(snapshot.queues, protects)) return true;
  return std::ranges::any_of(snapshot.gangs,
                             [](const SnapshotGang& gang) { return gang.stale_since || gang.terms.timeout; });
}

}  // namespace

bool CycleTrigger::wants_cycle(const Instant& instant) const {
  return instant.pods_wait && (has_changed_ || clock_matters(instant.snapshot));
}

bool CycleTrigger::is_cycle_at(const Instant& instant) const {
  switch (rule_) {
    case CycleRule::kPeriod:
      return (instant.now - start_) % period_ == 0 && last_cycle_ != instant.now && wants_cycle(instant);
    case CycleRule::kBatch:
      return instant.pods_wait && (arrived_pods_ >= batch_ || (instant.all_arrived && has_changed_));
    case CycleRule::kEach:
      return instant.pods_wait && has_changed_;
  }
  return false;
}

std::optional<Nanoseconds> CycleTrigger::next_in_grid(const Instant& instant) const {
  if (rule_ != CycleRule::kPeriod || !wants_cycle(instant)) return std::nullopt;
  const Nanoseconds passed = instant.now - start_;
  const Nanoseconds ahead = (period_ - passed % period_) % period_;
  return instant.now + (ahead == 0 && last_cycle_ == instant.now ? period_ : ahead);
}

void CycleTrigger::note_plan(bool is_empty) {
  has_changed_ = rule_ == CycleRule::kPeriod && !is_empty;
  arrived_pods_ = 0;
}

}  // namespace muster::simulation
