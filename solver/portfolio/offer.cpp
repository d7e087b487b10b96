#include "solver/portfolio/offer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/objective/evaluation.h"

namespace muster::portfolio {

bool is_within_gap(const Offer& offer, const std::vector<LevelId>& ids, double gap, PlacementPolicy policy) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int64_t value = offer.candidate.levels.values[i];
    if (i >= offer.bounds.size() || !offer.bounds[i]) return false;
    const std::int64_t bound = *offer.bounds[i];
    if (bound == value) continue;
    const auto scale = static_cast<double>(level_scale(ids[i].kind, policy));
    return static_cast<double>(std::abs(bound - value)) <= gap * std::max(scale, std::abs(static_cast<double>(bound)));
  }
  return true;
}

Offer least_offer(const Problem& problem, const FairShares& shares) {
  Plan plan;
  for (const PodIndex pod : problem.pods.indices()) {
    const bool must_go = problem.snapshot->policy.actions.stale && problem.gangs[problem.pods[pod].gang].stale;
    if (must_go && problem.pods[pod].status == PodStatus::kRunning)
      plan.evictions.push_back({pod, EvictionReason::kStale, GangIndex::none()});
  }
  Levels levels = evaluate(problem, shares, plan);
  return {{std::move(plan), std::move(levels)}, Origin::kNone, {}};
}

std::vector<std::string> drop_refuted_bounds(Offer& offer, const std::vector<LevelId>& ids) {
  std::vector<std::string> defects;
  for (std::size_t i = 0; i < offer.bounds.size(); ++i) {
    const std::int64_t value = offer.candidate.levels.values[i];
    std::optional<std::int64_t>& bound = offer.bounds[i];
    if (!bound || (is_maximised(ids[i].kind) ? value <= *bound : value >= *bound)) continue;
    defects.push_back("a bound of " + std::to_string(*bound) + " of the level " + std::string(level_name(ids[i].kind)) +
                      " was refuted by a plan with " + std::to_string(value));
    bound.reset();
  }
  return defects;
}

}  // namespace muster::portfolio
