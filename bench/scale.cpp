// The scaling of the whole cycle: from the line through the program's own pipe to its plan, p50 and p99 of the cycle
// and of each of its phases, for clusters of fixed shapes and, with `--sweep yes`, for nodes and pods that double. The
// referee checks every plan before its time counts.
//
// Usage: bench_scale [--runs N] [--cases reasons,gangs,...] [--sweep yes] [--seed S]
//                    [--budget DURATION] [--engine NAME] [--threads N] [--json FILE] [--commit NAME] [--program FILE]
// `bench_compare` compares two files of `--json`. Times are as the program reports them: from
// the arrival of the whole line, parsing included. `pipe` is the time that its user sees, from the first byte written
// to the last one read. The first answer of a process, which pays for its memory, is reported separately.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/support/answer.h"
#include "bench/support/arguments.h"
#include "bench/support/child.h"
#include "bench/support/instances.h"
#include "bench/support/judge.h"
#include "bench/support/machine.h"
#include "bench/support/program.h"
#include "bench/support/scale_cases.h"
#include "bench/support/statistics.h"
#include "model/base/parallel.h"
#include "test/support/paths.h"

namespace muster::bench::scale_bench {
namespace {

struct Arguments {
  int runs = 100;
  std::vector<std::string> cases;
  bool sweeps = false;
  std::uint64_t seed = 1;
  std::string budget = "1s", engine = "greedy", json, commit = bench::commit(), program = test::program();
  int threads = 2;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--runs", [&](const std::string& value) { arguments.runs = std::stoi(value); }},
                  {"--cases", [&](const std::string& value) { arguments.cases = split(value); }},
                  {"--sweep", [&](const std::string& value) { arguments.sweeps = value == "yes"; }},
                  {"--seed", [&](const std::string& value) { arguments.seed = std::stoull(value); }},
                  {"--budget", [&](const std::string& value) { arguments.budget = value; }},
                  {"--engine", [&](const std::string& value) { arguments.engine = value; }},
                  {"--threads", [&](const std::string& value) { arguments.threads = std::stoi(value); }},
                  {"--json", [&](const std::string& value) { arguments.json = value; }},
                  {"--commit", [&](const std::string& value) { arguments.commit = value; }},
                  {"--program", [&](const std::string& value) { arguments.program = value; }},
              });
  if (arguments.runs < 1) throw std::runtime_error("--runs is at least 1");
  return arguments;
}

// --- Measuring

using Samples = std::map<std::string, std::vector<double>>;  // milliseconds, by phase

struct Outcome {
  std::size_t nodes = 0, pods = 0, gangs = 0, bytes = 0;
  double first_ms = 0, allocated = 0, peak_mib = 0;
  int late = 0;
  Samples samples;
};

void add_times(const std::string& answer, double seen_ms, Samples& samples) {
  const double cycle = elapsed_ms(answer).value_or(0);
  double told = 0;
  for (const auto& [phase, ms] : phases_of(answer)) {
    samples[phase].push_back(ms);
    told += ms;
  }
  samples["cycle"].push_back(cycle);
  samples["rest"].push_back(cycle - told);
  samples["pipe"].push_back(seen_ms - cycle);
}

Outcome measure(const std::string& line, const std::string& budget, int runs, const Arguments& arguments) {
  Outcome outcome;
  const Judge judge(line);
  outcome.nodes = judge.problem.nodes.size();
  outcome.pods = judge.problem.pods.size();
  outcome.gangs = judge.problem.gangs.size();
  outcome.bytes = line.size();
  SolveProcess process(arguments.program, {"--budget", budget, "--engine", arguments.engine, "--threads",
                                           std::to_string(arguments.threads), "--quiet"});
  for (int run = 0; run <= runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const std::string answer = process.ask(line);
    const std::chrono::duration<double, std::milli> seen = std::chrono::steady_clock::now() - start;
    const muster_v1::ReadPlan plan = judge.passed(answer);
    if (run == 0) {
      outcome.first_ms = elapsed_ms(answer).value_or(0);
      continue;
    }
    outcome.allocated = judge.allocated(plan.plan);
    outcome.late += answer.find("\"deadlineMissed\":true") == std::string::npos ? 0 : 1;
    add_times(answer, seen.count(), outcome.samples);
  }
  outcome.peak_mib = memory_mib(process.id(), "VmHWM:");
  return outcome;
}

// --- Telling

