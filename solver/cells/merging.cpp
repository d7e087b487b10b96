#include "solver/cells/merging.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "heuristics/greedy/greedy.h"
#include "heuristics/local_search/search.h"
#include "model/objective/evaluation.h"
#include "model/referee/referee.h"
#include "solver/cells/dealing.h"

namespace muster::cells {
namespace {

void append(const Plan& more, Plan& plan) {
  plan.placements.insert(plan.placements.end(), more.placements.begin(), more.placements.end());
  plan.evictions.insert(plan.evictions.end(), more.evictions.begin(), more.evictions.end());
}

// What the plan of the whole does in each cell for gangs of this cell alone; nothing where evictions concern others,
// since the rest may need their room.
std::vector<Plan> parts_of(const Problem& problem, const Dealing& dealing, const Plan& plan) {
  const Indexed<GangIndex, std::uint8_t> is_scattered = scattered_gangs(problem, dealing, plan);
  const auto is_of_cell = [&](GangIndex gang) { return gang.is_none() || is_scattered[gang] == 0; };
  std::vector<Plan> parts(dealing.size());
  for (const Placement& placement : plan.placements)
    if (is_of_cell(problem.pods[placement.pod].gang))
      parts[dealing.cell_of_node[placement.node].value()].placements.push_back(placement);
  std::vector<std::uint8_t> stands_alone(dealing.size(), 1);
  for (const Eviction& eviction : plan.evictions) {
    const std::size_t cell = dealing.cell_of_node[problem.pods[eviction.pod].node].value();
    parts[cell].evictions.push_back(eviction);
    if (!is_of_cell(problem.pods[eviction.pod].gang) || !is_of_cell(eviction.for_gang)) stands_alone[cell] = 0;
  }
  for (std::size_t cell = 0; cell < dealing.size(); ++cell)
    if (stands_alone[cell] == 0) parts[cell] = {};
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

bool waits_any(const Problem& problem, const Plan& plan) {
  Indexed<PodIndex, std::uint8_t> is_placed(problem.pods.size());
  for (const Placement& placement : plan.placements) is_placed[placement.pod] = 1;
  return std::ranges::any_of(problem.pods.indices(), [&](PodIndex pod) {
    return problem.pods[pod].status == PodStatus::kPending && is_placed[pod] == 0;
  });
}

// If its levels are no worse, and the referee passes it.
void take_if_no_worse(const Problem& problem, const FairShares& shares, Candidate candidate, int threads,
                      Merged& merged) {
  if (compare(candidate.levels, merged.levels, level_ids(problem)) < 0) return;
  if (!referee::check_plan(*problem.snapshot, problem, shares, candidate.plan, threads).empty()) return;
  merged.plan = std::move(candidate.plan);
  merged.levels = std::move(candidate.levels);
}

void fill_up(const Problem& problem, const FairShares& shares, const MergeOptions& options, Merged& merged) {
  using Clock = std::chrono::steady_clock;
  if (Clock::now() >= options.fill_until || !waits_any(problem, merged.plan)) return;
  greedy::GreedyOptions filling;
  filling.threads = options.threads;
  filling.starts = 1;
  filling.stop.all = [&] { return Clock::now() >= options.fill_until; };
  filling.from = &merged.plan;
  take_if_no_worse(problem, shares, greedy::solve_greedy(problem, shares, filling), options.threads, merged);
}

// Without its levels.
Merged join(const Problem& problem, const FairShares& shares, const Dealing& dealing,
            const std::vector<const Plan*>& chosen, int threads) {
  const Plan stale = stale_evictions(problem, dealing);
  const auto together = [&](const std::vector<const Plan*>& parts) {
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
  Merged merged;
  merged.plan = together(chosen);
  if (first_fault(merged.plan).empty()) return merged;
  std::vector<const Plan*> passed;
  for (std::size_t cell = 0; cell < dealing.size(); ++cell) {
    passed.push_back(chosen[cell]);
    const std::string fault = first_fault(together(passed));
    if (fault.empty()) continue;
    passed.pop_back();
    merged.refused.push_back(cell);
    merged.reasons.push_back(fault);
  }
  merged.plan = together(passed);
  return merged;
}

}  // namespace

Merged merge(const Problem& problem, const FairShares& shares, const Dealing& dealing, const CellPlans& plans,
             const MergeOptions& options) {
  const Plan* before = options.before;
  const std::vector<Plan> old_parts =
      before != nullptr ? parts_of(problem, dealing, *before) : std::vector<Plan>(dealing.size());
  std::vector<const Plan*> chosen;
  for (std::size_t cell = 0; cell < dealing.size(); ++cell) {
    const bool takes_new = plans[cell] && (before == nullptr || is_better(problem, *plans[cell], old_parts[cell]));
    chosen.push_back(takes_new ? &*plans[cell] : &old_parts[cell]);
  }
  Merged merged = join(problem, shares, dealing, chosen, options.threads);
  merged.levels = evaluate(problem, shares, merged.plan);
  fill_up(problem, shares, options, merged);
  if (before == nullptr) return merged;
  Levels known = evaluate(problem, shares, *before);
  if (compare(merged.levels, known, level_ids(problem)) >= 0) return merged;
  merged.plan = *before;
  merged.levels = std::move(known);
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
  take_if_no_worse(problem, shares, local_search::search(problem, shares, {merged.plan, merged.levels}, options),
                   threads, merged);
}

}  // namespace muster::cells
