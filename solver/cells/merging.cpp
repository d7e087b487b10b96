#include "solver/cells/merging.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "heuristics/local_search/search.h"
#include "model/objective/evaluation.h"
#include "model/referee/referee.h"

namespace muster::cells {
namespace {

void append(const Plan& more, Plan& plan) {
  plan.placements.insert(plan.placements.end(), more.placements.begin(), more.placements.end());
  plan.evictions.insert(plan.evictions.end(), more.evictions.begin(), more.evictions.end());
}

// The plan of the whole, cell by cell.
std::vector<Plan> parts_of(const Problem& problem, const Dealing& dealing, const Plan& plan) {
  std::vector<Plan> parts(dealing.size());
  for (const Placement& placement : plan.placements)
    parts[dealing.cell_of_node[placement.node].value()].placements.push_back(placement);
  for (const Eviction& eviction : plan.evictions)
    parts[dealing.cell_of_node[problem.pods[eviction.pod].node].value()].evictions.push_back(eviction);
  return parts;
}

// Work that a part adds, by priority, highest first; then less that it evicts or moves.
std::map<std::int64_t, Work, std::greater<>> work_by_priority(const Problem& problem, const Plan& part) {
  std::map<std::int64_t, Work, std::greater<>> work_of;
  const auto add = [&](PodIndex pod, Work sign) {
    work_of[problem.gangs[problem.pods[pod].gang].priority] += sign * problem.pods[pod].weighted_work;
  };
  for (const Placement& placement : part.placements) add(placement.pod, 1);
  for (const Eviction& eviction : part.evictions) {
    add(eviction.pod, -1);
    --work_of[std::numeric_limits<std::int64_t>::min()];
  }
  return work_of;
}

bool is_better(const Problem& problem, const Plan& part, const Plan& than) {
  std::map<std::int64_t, Work, std::greater<>> difference = work_by_priority(problem, part);
  for (const auto& [priority, work] : work_by_priority(problem, than)) difference[priority] -= work;
  const auto decisive = std::ranges::find_if(difference, [](const auto& at) { return at.second != 0; });
  return decisive != difference.end() && decisive->second > 0;
}

// Those of gangs that no cell can evict.
Plan stale_evictions(const Problem& problem, const Dealing& dealing) {
  Plan plan;
  if (!problem.snapshot->policy.actions.stale) return plan;
  for (const PodIndex pod : problem.pods.indices()) {
    const GangIndex gang = problem.pods[pod].gang;
    if (problem.gangs[gang].stale && dealing.is_spanning[gang] != 0 && problem.pods[pod].status == PodStatus::kRunning)
      plan.evictions.push_back({pod, EvictionReason::kStale, GangIndex::none()});
  }
  return plan;
}

}  // namespace

Merged merge(const Problem& problem, const FairShares& shares, const Dealing& dealing, const CellPlans& plans,
             const Plan* before, int threads) {
  const std::vector<LevelId> ids = level_ids(problem);
  const Plan stale = stale_evictions(problem, dealing);
  std::vector<Plan> old_parts =
      before != nullptr ? parts_of(problem, dealing, *before) : std::vector<Plan>(dealing.size());
  std::vector<const Plan*> chosen;
  Merged merged;
  for (std::size_t cell = 0; cell < dealing.size(); ++cell) {
    const bool takes_new = plans[cell] && (before == nullptr || is_better(problem, *plans[cell], old_parts[cell]));
    merged.kept += takes_new ? 0 : 1;
    chosen.push_back(takes_new ? &*plans[cell] : &old_parts[cell]);
  }
  const auto join = [&](const std::vector<const Plan*>& parts) {
    Plan plan = stale;
    for (const Plan* part : parts) append(*part, plan);
    normalise(plan);
    return plan;
  };
  const auto first_fault = [&](const Plan& plan) -> std::string {
    const std::vector<referee::Violation> violations =
        referee::check_plan(*problem.snapshot, problem, shares, plan, threads);
    if (violations.empty()) return {};
    return std::string(referee::rule_name(violations[0].rule)) + ", " + violations[0].subject + ": " +
           violations[0].message;
  };
  merged.plan = join(chosen);
  if (!first_fault(merged.plan).empty()) {
    std::vector<const Plan*> passed;
    for (std::size_t cell = 0; cell < dealing.size(); ++cell) {
      passed.push_back(chosen[cell]);
      const std::string fault = first_fault(join(passed));
      if (fault.empty()) continue;
      passed.pop_back();
      merged.refused.push_back(cell);
      merged.reasons.push_back(fault);
    }
    merged.plan = join(passed);
  }
  merged.levels = evaluate(problem, shares, merged.plan);
  if (before == nullptr) return merged;
  Levels known = evaluate(problem, shares, *before);
  if (compare(merged.levels, known, ids) >= 0) return merged;
  merged.plan = *before;
  merged.levels = std::move(known);
  merged.kept = dealing.size();
  return merged;
}

void improve(const Problem& problem, const FairShares& shares, Merged& merged,
             std::chrono::steady_clock::time_point until, int threads) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  if (begun >= until) return;
  local_search::SearchOptions options;
  options.threads = threads;
  std::optional<Clock::time_point> end;  // ending takes about as long as beginning
  options.stop = [&] {
    const Clock::time_point now = Clock::now();
    if (!end) end = until - (now - begun);
    return now >= *end;
  };
  Candidate better = local_search::search(problem, shares, {merged.plan, merged.levels}, options);
  if (!referee::check_plan(*problem.snapshot, problem, shares, better.plan, threads).empty()) return;
  merged.plan = std::move(better.plan);
  merged.levels = std::move(better.levels);
}

}  // namespace muster::cells
