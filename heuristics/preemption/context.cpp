#include "heuristics/preemption/context.h"

#include <cstddef>
#include <utility>

#include "heuristics/state/binding_order.h"
#include "heuristics/state/groups.h"
#include "model/base/saturating.h"
#include "model/objective/levels.h"
#include "model/problem/eviction_loss.h"

namespace muster::preemption {

PreemptionContext::PreemptionContext(PreemptionInputs inputs)
    : problem(inputs.placer.state().problem()),
      rules(inputs.rules),
      state(inputs.placer.state()),
      bounds(inputs.placer.bounds()),
      placer(inputs.placer),
      stop(inputs.stop),
      ranks(state),
      ledger(rules, state, bounds, std::move(inputs.stale)),
      watch(state),
      leading_levels_(inputs.levels != nullptr ? *inputs.levels : LeadingLevels(problem, rules.shares())) {}

bool PreemptionContext::rules_hold() {
  if (!has_binding_order(state) || !ledger.obeys_rules()) return false;
  // Only changes of running pods change what gangs need, so each gang is queried once in between.
  const std::vector<GangIndex>& asking = rules.survey().with_min_resources;
  constexpr std::uint64_t kNever = ~std::uint64_t{0};
  held_at_.resize(asking.size(), kNever);
  for (std::size_t i = 0; i < asking.size(); ++i) {
    if (held_at_[i] == state.changes().standing_version()) continue;
    if (min_resources_hold(asking[i])) {
      held_at_[i] = state.changes().standing_version();
    } else if (is_anything_present(state, asking[i])) {
      return false;
    }
  }
  return true;
}

void PreemptionContext::begin_attempt() {
  ++claim.attempt;
  const ClusterState::Checkpoint now = ledger.begin_attempt().state;
  // Between attempts the state's log only grows, so a log of the same length means the same state.
  if (std::exchange(levels_at_, now) != now) levels_ = levels_now();
}

void PreemptionContext::keep_attempt(std::vector<Work> levels) {
  levels_ = std::move(levels);
  levels_at_ = state.checkpoint();
  for (const GangIndex gang : ledger.gave_way()) ranks.note(gang, claim.rank + 1);
}

void PreemptionContext::undo_attempt() {
  ledger.rollback(ledger.attempt_began());
  watch.has_grown();
}

std::vector<Work> PreemptionContext::levels_now() {
  std::vector<Work> leading = leading_levels_.of(state);
  const ObjectiveTerms& terms = problem.objective;
  if (terms.preemptible.empty()) return leading;
  const auto ranks_of_levels = static_cast<std::ptrdiff_t>(terms.priorities.size());
  PresenceValues values{.share = {leading.begin(), leading.begin() + ranks_of_levels},
                        .quota = {leading.begin() + ranks_of_levels, leading.begin() + 2 * ranks_of_levels},
                        .work = {leading.begin() + 2 * ranks_of_levels, leading.end()},
                        .preempted = std::vector<Work>(terms.preemptible.size(), 0),
                        .evicted_beyond = std::vector<Work>(terms.evictable.size(), 0)};
  for (const PlannedEviction& eviction : ledger.records()) {
    const Pod& pod = problem.pods[eviction.pod];
    if (state.is_present(eviction.pod) || eviction.reason != EvictionReason::kPreempt ||
        rules.shares().beyond[pod.gang])
      continue;
    // What counts in a level of evictions, with the sign reversed.
    for (std::size_t i = 0; i < terms.preemptible.size(); ++i) {
      if (problem.gangs[pod.gang].priority >= terms.preemptible[i])
        values.preempted[i] = saturating_subtract(values.preempted[i], evicted_value(pod));
    }
  }
  std::vector<Work> levels = in_order(problem, values).values;
  constexpr std::ptrdiff_t kAfterWork = 3;  // `evicted`, `moved` and `seniority`, which are left at 0
  levels.resize(levels.size() - kAfterWork);
  return levels;
}

}  // namespace muster::preemption
