#include "cli/agent/plan_timer.h"

namespace muster::cli {

std::optional<PlanTimer::Time> PlanTimer::next(const PlanSituation& situation) const {
  if (is_busy_ || is_stopped_) return std::nullopt;
  const Time allowed = begun_ + period_;
  if (situation.obstacle != Obstacle::kNone) {
    if (situation.obstacle == Obstacle::kFollows || situation.ends_at_latest == Time::max()) return std::nullopt;
    return std::max(allowed, situation.ends_at_latest);
  }
  if (situation.revision != revision_) return allowed;
  return std::max(allowed, std::min(again_, begun_ + idle_period_));
}

}  // namespace muster::cli
