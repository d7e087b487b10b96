// The places of a choice, found anew (solver/slots): contended clusters, of which Muster's plan gives the choice.
//
// For each cluster: the work that the plan moves, what is moved by the heuristic alone and with CBC, and their times.
// Fails if the referee rejects what comes of it.
//
// Usage: bench_slots [--nodes N,N] [--seeds N,N] [--engine greedy|auto] [--budget MS] [--time MS] [--threads N]
//   or --snapshots PATH,PATH in place of nodes and seeds: files of one line
// `--budget` is of the plan, `--time` of its places. One JSON line a cluster; "least" -1: proven that not all fits.
#include "solver/slots/slots.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/support/arguments.h"
#include "bench/support/judge.h"
#include "bench/support/program.h"
#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "heuristics/state/plan_of.h"
#include "solver/portfolio/portfolio.h"
#include "test/support/paths.h"

namespace muster::bench::slots_bench {
namespace {

struct Arguments {
  std::vector<std::string> nodes{"20"}, seeds{"1"}, snapshots;
  portfolio::Engine engine = portfolio::Engine::kGreedy;
  std::chrono::milliseconds budget{1'000}, time{10'000};
  int threads = 1;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  const auto milliseconds = [](const std::string& value) { return std::chrono::milliseconds(std::stoi(value)); };
  parse_flags(argc, argv,
              {
                  {"--nodes", [&](const std::string& value) { arguments.nodes = split(value); }},
                  {"--seeds", [&](const std::string& value) { arguments.seeds = split(value); }},
                  {"--snapshots", [&](const std::string& value) { arguments.snapshots = split(value); }},
                  {"--engine",
                   [&](const std::string& value) {
                     arguments.engine = value == "auto" ? portfolio::Engine::kAuto : portfolio::Engine::kGreedy;
                   }},
                  {"--budget", [&](const std::string& value) { arguments.budget = milliseconds(value); }},
                  {"--time", [&](const std::string& value) { arguments.time = milliseconds(value); }},
                  {"--threads", [&](const std::string& value) { arguments.threads = std::stoi(value); }},
              });
  return arguments;
}

// What a plan chooses, without its places.
class Choice {
 public:
  Choice(const Problem& problem, const Plan& plan)
      : base_(problem, ClusterState::Releasing::kFreed), bounds_(queue_bounds(problem, base_)) {
    std::map<PodIndex, bool> is_placed;
    std::map<GangIndex, slots::NewPods> placed;
    for (const Placement& placement : plan.placements) {
      is_placed[placement.pod] = true;
      const Pod& pod = problem.pods[placement.pod];
      if (pod.status != PodStatus::kPending) continue;
      placed[pod.gang].gang = pod.gang;
      placed[pod.gang].pods.push_back(placement.pod);
    }
    for (const auto& [gang, unit] : placed) placed_.push_back(unit);
    for (const Eviction& eviction : plan.evictions) {
      if (is_placed.contains(eviction.pod)) {
        moved_work_ += problem.pods[eviction.pod].weighted_work;
      } else {
        base_.take(eviction.pod);
        evictions_.push_back({eviction.pod, eviction.reason, eviction.for_gang});
      }
    }
    std::map<std::pair<GangIndex, PodClassIndex>, slots::KeptPods> kept;
    for (const PodIndex pod : problem.pods.indices()) {
      const Pod& p = problem.pods[pod];
      if (p.status != PodStatus::kRunning || !problem.gangs[p.gang].preemptible || !base_.is_present(pod)) continue;
      base_.take(pod);
      slots::KeptPods& pods = kept[{p.gang, p.pod_class}];
      pods.pods.push_back(pod);
      ++pods.kept;
      pods.cost = p.weighted_work;
    }
    for (auto& [key, pods] : kept) kept_.push_back(std::move(pods));
  }
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;

  Work moved_work() const { return moved_work_; }
  std::size_t units() const { return placed_.size(); }
  slots::SlotTask task() const { return {base_.problem(), base_, bounds_, kept_, placed_, std::nullopt}; }

  Plan plan_of(const slots::SlotResult& places) const {
    std::vector<PlannedEviction> evictions = evictions_;
    for (const PodIndex pod : places.moved)
      evictions.push_back({pod, EvictionReason::kConsolidate, placed_.front().gang});
    return muster::plan_of(base_.problem(), places.state, evictions);
  }

 private:
  ClusterState base_;
  QueueBounds bounds_;
  std::vector<slots::KeptPods> kept_;
  std::vector<slots::NewPods> placed_;
  std::vector<PlannedEviction> evictions_;
  Work moved_work_ = 0;
};

struct Outcome {
  slots::SlotResult places;
  double ms = 0;
};

// `arguments.time` to do better than the first places found, which take as long as they need.
Outcome place(const Choice& choice, const Arguments& arguments, cbc::Backend* backend) {
  const auto begin = std::chrono::steady_clock::now();
  const slots::PlaceTime time{Deadline(begin + arguments.time, false), Deadline(begin + arguments.time, true)};
  std::optional<slots::SlotResult> places = slots::find_places(choice.task(), time, backend);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return {std::move(places).value(), ms};
}

// A line of JSON. Returns the number of violations.
std::size_t measure(const std::string& name, const std::string& line, const Arguments& arguments,
                    portfolio::Portfolio& portfolio, cbc::Backend& backend) {
  const Judge judge(line);
  portfolio::SolveOptions solve;
  solve.engine = arguments.engine;
  solve.threads = arguments.threads;
  solve.deadline = portfolio::Clock::now() + arguments.budget;
  const Choice choice(judge.problem, portfolio.solve(judge.snapshot, judge.problem, solve).plan);
  const Outcome quick = place(choice, arguments, nullptr), full = place(choice, arguments, &backend);
  std::size_t violations = 0;
  for (const Outcome* outcome : {&quick, &full}) {
    if (!outcome->places.homeless.empty()) continue;
    const auto found =
        referee::check_plan(judge.snapshot, judge.problem, judge.shares, choice.plan_of(outcome->places));
    violations += found.size();
    if (!found.empty()) fmt::print(stderr, "{}: {}\n", found[0].subject, found[0].message);
  }
  fmt::print(R"({{"snapshot":"{}","units":{},"plan":{},"heuristic":{},"homeless":[{},{}],"slots":{},"least":{},)"
             R"("heuristicMs":{:.1f},"slotsMs":{:.1f},"violations":{}}})"
             "\n",
             name, choice.units(), choice.moved_work(), quick.places.moved_work, quick.places.homeless.size(),
             full.places.homeless.size(), full.places.moved_work, full.places.least_moved.value_or(-1), quick.ms,
             full.ms, violations);
  std::fflush(stdout);
  return violations;
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int run(const Arguments& arguments) {
  portfolio::Portfolio portfolio(test::program());
  cbc::Backend backend(test::program());
  backend.prepare();
  std::size_t violations = 0;
  for (const std::string& path : arguments.snapshots)
    violations += measure(path, contents(path), arguments, portfolio, backend);
  for (const std::string& nodes : arguments.nodes)
    for (const std::string& seed : arguments.seeds) {
      if (!arguments.snapshots.empty()) break;
      generator::GeneratorOptions options = *generator::generator_preset("contended");
      options.cluster.nodes = std::stoi(nodes);
      options.seed = std::stoull(seed);
      violations += measure("contended " + nodes + " " + seed, generator::generate_snapshot(options), arguments,
                            portfolio, backend);
    }
  return violations == 0 ? 0 : 1;
}

const Program kProgram("slots", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::slots_bench
