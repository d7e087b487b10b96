// Time from a snapshot line to its plan line through the program's own pipe, against the budget: p50, p99 and worst, by
// size. Every plan is passed to the referee before it counts.
//
// Usage: bench_latency [--budget MS] [--solves N] [--sizes 1,100,1213,9704] [--engine auto] [--threads N]
// The budget's clock starts when the whole line has been read, so the time that the pipe takes is measured too, but
// `overrun` counts from the line's arrival as the program tells it (elapsedMs).
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "bench/child.h"
#include "datasets/generator.h"
#include "datasets/openb.h"
#include "io/plan_line.h"
#include "io/snapshot_reader.h"
#include "model/fair_share.h"
#include "model/referee.h"

namespace muster::bench {
namespace {

constexpr int kOpenbNodes = 1213;
constexpr int kDistinct = 8;  // lines of one size, used in turn

std::string instance(int nodes, std::uint64_t seed) {
  if (nodes % kOpenbNodes == 0) {
    const Result<OpenbInput> input = load_openb(openb_trace_files(openb_source_directory(), "default"));
    if (!input) throw std::runtime_error(input.error().message);
    OpenbOptions options;
    options.seed = seed;
    options.tile = nodes / kOpenbNodes;
    options.load = 1.2;
    return openb_snapshot(*input, options);
  }
  GeneratorOptions options = *generator_preset("synth");
  options.nodes = nodes;
  options.seed = seed;
  return generate_snapshot(options);
}

double number_after(const std::string& line, const std::string& key) {
  const std::size_t at = line.rfind("\"" + key + "\":");
  return at == std::string::npos ? -1 : std::stod(line.substr(at + key.size() + 3));
}

// What the referee has against the plan; empty: nothing.
std::string fault_of(const std::string& snapshot_line, const std::string& plan_line) {
  SnapshotReader reader;
  Result<Snapshot> snapshot = reader.read(snapshot_line);
  if (!snapshot) return snapshot.error().message;
  const Result<Problem> problem = build_problem(*snapshot);
  if (!problem) return problem.error().message;
  const Result<ReadPlan> plan = read_plan(plan_line, &*problem);
  if (!plan) return plan.error().message;
  if (plan->is_error) return plan->error.message;
  const auto violations = check_plan(*snapshot, *problem, compute_fair_shares(*problem), plan->plan);
  return violations.empty() ? "" : violations[0].message;
}

struct Arguments {
  double budget_ms = 100;
  int solves = 200;
  std::vector<int> sizes{1, 100, 1213, 9704};
  std::vector<std::string> passed_on;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i], value = argv[i + 1];
    if (flag == "--budget") {
      arguments.budget_ms = std::stod(value);
    } else if (flag == "--solves") {
      arguments.solves = std::stoi(value);
    } else if (flag == "--sizes") {
      arguments.sizes.clear();
      std::stringstream list(value);
      for (std::string size; std::getline(list, size, ',');) arguments.sizes.push_back(std::stoi(size));
    } else {
      arguments.passed_on.insert(arguments.passed_on.end(), {flag, value});
    }
  }
  arguments.passed_on.insert(arguments.passed_on.end(), {"--budget", fmt::format("{}ms", arguments.budget_ms)});
  return arguments;
}

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

int measure(int nodes, const Arguments& arguments) {
  std::vector<std::string> lines;
  for (int k = 0; k < kDistinct; ++k) lines.push_back(instance(nodes, static_cast<std::uint64_t>(k + 1)));
  std::vector<double> seen, told;
  std::map<std::string, int> faults;
  SolveProcess process(MUSTER_BINARY, arguments.passed_on);
  process.ask(lines[0]);  // the first line pays for starting
  for (int n = 0; n < arguments.solves; ++n) {
    const std::string& line = lines[static_cast<std::size_t>(n % kDistinct)];
    const auto start = std::chrono::steady_clock::now();
    const std::string answer = process.ask(line);
    seen.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    told.push_back(number_after(answer, "elapsedMs"));
    if (const std::string fault = fault_of(line, answer); !fault.empty()) ++faults[fault];
  }
  const double worst = *std::max_element(told.begin(), told.end());
  fmt::print("| {:>5} | {:>7.1f} | {:>7.1f} | {:>7.1f} | {:>7.1f} | {:>7.1f} | {:>7.1f} | {:>7.1f} | {:>6} |\n", nodes,
             percentile(told, 0.5), percentile(told, 0.99), worst, std::max(0.0, worst - arguments.budget_ms),
             percentile(seen, 0.5), percentile(seen, 0.99), percentile(seen, 1), faults.size());
  std::fflush(stdout);
  for (const auto& [fault, count] : faults) std::cerr << count << " x " << fault << "\n";
  return faults.empty() ? 0 : 1;
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  const auto arguments = muster::bench::parse(argc, argv);
  fmt::print(
      "budget {} ms, {} solves each; ms from the line to its plan, as the program tells it and as its pipe sees it\n",
      arguments.budget_ms, arguments.solves);
  fmt::print("| nodes |     p50 |     p99 |   worst | overrun |pipe p50 |pipe p99 | worst   | faults |\n");
  fmt::print("|-------|---------|---------|---------|---------|---------|---------|---------|--------|\n");
  int faults = 0;
  for (const int nodes : arguments.sizes) faults += muster::bench::measure(nodes, arguments);
  return faults;
}
