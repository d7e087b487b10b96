// The time of greedy by itself: its first start alone, and all starts concurrently. Medians of several runs, of the
// elapsed time and of the CPU time of its threads; the referee checks every plan before its time counts.
//
// Usage: bench_greedy --files FILE,FILE [--starts N] [--threads N] [--repetitions N] [--levels yes]
// Each file holds one snapshot line. `--starts` are all of them if not given. The fingerprints tell plans apart: two
// programs that print the same ones found the same plans.
#include "heuristics/greedy/greedy.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/support/arguments.h"
#include "bench/support/judge.h"
#include "bench/support/program.h"
#include "heuristics/state/candidate.h"

namespace muster::bench::greedy_bench {
namespace {

struct Arguments {
  std::vector<std::string> files;
  greedy::GreedyOptions options;
  int repetitions = 5;
  bool shows_levels = false;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  arguments.options.threads = 2;
  parse_flags(argc, argv,
              {
                  {"--files", [&](const std::string& value) { arguments.files = split(value); }},
                  {"--starts", [&](const std::string& value) { arguments.options.starts = std::stoi(value); }},
                  {"--threads", [&](const std::string& value) { arguments.options.threads = std::stoi(value); }},
                  {"--repetitions", [&](const std::string& value) { arguments.repetitions = std::stoi(value); }},
                  {"--levels", [&](const std::string& value) { arguments.shows_levels = value == "yes"; }},
              });
  if (arguments.files.empty() || arguments.repetitions < 1) throw std::runtime_error("--files is needed");
  return arguments;
}

std::string read_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) throw std::runtime_error("cannot read " + path);
  return line;
}

// Fowler, Noll and Vo's hash (1991) of everything in the plan.
std::uint64_t fingerprint(const Plan& plan) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3ULL; };
  for (const Placement& placement : plan.placements) {
    mix(placement.pod.value());
    mix(placement.node.value());
    for (const std::int32_t device : placement.devices) mix(static_cast<std::uint64_t>(device) + 1);
    for (const PodIndex pod : placement.after) mix(pod.value());
  }
  for (const Eviction& eviction : plan.evictions) {
    mix(eviction.pod.value());
    mix(static_cast<std::uint64_t>(eviction.reason));
    mix(eviction.for_gang.value());
  }
  return hash;
}

struct Measured {
  Candidate candidate;
  double milliseconds = 0, computed_ms = 0;
};

Measured measure(const Judge& judge, const greedy::GreedyOptions& options, int repetitions) {
  using Clock = std::chrono::steady_clock;
  Measured measured;
  std::vector<double> times, computed;
  for (int i = 0; i < repetitions; ++i) {
    const Clock::time_point start = Clock::now();
    const std::clock_t computed_before = std::clock();
    measured.candidate = greedy::solve_greedy(judge.problem, judge.shares, options);
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    computed.push_back(1e3 * static_cast<double>(std::clock() - computed_before) / CLOCKS_PER_SEC);
  }
  const auto median = [](std::vector<double>& of) {
    std::ranges::sort(of);
    return of[of.size() / 2];
  };
  const auto violations = referee::check_plan(judge.snapshot, judge.problem, judge.shares, measured.candidate.plan);
  if (!violations.empty()) throw std::runtime_error(violations[0].subject + ": " + violations[0].message);
  measured.milliseconds = median(times);
  measured.computed_ms = median(computed);
  return measured;
}

void print(const std::string& file, const Judge& judge, const Measured& measured, const Arguments& arguments,
           const char* starts) {
  const Plan& plan = measured.candidate.plan;
  fmt::print("| {} | {} | {} | {} | {:.1f} | {:.1f} | {} | {} | {:.2f} | {:016x} |\n", file, starts,
             judge.problem.nodes.size(), judge.problem.pods.size(), measured.milliseconds, measured.computed_ms,
             plan.placements.size(), plan.evictions.size(), judge.allocated(plan) * 100, fingerprint(plan));
  if (arguments.shows_levels) fmt::print("levels: {}\n", fmt::join(measured.candidate.levels.values, " "));
  std::fflush(stdout);
}

int run(const Arguments& arguments) {
  fmt::print("| file | starts | nodes | pods | ms | computed ms | placed | evicted | GPUs in use | fingerprint |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|---|\n");
  for (const std::string& file : arguments.files) {
    const Judge judge(read_line(file));
    greedy::GreedyOptions first = arguments.options;
    first.starts = 1;
    print(file, judge, measure(judge, first, arguments.repetitions), arguments, "first");
    if (arguments.options.starts != 1)
      print(file, judge, measure(judge, arguments.options, arguments.repetitions), arguments, "all");
  }
  return 0;
}

const Program kProgram("greedy", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::greedy_bench
