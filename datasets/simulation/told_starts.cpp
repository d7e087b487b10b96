#include "datasets/simulation/told_starts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/base/require.h"
#include "model/forecast/expected_starts.h"

namespace muster::simulation {
namespace {

// Jobs with a pending pod that the plan leaves, of which no plan has told anything.
std::vector<std::pair<SimulatedJobIndex, GangIndex>> new_waiting(const Problem& problem, const Plan& plan,
                                                                 JobTable& jobs) {
  Indexed<PodIndex, bool> is_placed(problem.pods.size(), false);
  for (const Placement& placement : plan.placements) is_placed[placement.pod] = true;
  std::vector<std::pair<SimulatedJobIndex, GangIndex>> waiting;
  for (const PodIndex pod : problem.pods.indices()) {
    if (!jobs.is_pending(pod.value()) || is_placed[pod]) continue;
    const SimulatedJobIndex index = jobs.job_of_pods()[pod.value()];
    SimulatedJob& job = jobs[index];
    if (job.first_start || std::exchange(job.state.was_told, true)) continue;
    waiting.emplace_back(index, problem.pods[pod].gang);
  }
  return waiting;
}

}  // namespace

void keep_told_starts(const Problem& problem, const Plan& plan, JobTable& jobs) {
  MUSTER_REQUIRE(problem.pods.size() == jobs.job_of_pods().size());
  const std::vector<std::pair<SimulatedJobIndex, GangIndex>> waiting = new_waiting(problem, plan, jobs);
  if (waiting.empty()) return;
  const forecast::ExpectedStarts starts = forecast::expected_starts(problem, plan);
  if (starts.empty()) return;
  for (const auto& [job, gang] : waiting) {
    if (starts[gang]) jobs[job].told_start = starts[gang]->time;
  }
}

ToldStatistics told_statistics_of(const std::vector<ToldWait>& waits, Nanoseconds period) {
  ToldStatistics statistics;
  if (waits.empty()) return statistics;
  std::vector<double> ratios;
  for (const ToldWait& wait : waits) {
    const bool both_soon = wait.told <= period && wait.actual <= period;
    const double told = static_cast<double>(std::max<Nanoseconds>(1, wait.told)),
                 actual = static_cast<double>(std::max<Nanoseconds>(1, wait.actual));
    ratios.push_back(both_soon ? 1 : told / actual);
  }
  std::ranges::sort(ratios);
  const auto right = std::ranges::count_if(ratios, [](double ratio) { return ratio >= 0.5 && ratio <= 2; });
  const auto ranked = [&](std::size_t percent) { return ratios[(ratios.size() * percent + 99) / 100 - 1]; };
  statistics.count = std::ssize(ratios);
  statistics.within_twice = static_cast<double>(right) / static_cast<double>(ratios.size());
  statistics.p10 = ranked(10);
  statistics.p50 = ranked(50);
  statistics.p90 = ranked(90);
  return statistics;
}

}  // namespace muster::simulation
