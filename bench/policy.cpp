// Four situations of policy at scale (datasets/generator/situations.h) through the program's own pipe: time to the
// plan, its evictions, moves and admissions, and what is proven of it. The referee checks every plan before it counts.
//
// Usage: bench_policy [--budget MS] [--repetitions N] [--engines auto,greedy] [--situations NAME,NAME]
//        [--nodes N] [--seed S] [--threads N] [--json FILE]
// `--nodes` sizes every situation alike; without it each has its own size. `--json` appends one object a row.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/child.h"
#include "bench/support/program.h"
#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "io/muster_v1/plan_line.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/objective/fair_share.h"
#include "model/problem/next_snapshot.h"
#include "model/referee/referee.h"
#include "test/support/paths.h"

namespace muster::bench::policy_bench {
namespace {

struct Arguments {
  double budget_ms = 1000;
  int repetitions = 3;
  std::vector<std::string> engines{"auto", "greedy"};
  std::vector<std::string> situations{"reclaim-gang", "reclaim-singles", "consolidate", "unplaceable"};
  std::optional<int> nodes;
  std::uint64_t seed = 1;
  std::string threads, json;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(
      argc, argv,
      {
          {"--budget", [&](const std::string& value) { arguments.budget_ms = std::stod(value); }},
          {"--repetitions", [&](const std::string& value) { arguments.repetitions = std::max(1, std::stoi(value)); }},
          {"--engines", [&](const std::string& value) { arguments.engines = split(value); }},
          {"--situations", [&](const std::string& value) { arguments.situations = split(value); }},
          {"--nodes", [&](const std::string& value) { arguments.nodes = std::stoi(value); }},
          {"--seed", [&](const std::string& value) { arguments.seed = std::stoull(value); }},
          {"--threads", [&](const std::string& value) { arguments.threads = value; }},
          {"--json", [&](const std::string& value) { arguments.json = value; }},
      });
  return arguments;
}

std::string line_of(const std::string& situation, const Arguments& arguments) {
  std::optional<generator::GeneratorOptions> options = generator::generator_preset(situation);
  if (!options) throw std::runtime_error("no situation is named " + situation);
  if (arguments.nodes) options->cluster.nodes = *arguments.nodes;
  options->seed = arguments.seed;
  if (const auto fault = generator::generator_fault(*options))
    throw std::runtime_error(fault->path + " " + fault->message);
  return generator::generate_snapshot(*options);
}

// A snapshot line with what is needed to judge its plans.
struct Judge {
  explicit Judge(const std::string& line) {
    Result<Snapshot> read = muster_v1::SnapshotReader().read(line);
    if (!read) throw std::runtime_error(read.error().message);
    snapshot = std::move(*read);
    Result<Problem> built = build_problem(snapshot);
    if (!built) throw std::runtime_error(built.error().message);
    problem = std::move(*built);
    shares = compute_fair_shares(problem);
  }
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  // Throws what the referee, or the reader, has against the plan.
  muster_v1::ReadPlan passed(const std::string& plan_line) const {
    Result<muster_v1::ReadPlan> plan = muster_v1::read_plan(plan_line, &problem);
    if (!plan) throw std::runtime_error(plan.error().message);
    if (plan->is_error) throw std::runtime_error(plan->error.message);
    const auto violations = referee::check_plan(snapshot, problem, shares, plan->plan);
    if (!violations.empty()) throw std::runtime_error(violations[0].subject + ": " + violations[0].message);
    return std::move(*plan);
  }

