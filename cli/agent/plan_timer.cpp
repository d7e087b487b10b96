#include "cli/agent/plan_timer.h"

namespace muster::cli {

std::optional<PlanTimer::Time> PlanTimer::next(const PlanSituation& situation) const {
  if (is_busy_ || is_stopped_) return std::nullopt;
  const Time allowed = begun_ + period_;
  switch (situation.obstacle) {
    case Obstacle::kUnread:
    case Obstacle::kInterrupted:
    case Obstacle::kFollows:
      return std::nullopt;
    case Obstacle::kUnseen:
      return std::max(allowed, situation.seen_at_latest);
    case Obstacle::kNone:
      break;
  }
  if (situation.revision != revision_) return allowed;
  return std::max(allowed, std::min(again_, begun_ + idle_period_));
}

}  // namespace muster::cli
