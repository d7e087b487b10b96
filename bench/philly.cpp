// The Philly trace over its virtual clusters, or over another inventory, for some days of arrivals at several loads:
// Muster compared with first in, first out, EASY backfilling, the order of the KAI Scheduler, and the shortest first.
// The referee checks every plan before it is carried out; a rejected plan is counted, and the run fails.
//
// Usage: bench_philly [--loads L,L] [--policies NAME,NAME] [--days N] [--period SECONDS] [--seeds S,S] [--threads N]
//                     [--inventory FILE] [--resume 1] [--large-weight W] [--large-priority N] [--place-only 1]
//                     [--estimates none|noisy|exact] [--order expected-duration|waited] [--reserve-after SECONDS]
//                     [--price P] [--usage-half-life SECONDS] [--usage-factor K] [--one-queue 1] [--calibrate 1]
//                     [--data DIR] [--json FILE]
// --large-weight, --large-priority, --place-only, --estimates, --one-queue: as of muster import philly. --order: of
// Muster's engines, as of muster simulate. --reserve-after, --price, --usage-factor: policy.overTime; policies that
// reserve by themselves have no --reserve-after. --usage-half-life: as of muster simulate. Cases run concurrently on
// --threads threads, each on one; equal arguments give equal figures except for the times.
#include "datasets/traces/philly.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/program.h"
#include "datasets/simulation/summary.h"
#include "io/snapshot_reader/event_reader.h"
#include "model/base/parallel.h"
#include "model/build/build_problem.h"
#include "solver/portfolio/scheduling_policy.h"
#include "test/support/paths.h"

namespace muster::bench::philly_bench {
namespace {

struct Arguments {
  std::vector<std::string> loads{"0.9", "1.1", "1.3"}, policies{"greedy", "kai", "backfill", "fifo"}, seeds{"1"};
  std::string days = "7", period = "600", threads = "2", inventory, resume, large_weight = "1", large_priority = "0",
              estimates = "none", order, place_only, one_queue, reserve_after, price, usage_half_life, usage_factor,
              calibrate, directory = traces::datasets_source_directory(), json;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--loads", [&](const std::string& value) { arguments.loads = split(value); }},
                  {"--policies", [&](const std::string& value) { arguments.policies = split(value); }},
                  {"--seeds", [&](const std::string& value) { arguments.seeds = split(value); }},
                  {"--days", [&](const std::string& value) { arguments.days = value; }},
                  {"--period", [&](const std::string& value) { arguments.period = value; }},
                  {"--threads", [&](const std::string& value) { arguments.threads = value; }},
                  {"--inventory", [&](const std::string& value) { arguments.inventory = value; }},
                  {"--resume", [&](const std::string& value) { arguments.resume = value; }},
                  {"--large-weight", [&](const std::string& value) { arguments.large_weight = value; }},
                  {"--large-priority", [&](const std::string& value) { arguments.large_priority = value; }},
                  {"--estimates", [&](const std::string& value) { arguments.estimates = value; }},
                  {"--order", [&](const std::string& value) { arguments.order = value; }},
                  {"--place-only", [&](const std::string& value) { arguments.place_only = value; }},
                  {"--one-queue", [&](const std::string& value) { arguments.one_queue = value; }},
                  {"--reserve-after", [&](const std::string& value) { arguments.reserve_after = value; }},
                  {"--price", [&](const std::string& value) { arguments.price = value; }},
                  {"--usage-half-life", [&](const std::string& value) { arguments.usage_half_life = value; }},
                  {"--usage-factor", [&](const std::string& value) { arguments.usage_factor = value; }},
                  {"--calibrate", [&](const std::string& value) { arguments.calibrate = value; }},
                  {"--data", [&](const std::string& value) { arguments.directory = value; }},
                  {"--json", [&](const std::string& value) { arguments.json = value; }},
              });
  return arguments;
}

struct Case {
  std::string load, policy, seed;
  simulation::SimulationSummary summary;
  simulation::SimulationTotals totals;
  double seconds = 0, slowest_ms = 0, days = 0;
  std::vector<std::string> defects;
};

Workload workload_of(const std::string& text) {
  muster_v1::EventReader reader;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (const auto error = reader.read(std::string_view(text).substr(at, end - at))) {
      throw std::runtime_error(error->path + ": " + error->message);
    }
    at = end + 1;
  }
  return reader.take();
}