  Snapshot snapshot;
  Problem problem;
  FairShares shares;
};

struct Row {
  std::string situation, engine;
  std::size_t nodes = 0, pods = 0;
  std::vector<double> told_ms, seen_ms;  // by repetition
  // Of the last repetition.
  std::int64_t evicted = 0, moved = 0, placed = 0, admitted = 0;
  std::string origin, proof;
  double gap = 0;
  std::vector<muster_v1::ReadPlan::LevelClaim> levels;
  std::map<std::string, int> faults;
};

double told_ms(const std::string& line) {
  const std::string key = "\"elapsedMs\":";
  const std::size_t at = line.rfind(key);
  return at == std::string::npos ? -1 : std::stod(line.substr(at + key.size()));
}

void count(const muster_v1::ReadPlan& plan, Row& row) {
  row.moved = std::ranges::count_if(plan.plan.evictions,
                                    [&](const Eviction& eviction) { return is_placed(plan.plan, eviction.pod); });
  row.evicted = static_cast<std::int64_t>(plan.plan.evictions.size()) - row.moved;
  row.placed = static_cast<std::int64_t>(plan.plan.placements.size()) - row.moved;
  row.admitted = std::ranges::count_if(plan.gangs, [](const auto& gang) {
    return gang.phase == explain::GangPhase::kScheduled || gang.phase == explain::GangPhase::kWaiting;
  });
  row.origin = origin_name(plan.solver.origin);
  row.proof = proof_name(plan.solver.proof);
  row.gap = plan.solver.gap;
  row.levels = plan.objective;
}

Row measure(const std::string& situation, const std::string& engine, const Arguments& arguments) {
  const std::string line = line_of(situation, arguments);
  const Judge judge(line);
  Row row{situation, engine, judge.problem.nodes.size(), judge.problem.pods.size(), {}, {}, 0, 0, 0, 0, {}, {}, 0,
          {},        {}};
  std::vector<std::string> words{"--engine", engine, "--budget", fmt::format("{}ms", arguments.budget_ms), "--quiet"};
  if (!arguments.threads.empty()) words.insert(words.end(), {"--threads", arguments.threads});
  SolveProcess process(test::program(), words);
  process.ask(R"({"format":"muster/v1"})");  // the first line pays for starting
  for (int n = 0; n < arguments.repetitions; ++n) {
    const auto start = std::chrono::steady_clock::now();
    const std::string answer = process.ask(line);
    const auto end = std::chrono::steady_clock::now();
    try {
      count(judge.passed(answer), row);
    } catch (const std::runtime_error& fault) {
      ++row.faults[fault.what()];
      continue;
    }
    row.seen_ms.push_back(std::chrono::duration<double, std::milli>(end - start).count());
    row.told_ms.push_back(told_ms(answer));
  }
  return row;
}

double median(std::vector<double> values) {
  if (values.empty()) return -1;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::string name_of(const muster_v1::ReadPlan::LevelClaim& level) {
  return level.priority ? fmt::format("{}:{}", level.level, *level.priority) : level.level;
}

// Of the first levels, "value" if it is proven, else "value/bound", with a question mark for no bound.
std::string bounds_of(const Row& row) {
  constexpr std::size_t kLevelsTold = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kLevelsTold, row.levels.size()); ++i) {
    const muster_v1::ReadPlan::LevelClaim& level = row.levels[i];
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", name_of(level), level.value);
    if (level.bound != level.value) text += "/" + level.bound.value_or("?");
  }
  return text;
}

void print(const Row& row) {
  fmt::print(
      "| {:<15} | {:<6} | {:>5} | {:>5} | {:>9.1f} | {:>9.1f} | {:>7} | {:>5} | {:>6} | {:>8} | {:<9} | {:>8.5f} | {} "
      "|\n",
      row.situation, row.engine, row.nodes, row.pods, median(row.told_ms), median(row.seen_ms), row.evicted, row.moved,
      row.placed, row.admitted, row.proof, row.gap, bounds_of(row));
  std::fflush(stdout);
  for (const auto& [fault, times] : row.faults) std::cerr << times << " x " << fault << "\n";
}

void append_json(const Row& row, const Arguments& arguments) {
  if (arguments.json.empty()) return;
  std::string levels;
  for (const muster_v1::ReadPlan::LevelClaim& level : row.levels) {
    levels += fmt::format(R"({}{{"level":"{}","value":{},"bound":{}}})", levels.empty() ? "" : ",", name_of(level),
                          level.value, level.bound.value_or("null"));
  }
  std::ofstream out(arguments.json, std::ios::app);
  out << fmt::format(R"({{"situation":"{}","engine":"{}","nodes":{},"pods":{},"seed":{},"budgetMs":{},)"
                     R"("elapsedMs":[{}],"pipeMs":[{}],"evicted":{},"moved":{},"placed":{},"admitted":{},)"
                     R"("origin":"{}","proof":"{}","gap":{},"faults":{},"levels":[{}]}})",
                     row.situation, row.engine, row.nodes, row.pods, arguments.seed, arguments.budget_ms,
                     fmt::join(row.told_ms, ","), fmt::join(row.seen_ms, ","), row.evicted, row.moved, row.placed,
                     row.admitted, row.origin, row.proof, row.gap, row.faults.size(), levels)
      << "\n";
}

int run(const Arguments& arguments) {
  fmt::print(
      "budget {} ms, seed {}, median of {}; ms from the line to its plan, as the program tells it and as its pipe "
      "sees it\n",
      arguments.budget_ms, arguments.seed, arguments.repetitions);
  fmt::print(
      "| situation       | engine | nodes | pods  | plan ms   | pipe ms   | evicted | moved | placed | admitted "
      "| proof     | gap      | first levels: value/bound |\n");
  fmt::print(
      "|-----------------|--------|-------|-------|-----------|-----------|---------|-------|--------|----------"
      "|-----------|----------|---------------------------|\n");
  bool has_faults = false;
  for (const std::string& situation : arguments.situations) {
    for (const std::string& engine : arguments.engines) {
      const Row row = measure(situation, engine, arguments);
      print(row);
      append_json(row, arguments);
      has_faults = has_faults || !row.faults.empty();
    }
  }
  return has_faults ? 1 : 0;
}

const Program kProgram("policy", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::policy_bench