void print_head() {
  fmt::print(
      "| case | runs | nodes | pods | MB | first | cycle p50 | p99 | parse | model | greedy | verify | write | rest | "
      "allocated | "
      "late | MiB |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

double median_of(const Outcome& outcome, const std::string& phase) {
  const auto at = outcome.samples.find(phase);
  return at == outcome.samples.end() ? 0 : percentile(at->second, 0.5);
}

void print_row(const std::string& name, const Outcome& outcome) {
  fmt::print("| {} | {} | {} | {} | {:.1f} | {:.0f} | {:.1f} | {:.1f} |", name, outcome.samples.at("cycle").size(),
             outcome.nodes, outcome.pods, static_cast<double>(outcome.bytes) / 1e6, outcome.first_ms,
             median_of(outcome, "cycle"), percentile(outcome.samples.at("cycle"), 0.99));
  for (const char* phase : {"parse", "model", "greedy", "verify", "write", "rest"})
    fmt::print(" {:.1f} |", median_of(outcome, phase));
  fmt::print(" {:.2f} % | {} | {:.0f} |\n", 100 * outcome.allocated, outcome.late, outcome.peak_mib);
  std::fflush(stdout);
}

std::string json_of(const std::string& name, const Outcome& outcome, const Arguments& arguments) {
  std::vector<std::string> phases;
  for (const auto& [phase, values] : outcome.samples) {
    phases.push_back(fmt::format(R"("{}":{{"p50":{:.3f},"p99":{:.3f},"least":{:.3f}}})", phase, percentile(values, 0.5),
                                 percentile(values, 0.99), percentile(values, 0)));
  }
  return fmt::format(
      R"({{"case":"{}","commit":"{}","cores":{},"threads":{},"engine":"{}","seed":{},"runs":{},"nodes":{},"pods":{},)"
      R"("gangs":{},"bytes":{},"firstMs":{:.3f},"allocated":{:.6f},"late":{},"peakMiB":{:.1f},"ms":{{{}}}}})",
      name, arguments.commit, usable_cores(), arguments.threads, arguments.engine, arguments.seed,
      outcome.samples.at("cycle").size(), outcome.nodes, outcome.pods, outcome.gangs, outcome.bytes, outcome.first_ms,
      outcome.allocated, outcome.late, outcome.peak_mib, fmt::join(phases, ","));
}

void sweep(const Arguments& arguments, std::ostream* json) {
  constexpr int kLeastNodes = 1'000, kMostNodes = 128'000;
  std::vector<double> sizes;
  std::vector<std::pair<std::string, std::vector<double>>> costs;  // by phase, in ms
  for (const char* phase : {"cycle", "parse", "model", "greedy", "verify", "write"}) costs.push_back({phase, {}});
  for (int nodes = kLeastNodes; nodes <= kMostNodes; nodes *= 2) {
    const std::string name = fmt::format("sweep-{}", nodes);
    const Outcome outcome = measure(generator::generate_snapshot(synth(nodes, arguments.seed)), "30s",
                                    std::min(arguments.runs, 5), arguments);
    print_row(name, outcome);
    if (json != nullptr) *json << json_of(name, outcome, arguments) << "\n";
    sizes.push_back(nodes);
    for (auto& [phase, medians] : costs) medians.push_back(std::max(1e-3, median_of(outcome, phase)));
  }
  fmt::print("\nexponents of the cost in nodes and pods:");
  for (const auto& [phase, medians] : costs) fmt::print(" {} {:.2f}", phase, exponent(sizes, medians));
  fmt::print("\n");
}

int run(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  std::ofstream file;
  if (!arguments.json.empty()) file.open(arguments.json);
  std::ostream* json = arguments.json.empty() ? nullptr : &file;
  fmt::print("{} cores, commit {}, seed {}, budget {}, engine {}, {} threads; milliseconds, medians where not said\n\n",
             usable_cores(), arguments.commit, arguments.seed, arguments.budget, arguments.engine, arguments.threads);
  print_head();
  for (const ScaleCase& one : scale_cases()) {
    const bool is_wanted = arguments.cases.empty()
                               ? !arguments.sweeps
                               : std::ranges::find(arguments.cases, one.name) != arguments.cases.end();
    if (!is_wanted) continue;
    const std::string budget = one.least_budget.empty() ? arguments.budget : one.least_budget;
    const Outcome outcome = measure(one.line(arguments.seed), budget, arguments.runs, arguments);
    print_row(fmt::format("{} ({})", one.what, one.name), outcome);
    if (json != nullptr) *json << json_of(one.name, outcome, arguments) << "\n";
  }
  if (arguments.sweeps) sweep(arguments, json);
  return 0;
}

const Program kProgram("scale", run);

}  // namespace
}  // namespace muster::bench::scale_bench