template <class T>
T required(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().path + ": " + result.error().message);
  return std::move(*result);
}

traces::PhillyEstimates estimates_of(const std::string& name) {
  if (name == "none") return traces::PhillyEstimates::kNone;
  if (name == "noisy") return traces::PhillyEstimates::kNoisy;
  if (name == "exact") return traces::PhillyEstimates::kExact;
  throw std::runtime_error("--estimates: none, noisy or exact");
}

void replay(const Arguments& arguments, const traces::PhillyInput& input,
            const std::vector<generator::InstanceNode>& nodes, Case& one) {
  traces::PhillyOptions philly;
  philly.days = std::stoi(arguments.days);
  philly.load = std::stod(one.load);
  philly.seed = std::stoull(one.seed);
  philly.nodes = nodes;
  philly.large_weight = std::stod(arguments.large_weight);
  philly.large_priority = std::stoi(arguments.large_priority);
  philly.place_only = !arguments.place_only.empty();
  philly.one_queue = !arguments.one_queue.empty();
  philly.estimates = estimates_of(arguments.estimates);
  if (const auto fault = traces::philly_fault(philly)) throw std::runtime_error(fault->path + " " + fault->message);
  Workload workload = workload_of(traces::philly_workload(input, philly));
  if (!arguments.reserve_after.empty())
    workload.all.policy.over_time.reserve_after = std::stoll(arguments.reserve_after) * kNanosecondsPerSecond;
  if (!arguments.price.empty()) workload.all.policy.over_time.eviction_price = std::stod(arguments.price);
  if (!arguments.usage_factor.empty()) workload.all.policy.over_time.usage_factor = std::stod(arguments.usage_factor);
  simulation::SimulationOptions options;
  if (!arguments.usage_half_life.empty())
    options.usage_half_life = std::stoll(arguments.usage_half_life) * kNanosecondsPerSecond;
  options.period = std::stoll(arguments.period) * kNanosecondsPerSecond;
  options.calibrates = !arguments.calibrate.empty();
  options.resumes_work = !arguments.resume.empty();
  options.durations = portfolio::known_durations(one.policy);
  if (arguments.order == "waited") workload.all.policy.over_time.order = SeniorityRule::kWaited;
  const auto simulation = required(simulation::Simulation::begin(workload, options, {}));
  portfolio::SchedulingPolicy policy({one.policy, 1, philly.seed, 0}, test::program());
  const auto begun = portfolio::Clock::now();
  while (simulation->advance()) {
    const auto start = portfolio::Clock::now();
    Problem problem = required(build_problem(simulation->snapshot()));
    const FairShares shares = compute_fair_shares(problem);
    const Plan plan = policy.decide(simulation->snapshot(), problem, shares, one.defects);
    one.slowest_ms =
        std::max(one.slowest_ms, std::chrono::duration<double, std::milli>(portfolio::Clock::now() - start).count());
    simulation->carry_out(std::move(problem), shares, plan);
  }
  one.seconds = std::chrono::duration<double>(portfolio::Clock::now() - begun).count();
  one.summary = simulation::summarize(*simulation);
  one.totals = simulation->totals();
  one.totals.samples.queues.clear();  // names of the workload, which ends here
  one.totals.samples.last.reset();
  one.days = static_cast<double>(simulation->now() - workload.all.time) / 86'400e9;
}

double part(simulation::GpuTime value, simulation::GpuTime of) {
  return of == 0 ? 0 : static_cast<double>(value) / static_cast<double>(of);
}
double hours(double seconds) { return seconds / 3600; }
double hours_of(Nanoseconds span) { return static_cast<double>(span) / 3600e9; }

void print_case(const Case& one) {
  const simulation::SimulationTotals& totals = one.totals;
  fmt::print(
      "{:>4} {:>4} {:<9} {:>6.2f} {:>6.2f} {:>7.2f} {:>7.1f} {:>7.2f} {:>7.1f} {:>6} {:>6} {:>9.0f} {:>6.3f} {:>6.3f} "
      "{:>6.1f} {:>7.1f} {:>7.1f}\n",
      one.load, one.seed, one.policy, 100 * part(totals.allocated_arriving, totals.capacity_arriving),
      100 * part(totals.allocated - one.summary.lost, totals.capacity), hours(one.summary.large.waiting.mean_seconds),
      hours_of(one.summary.large.waiting.p99), hours(one.summary.all.waiting.mean_seconds),
      hours_of(one.summary.all.waiting.p99), totals.departed.preempted + totals.departed.reclaimed,
      totals.departed.moved, simulation::gpu_seconds(one.summary.lost) / 3600,
      part(totals.samples.shortfall, totals.samples.capacity),
      totals.samples.jain_seconds / (static_cast<double>(totals.samples.time) / 1e9), one.days, one.seconds,
      one.slowest_ms);
}

