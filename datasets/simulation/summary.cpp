#include "datasets/simulation/summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "model/problem/gang_tree.h"

namespace muster::simulation {
namespace {

struct Gathering {
  GangSummary summary;
  std::vector<Nanoseconds> waiting, completion, delay;
  std::vector<ToldWait> told;

  void add(const SimulatedJob& job, Nanoseconds end) {
    ++summary.submitted;
    summary.started += job.first_start ? 1 : 0;
    summary.finished += job.finished ? 1 : 0;
    summary.dropped += job.is_dropped ? 1 : 0;
    summary.interruptions += job.disruptions.interruptions;
    summary.evicted_pods += job.disruptions.evicted_pods;
    summary.moved_pods += job.disruptions.moved_pods;
    summary.lost += job.disruptions.lost;
    if (!job.is_dropped) waiting.push_back(job.first_start.value_or(end) - job.submitted);
    if (job.told_start && job.first_start)
      told.push_back({*job.told_start - job.submitted, *job.first_start - job.submitted});
    if (!job.finished) return;
    completion.push_back(*job.finished - job.submitted);
    delay.push_back(completion.back() - job.duration.value_or(0));
  }

  GangSummary finish(std::string_view name, Nanoseconds period) && {
    summary.name = name;
    summary.waiting = statistics_of(std::move(waiting));
    summary.completion = statistics_of(std::move(completion));
    summary.delay = statistics_of(std::move(delay));
    summary.told = told_statistics_of(told, period);
    return std::move(summary);
  }
};

}  // namespace

SpanStatistics statistics_of(std::vector<Nanoseconds> spans) {
  SpanStatistics statistics;
  if (spans.empty()) return statistics;
  std::ranges::sort(spans);
  GpuTime sum = 0;
  for (const Nanoseconds span : spans) sum += span;
  const auto ranked = [&](std::size_t percent) { return spans[(spans.size() * percent + 99) / 100 - 1]; };
  statistics.count = static_cast<std::int64_t>(spans.size());
  statistics.mean_seconds = static_cast<double>(sum) / static_cast<double>(spans.size()) / 1e9;
  statistics.p50 = ranked(50);
  statistics.p99 = ranked(99);
  statistics.most = spans.back();
  return statistics;
}

SimulationSummary summarize(const Simulation& simulation) {
  Gathering all, large;
  std::array<Gathering, kGangSizes.size()> by_size;
  std::map<std::string_view, Gathering> by_queue;
  for (const SimulatedJob& job : simulation.jobs()) {
    all.add(job, simulation.now());
    if (job.gpu_work >= kLargeGang) large.add(job, simulation.now());
    by_size[gang_size(job.gpu_work)].add(job, simulation.now());
    by_queue[job.queue].add(job, simulation.now());
  }
  SimulationSummary summary;
  const Nanoseconds period = simulation.options().period;
  summary.all = std::move(all).finish("all", period);
  summary.large = std::move(large).finish("large", period);
  summary.lost = summary.all.lost;
  for (std::size_t i = 0; i < kGangSizes.size(); ++i) {
    if (by_size[i].summary.submitted > 0)
      summary.by_size.push_back(std::move(by_size[i]).finish(kGangSizes[i].name, period));
  }
  for (auto& [name, gathering] : by_queue) summary.by_queue.push_back(std::move(gathering).finish(name, period));
  return summary;
}

}  // namespace muster::simulation
