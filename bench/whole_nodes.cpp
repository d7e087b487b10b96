// The number of whole nodes that plans leave, compared with best fit: clusters of 60 nodes of 8 GPUs with 30 to 50 pods
// of 1 to 4 GPUs, each engine in each budget. Fails if a plan leaves fewer than best fit, or is worse in the levels up
// to `wholeNodes` than that of a shorter budget (fewer whole nodes with the same pods placed).
//
// Usage: bench_whole_nodes [--clusters N] [--engines NAME,NAME] [--budgets MS,MS] [--threads N] [--without STAGE]
// Greedy is solved in the shortest budget only: it stops by itself.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/judge.h"
#include "bench/support/program.h"
#include "bench/support/whole_nodes_cases.h"
#include "solver/portfolio/portfolio.h"
#include "test/support/paths.h"

namespace muster::bench::whole_nodes_bench {
namespace {

struct Arguments {
  std::uint64_t clusters = 200;
  std::vector<std::string> engines{"greedy", "milp", "auto"}, budgets{"300", "1000", "3000"};
  std::string without;  // a stage of SolveOptions::left_out
  int threads = 2;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--clusters", [&](const std::string& value) { arguments.clusters = std::stoull(value); }},
                  {"--engines", [&](const std::string& value) { arguments.engines = split(value); }},
                  {"--budgets", [&](const std::string& value) { arguments.budgets = split(value); }},
                  {"--without", [&](const std::string& value) { arguments.without = value; }},
                  {"--threads", [&](const std::string& value) { arguments.threads = std::stoi(value); }},
              });
  return arguments;
}

portfolio::Engine engine_of(const std::string& name) {
  if (name == "greedy") return portfolio::Engine::kGreedy;
  if (name == "milp") return portfolio::Engine::kMilp;
  if (name == "auto") return portfolio::Engine::kAuto;
  throw std::runtime_error("unknown engine: " + name);
}

struct Tally {
  std::int64_t solved = 0, whole = 0, whole_by_best_fit = 0, fewer = 0, worse_than_shorter = 0, proven = 0;
};

// Values of the levels up to `wholeNodes`, more of each is better.
std::vector<std::int64_t> leading(const portfolio::Solution& solution) {
  std::vector<std::int64_t> values;
  for (const explain::LevelReport& level : solution.report.objective) {
    if (level.id.kind <= LevelKind::kWholeNodes)
      values.push_back(is_maximised(level.id.kind) ? level.value : -level.value);
  }
  return values;
}

int run(const Arguments& arguments) {
  portfolio::Portfolio portfolio(test::program());
  std::int64_t faults = 0;
  fmt::print("{:8} {:>6} {:>8} {:>8} {:>9} {:>6} {:>6} {:>7}\n", "engine", "ms", "clusters", "whole", "best fit",
             "fewer", "worse", "proven");
  for (const std::string& name : arguments.engines) {
    std::vector<std::vector<std::int64_t>> before(arguments.clusters);
    for (const std::string& budget : arguments.budgets) {
      Tally tally;
      for (std::uint64_t seed = 1; seed <= arguments.clusters; ++seed) {
        const WholeNodeCluster cluster(seed);
        const Judge judge(cluster.line);
        portfolio::SolveOptions options;
        options.engine = engine_of(name);
        options.threads = arguments.threads;
        if (!arguments.without.empty()) options.left_out.insert(arguments.without);
        options.deadline = portfolio::Clock::now() + std::chrono::milliseconds(std::stoi(budget));
        const portfolio::Solution solution = portfolio.solve(judge.snapshot, judge.problem, options);
        if (!referee::check_plan(judge.snapshot, judge.problem, judge.shares, solution.plan).empty()) ++faults;
        const std::vector<std::int64_t> values = leading(solution);
        const std::int64_t whole = values.back(), by_best_fit = cluster.whole_after_best_fit();
        ++tally.solved;
        tally.whole += whole;
        tally.whole_by_best_fit += by_best_fit;
        tally.fewer += whole < by_best_fit ? 1 : 0;
        tally.worse_than_shorter += values < before[seed - 1] ? 1 : 0;
        tally.proven += solution.proof == Proof::kOptimal ? 1 : 0;
        before[seed - 1] = values;
      }
      faults += tally.fewer + tally.worse_than_shorter;
      fmt::print("{:8} {:>6} {:>8} {:>8} {:>9} {:>6} {:>6} {:>7}\n", name, budget, tally.solved, tally.whole,
                 tally.whole_by_best_fit, tally.fewer, tally.worse_than_shorter, tally.proven);
      if (name == "greedy") break;
    }
  }
  return faults == 0 ? 0 : 1;
}

const Program kProgram("whole_nodes", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::whole_nodes_bench