// One figure over the seeds: its mean and, of several, its standard error.
class Spread {
 public:
  void add(double value) {
    sum_ += value;
    squares_ += value * value;
    ++count_;
  }
  std::string text(int decimals) const {
    const auto n = static_cast<double>(count_);
    const double mean = sum_ / n;
    if (count_ < 2) return fmt::format("{:.{}f}", mean, decimals);
    const double variance = std::max(0.0, squares_ / n - mean * mean) * n / (n - 1);
    return fmt::format("{:.{}f} +-{:.{}f}", mean, decimals, std::sqrt(variance / n), decimals);
  }

 private:
  double sum_ = 0, squares_ = 0;
  int count_ = 0;
};

constexpr std::string_view kVeryLarge = "<=32";  // of the sizes: 17 to 32 GPUs

// Means and standard errors over the seeds, in the order of the first cases.
void print_means(const std::vector<Case>& cases) {
  fmt::print(
      "\nmeans over the seeds, and their standard errors\n{:<4} "
      "{:<9}{:>15}{:>15}{:>15}{:>15}{:>15}{:>15}{:>13}{:>13}{:>16}{:>16}\n",
      "load", "policy", "all h", "all 99 %", ">= 8 h", ">= 8 99 %", "17-32 h", "alloc %", "evicted", "lost h",
      "shortfall", "jain");
  std::vector<std::pair<std::string, std::string>> seen;
  for (const Case& first : cases) {
    const std::pair key(first.load, first.policy);
    if (std::ranges::find(seen, key) != seen.end()) continue;
    seen.push_back(key);
    std::array<Spread, 10> spreads;
    for (const Case& one : cases) {
      if (one.load != first.load || one.policy != first.policy) continue;
      const simulation::SimulationTotals& totals = one.totals;
      const auto very_large = std::ranges::find(one.summary.by_size, kVeryLarge, &simulation::GangSummary::name);
      const std::array<double, 10> values{
          hours(one.summary.all.waiting.mean_seconds),
          hours_of(one.summary.all.waiting.p99),
          hours(one.summary.large.waiting.mean_seconds),
          hours_of(one.summary.large.waiting.p99),
          very_large == one.summary.by_size.end() ? 0 : hours(very_large->waiting.mean_seconds),
          100 * part(totals.allocated_arriving, totals.capacity_arriving),
          static_cast<double>(totals.departed.preempted + totals.departed.reclaimed),
          simulation::gpu_seconds(one.summary.lost) / 3600,
          part(totals.samples.shortfall, totals.samples.capacity),
          totals.samples.jain_seconds / (static_cast<double>(totals.samples.time) / 1e9)};
      for (std::size_t i = 0; i < values.size(); ++i) spreads[i].add(values[i]);
    }
    constexpr std::array<int, 10> kDecimals{2, 0, 1, 0, 1, 2, 0, 0, 3, 3},
        kWidths{15, 15, 15, 15, 15, 15, 13, 13, 16, 16};
    fmt::print("{:<4} {:<9}", first.load, first.policy);
    for (std::size_t i = 0; i < spreads.size(); ++i) fmt::print("{:>{}}", spreads[i].text(kDecimals[i]), kWidths[i]);
    fmt::print("\n");
  }
}

void print_sizes(const std::vector<Case>& cases) {
  fmt::print("\nhours waited by GPUs of the gang: mean, 99 %\n");
  for (const Case& one : cases) {
    fmt::print("{:>4} {:>4} {:<9}", one.load, one.seed, one.policy);
    for (const simulation::GangSummary& size : one.summary.by_size) {
      fmt::print("  {:>4}: {:>6.2f} {:>6.1f}", size.name, hours(size.waiting.mean_seconds), hours_of(size.waiting.p99));
    }
    fmt::print("\n");
  }
}

