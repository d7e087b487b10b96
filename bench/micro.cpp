// The steps of a cycle by themselves, one thread, on three fixed clusters: `small` of 100 nodes and `large` of 10,000,
// made up, with queues and priorities; `medium` the 1,213 nodes of OpenB. All are half occupied.
//
// Usage: bench_micro [--benchmark_filter=EXPRESSION] [--benchmark_out=FILE.json] [...]; see --help of Google Benchmark
// `items_per_second` counts what the step is about: bytes, pods, pairs of a pod and a node, gangs, plan lines.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/support/instances.h"
#include "bench/support/judge.h"
#include "bench/support/program.h"
#include "heuristics/greedy/greedy.h"
#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "io/muster_v1/plan_line.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/explain/report.h"
#include "model/forecast/expected_starts.h"
#include "model/objective/fair_share.h"
#include "model/referee/referee.h"

namespace muster::bench::micro_bench {
namespace {

constexpr std::size_t kFitPods = 100;  // each against every node

std::string made_up(int nodes, int queues) {
  generator::GeneratorOptions options = synth(nodes, 1);
  options.queues.count = queues;
  options.priorities = 3;
  options.gangs.largest = 64;
  options.running.occupied = 0.5;
  return generator::generate_snapshot(options);
}

std::string line_of(std::string_view cluster) {
  if (cluster == "small") return made_up(100, 4);
  if (cluster == "medium") return openb_half(1, 1);
  return made_up(10'000, 32);
}

// A full cluster of 10,000 nodes with known durations, and about as many gangs that wait.
struct Crowded {
  Crowded() : line(crowded()), snapshot(*muster_v1::SnapshotReader().read(line)) {
    snapshot.policy.over_time.expected_durations.emplace();
    problem = *build_problem(snapshot);
  }
  static std::string crowded() {
    generator::GeneratorOptions options = synth(10'000, 1);
    options.queues.count = 32;
    options.priorities = 3;
    options.gangs.largest = 16;
    options.pods.fractions = 0.65;
    options.running.occupied = 0.98;
    options.load = 20;
    return generator::generate_snapshot(options);
  }
  std::string line;
  Snapshot snapshot;
  Problem problem;
};

// A cluster with what the steps begin with; made once, when it is asked for first.
struct Prepared {
  explicit Prepared(std::string_view name)
      : line(line_of(name)),
        judge(line),
        state(judge.problem, ClusterState::Releasing::kFreed),
        bounds(queue_bounds(judge.problem, state)),
        greedy(greedy::solve_greedy(judge.problem, judge.shares, greedy::GreedyOptions{})),
        report(explain::describe(judge.problem, judge.shares, {greedy.plan, greedy.levels, no_bounds(), true})) {
    for (const PodIndex pod : judge.problem.pods.indices())
      if (fit::is_pending(judge.problem.pods[pod])) pending.push_back(pod);
    for (const GangIndex gang : judge.problem.gangs.indices())
      if (std::ranges::any_of(judge.problem.gangs[gang].pods,
                              [&](PodIndex pod) { return fit::is_pending(judge.problem.pods[pod]); }))
        waiting.push_back(gang);
    if (!referee::check_plan(judge.snapshot, judge.problem, judge.shares, greedy.plan).empty())
      throw std::runtime_error("greedy's plan does not pass the referee");
  }

  std::vector<std::optional<std::int64_t>> no_bounds() const {
    return std::vector<std::optional<std::int64_t>>(level_ids(judge.problem).size());
  }

  std::string line;
  Judge judge;
  ClusterState state;  // as the snapshot has it
  QueueBounds bounds;
  Candidate greedy;
  explain::Report report;
  std::vector<PodIndex> pending;
  std::vector<GangIndex> waiting;
};

Prepared& prepared(const std::string& cluster) {
  static std::map<std::string, std::unique_ptr<Prepared>> known;
  std::unique_ptr<Prepared>& at = known[cluster];
  if (!at) at = std::make_unique<Prepared>(cluster);
  return *at;
}

void count(benchmark::State& run, std::size_t items) {
  run.SetItemsProcessed(run.iterations() * static_cast<std::int64_t>(items));
}

void parse(benchmark::State& run, Prepared& cluster) {
  muster_v1::SnapshotReader reader;
  for (auto _ : run) benchmark::DoNotOptimize(reader.read(cluster.line));
  run.SetBytesProcessed(run.iterations() * static_cast<std::int64_t>(cluster.line.size()));
}

void build(benchmark::State& run, Prepared& cluster) {
  Result<Snapshot> snapshot = muster_v1::SnapshotReader().read(cluster.line);
  for (auto _ : run) benchmark::DoNotOptimize(build_problem(*snapshot));
  count(run, cluster.judge.problem.pods.size());
}

void fit_test(benchmark::State& run, Prepared& cluster) {
  const std::size_t step = std::max<std::size_t>(1, cluster.pending.size() / kFitPods);
  std::size_t pairs = 0;
  for (auto _ : run) {
    pairs = 0;
    for (std::size_t i = 0; i < cluster.pending.size(); i += step) {
      for (const NodeIndex node : cluster.judge.problem.nodes.indices())
        benchmark::DoNotOptimize(can_place(cluster.state, cluster.bounds, cluster.pending[i], node));
      pairs += cluster.judge.problem.nodes.size();
    }
  }
  count(run, pairs);
}

// Every pod that waits, one by one, on the best node there is. Begins anew each time: the index is built, too.
void choose(benchmark::State& run, Prepared& cluster) {
  for (auto _ : run) {
    run.PauseTiming();
    ClusterState state = cluster.state;
    run.ResumeTiming();
    placement::NodeChooser chooser(state, cluster.bounds, placement::NodeRule::kKeepCpu);
    for (const PodIndex pod : cluster.pending) {
      const NodeIndex node = chooser.choose(pod, {});
      if (!node.is_none()) state.put(pod, node, chooser.devices_for(pod, node));
    }
  }
  count(run, cluster.pending.size());
}

// The minimum of every gang that waits.
void place(benchmark::State& run, Prepared& cluster) {
  for (auto _ : run) {
    run.PauseTiming();
    ClusterState state = cluster.state;
    run.ResumeTiming();
    placement::NodeChooser chooser(state, cluster.bounds, placement::NodeRule::kKeepCpu);
    placement::GangPlacer placer(state, cluster.bounds, chooser);
    for (const GangIndex gang : cluster.waiting) benchmark::DoNotOptimize(placer.place_minimum(gang));
  }
  count(run, cluster.waiting.size());
}

// Puts all pods of a plan, without looking for their places, and undoes it.
void rollback(benchmark::State& run, Prepared& cluster) {
  const std::vector<Placement>& placements = cluster.greedy.plan.placements;
  std::vector<DeviceList> devices;
  for (const Placement& placement : placements) devices.emplace_back(placement.devices);
  for (auto _ : run) {
    run.PauseTiming();
    ClusterState state = cluster.state;
    run.ResumeTiming();
    const ClusterState::Checkpoint checkpoint = state.checkpoint();
    for (std::size_t i = 0; i < placements.size(); ++i) state.put(placements[i].pod, placements[i].node, devices[i]);
    state.rollback(checkpoint);
  }
  count(run, placements.size());
}

void fair_share(benchmark::State& run, Prepared& cluster) {
  for (auto _ : run) benchmark::DoNotOptimize(compute_fair_shares(cluster.judge.problem));
  count(run, cluster.judge.problem.queues.size());
}

void referee(benchmark::State& run, Prepared& cluster) {
  const Judge& judge = cluster.judge;
  for (auto _ : run)
    benchmark::DoNotOptimize(referee::check_plan(judge.snapshot, judge.problem, judge.shares, cluster.greedy.plan));
  count(run, judge.problem.pods.size());
}

void reasons(benchmark::State& run, Prepared& cluster) {
  const Judge& judge = cluster.judge;
  for (auto _ : run)
    benchmark::DoNotOptimize(explain::describe(
        judge.problem, judge.shares, {cluster.greedy.plan, cluster.greedy.levels, cluster.no_bounds(), true}));
  count(run, cluster.waiting.size());
}

void expected_starts(benchmark::State& run) {
  static const Crowded cluster;
  forecast::ExpectedStarts starts;
  for (auto _ : run) benchmark::DoNotOptimize(starts = forecast::expected_starts(cluster.problem, Plan{}));
  const auto told = std::ranges::count_if(starts, [](const auto& start) { return start.has_value(); });
  run.counters["told"] = static_cast<double>(told);
  run.counters["running"] = static_cast<double>(
      std::ranges::count_if(cluster.problem.pods, [](const Pod& pod) { return pod.status == PodStatus::kRunning; }));
  count(run, static_cast<std::size_t>(told));
}

void format(benchmark::State& run, Prepared& cluster) {
  std::string text;
  for (auto _ : run) {
    text.clear();
    muster_v1::write_plan({cluster.judge.problem, cluster.greedy.plan, cluster.report, {}}, text);
    benchmark::DoNotOptimize(text.data());
  }
  run.SetBytesProcessed(run.iterations() * static_cast<std::int64_t>(text.size()));
}

void register_all() {
  const std::vector<std::pair<std::string, void (*)(benchmark::State&, Prepared&)>> steps{
      {"parse", parse},       {"build", build},          {"fit", fit_test},    {"choose", choose},  {"place", place},
      {"rollback", rollback}, {"fairShare", fair_share}, {"referee", referee}, {"report", reasons}, {"format", format}};
  for (const char* cluster : {"small", "medium", "large"}) {
    for (const auto& [name, step] : steps) {
      benchmark::RegisterBenchmark((name + "/" + cluster).c_str(), [cluster, run_step = step](benchmark::State& run) {
        run_step(run, prepared(cluster));
      })->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::RegisterBenchmark("expectedStarts/crowded", expected_starts)->Unit(benchmark::kMicrosecond);
}

const Program kProgram("micro", [](int argc, char** argv) {
  register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 64;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
});

}  // namespace
}  // namespace muster::bench::micro_bench
