// What rules over time ask of each gang: its expected duration and end, and its seniority.
#include <algorithm>
#include <optional>

#include "model/base/saturating.h"
#include "model/build/stages.h"
#include "model/problem/expected_durations.h"
#include "model/problem/gang_tree.h"

namespace muster {
namespace {

const GangTerms& terms_of(const ProblemDraft& draft, GangIndex index) {
  static const GangTerms nothing_said;
  if (!draft.is_own_gang[index]) return draft.snapshot.gangs[index.value()].terms;
  const std::int32_t own = draft.snapshot.pods[draft.problem.gangs[index].pods.front().value()].own_gang;
  return own < 0 ? nothing_said : draft.snapshot.own_gang_terms[static_cast<std::size_t>(own)];
}

bool is_any_duration_known(const Snapshot& snapshot) {
  const auto tells = [](const GangTerms& terms) { return terms.expected_duration.has_value(); };
  return snapshot.policy.over_time.expected_durations ||
         std::ranges::any_of(snapshot.gangs, [&](const SnapshotGang& gang) { return tells(gang.terms); }) ||
         std::ranges::any_of(snapshot.own_gang_terms, tells);
}

// In whole GPUs, rounded up.
std::int64_t size_of(const Problem& problem, const Gang& gang) {
  const Work work = least_sum(problem, gang, [&](PodIndex pod) { return problem.class_of(pod).work; });
  return std::max<std::int64_t>(1, (work + 999) / 1000);
}

void set_times(ProblemDraft& draft, const ExpectedDurations& durations, GangIndex index) {
  const Problem& problem = draft.problem;
  Gang& gang = draft.problem.gangs[index];
  const GangTerms& terms = terms_of(draft, index);
  gang.times.gpus = size_of(problem, gang);
  gang.times.expected_duration = durations.expected(terms.queue, gang.times.gpus, terms.expected_duration);
  gang.times.seniority = turn_index(gang.times.gpus, gang.times.waited_seconds, gang.times.expected_duration);
  std::optional<Nanoseconds> run_time;
  for (const PodIndex pod : gang.pods) {
    const Pod& p = problem.pods[pod];
    if (p.status == PodStatus::kRunning) run_time = std::max(run_time.value_or(0), p.run_time);
  }
  if (!run_time) return;
  const Nanoseconds now = draft.snapshot.time;
  const Nanoseconds rest = terms.expected_end
                               ? std::max(saturating_subtract(*terms.expected_end, now), kShortestExpected)
                               : expected_rest(gang.times.expected_duration, *run_time);
  gang.times.expected_end = saturating_add(now, rest);
}

}  // namespace

void build_over_time(ProblemDraft& draft) {
  const OverTime& policy = draft.snapshot.policy.over_time;
  if (policy.order == SeniorityRule::kWaited || !is_any_duration_known(draft.snapshot)) return;
  const ExpectedDurations durations(policy);
  for (const GangIndex gang : draft.problem.gangs.indices()) set_times(draft, durations, gang);
  if (draft.snapshot.policy.non_preemptible_within_quota) close_held(draft, build_turns(draft));
}

}  // namespace muster