// Expected starts against actual ones: told wait / actual wait.
void print_told(const std::vector<Case>& cases) {
  fmt::print("\nexpected starts: gangs, part within a factor of two, told / actual at 10, 50, 90 %\n");
  const auto print_group = [](std::string_view name, const simulation::ToldStatistics& told) {
    if (told.count == 0) return;
    fmt::print("  {:>4}: {:>5} {:>4.1f} {:>5.2f} {:>5.2f} {:>5.2f}", name, told.count, 100 * told.within_twice,
               told.p10, told.p50, told.p90);
  };
  for (const Case& one : cases) {
    fmt::print("{:>4} {:>4} {:<9}", one.load, one.seed, one.policy);
    print_group("all", one.summary.all.told);
    print_group(">= 8", one.summary.large.told);
    for (const simulation::GangSummary& size : one.summary.by_size) print_group(size.name, size.told);
    fmt::print("\n");
  }
}

std::string json_of(const Case& one) {
  std::string sizes;
  for (const simulation::GangSummary& size : one.summary.by_size) {
    sizes +=
        fmt::format(R"({}{{"gpus":"{}","gangs":{},"mean":{:.1f},"p99":{:.1f}}})", sizes.empty() ? "" : ",", size.name,
                    size.submitted, size.waiting.mean_seconds, static_cast<double>(size.waiting.p99) / 1e9);
  }
  const simulation::SimulationTotals& totals = one.totals;
  return fmt::format(
      R"({{"load":{},"seed":{},"policy":"{}","allocation":{:.6f},"useful":{:.6f},"largeMean":{:.1f},"largeP99":{:.1f},)"
      R"("mean":{:.1f},"p99":{:.1f},"evicted":{},"moved":{},"lost":{:.0f},"shortfall":{:.6f},"jain":{:.6f},)"
      R"("seconds":{:.1f},"slowestMs":{:.1f},"bySize":[{}]}})",
      one.load, one.seed, one.policy, part(totals.allocated_arriving, totals.capacity_arriving),
      part(totals.allocated - one.summary.lost, totals.capacity), one.summary.large.waiting.mean_seconds,
      static_cast<double>(one.summary.large.waiting.p99) / 1e9, one.summary.all.waiting.mean_seconds,
      static_cast<double>(one.summary.all.waiting.p99) / 1e9, totals.departed.preempted + totals.departed.reclaimed,
      totals.departed.moved, simulation::gpu_seconds(one.summary.lost),
      part(totals.samples.shortfall, totals.samples.capacity),
      totals.samples.jain_seconds / (static_cast<double>(totals.samples.time) / 1e9), one.seconds, one.slowest_ms,
      sizes);
}

int run(const Arguments& arguments) {
  const traces::PhillyInput input = required(
      traces::load_philly(arguments.directory + "/philly/jobs_mix1.csv", arguments.directory + "/philly/vc_nodes.csv"));
  std::vector<generator::InstanceNode> nodes;
  if (!arguments.inventory.empty()) {
    nodes = required(traces::load_inventory(
        arguments.inventory == "spot2026" ? arguments.directory + "/spot2026/nodes.csv" : arguments.inventory));
  }
  std::vector<Case> cases;
  for (const std::string& load : arguments.loads) {
    for (const std::string& seed : arguments.seeds) {
      for (const std::string& policy : arguments.policies) cases.push_back({load, policy, seed, {}, {}, 0, 0, 0, {}});
    }
  }
  parallel_for(cases.size(), std::stoi(arguments.threads),
               [&](std::size_t i) { replay(arguments, input, nodes, cases[i]); });
  fmt::print("{} days of arrivals, a cycle each {} s, {}\n", arguments.days, arguments.period,
             arguments.inventory.empty() ? "virtual clusters" : arguments.inventory);
  fmt::print(
      "                    alloc  useful  >= 8 GPUs: waited h  all: waited h                       lost short          "
      "days    run s slowest\nload seed policy         %      %    mean      p99    mean     p99  evict  moved     GPU "
      "h   fall   jain        "
      "         ms\n");
  for (const Case& one : cases) print_case(one);
  print_sizes(cases);
  if (!arguments.calibrate.empty()) print_told(cases);
  print_means(cases);
  std::size_t defects = 0;
  std::ofstream json;
  if (!arguments.json.empty()) json.open(arguments.json);
  for (const Case& one : cases) {
    json << json_of(one) << "\n";
    defects += one.defects.size();
    for (const std::string& defect : one.defects) std::cerr << one.load << " " << one.policy << ": " << defect << "\n";
  }
  return defects == 0 ? 0 : 1;
}

const Program kProgram("philly", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::philly_bench
