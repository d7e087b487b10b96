// What the choice of gangs (solver/choice/choice.h) proves of a snapshot, level by level, and how long it takes.
//
// Usage: bench_choice [--budget MS] [--threads N] [--snapshot FILE]; else the snapshot is read from stdin. One line a
// level: its value, its bound, and what sums alone say of it.
#include "solver/choice/choice.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/judge.h"
#include "bench/support/program.h"
#include "heuristics/greedy/greedy.h"
#include "model/objective/level_bounds.h"
#include "solver/engine/preparation.h"
#include "test/support/paths.h"

namespace muster::bench::choice_bench {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

int run(int argc, char** argv) {
  std::string snapshot;
  std::int64_t budget_ms = 10'000;
  int threads = 2;
  parse_flags(argc, argv,
              {{"--budget", [&](const std::string& value) { budget_ms = std::stoll(value); }},
               {"--threads", [&](const std::string& value) { threads = std::stoi(value); }},
               {"--snapshot", [&](const std::string& value) { snapshot = value; }}});
  std::ifstream file(snapshot);
  const std::string line{std::istreambuf_iterator<char>(snapshot.empty() ? std::cin : file), {}};
  const Judge judge(line);
  const Deadline deadline(Clock::now() + std::chrono::milliseconds(budget_ms), false);
  const engine::MilpPreparation prepared(judge.problem, judge.shares, deadline);
  const auto& whole = prepared.whole;
  cbc::Backend backend{test::program()};
  backend.prepare();
  const Clock::time_point start = Clock::now();
  choice::ChoiceModel model({judge.problem, judge.shares, prepared.rules, whole.demand, whole.zones,
                             whole.anti_affinity, whole.before, whole.base},
                            threads);
  if (!model.formulate(deadline)) {
    fmt::print("no choice: the model took too long, or pods exceed what a node reports\n");
    return 1;
  }
  fmt::print("{} columns, {} rows, {:.1f} ms\n", model.formulation().model().columns(),
             model.formulation().model().rows(), ms_since(start));
  const std::vector<std::int64_t> trivial = trivial_bounds(judge.problem, judge.shares);
  const Candidate greedy = greedy::solve_greedy(judge.problem, judge.shares, {});
  const Clock::time_point begun = Clock::now();
  const Deadline end(begun + std::chrono::milliseconds(budget_ms), false);
  const choice::Choice choice = model.choose(trivial, {greedy.plan}, end, backend);
  const std::vector<LevelId> ids = level_ids(judge.problem);
  for (std::size_t i = 0; i < choice.levels.size(); ++i) {
    const choice::ChosenLevel& level = choice.levels[i];
    fmt::print("{:10} greedy {:>16} choice {:>16} [{:>16}] sums {:>16}{}\n",
               fmt::format("{}:{}", level_name(ids[i].kind), ids[i].priority), greedy.levels.values[i], level.value,
               level.bound ? std::to_string(*level.bound) : "none", trivial[i],
               level.bound == level.value ? "" : " open");
  }
  for (const choice::Incumbent::Improvement& better : choice.improvements)
    fmt::print("{:8.1f} ms {}:{} {}\n", better.milliseconds, level_name(ids[better.level].kind),
               ids[better.level].priority, better.value);
  for (const std::string& defect : choice.defects) fmt::print("defect: {}\n", defect);
  fmt::print("{:.1f} ms\n", ms_since(begun));
  return choice.solution ? 0 : 1;
}

const Program kProgram("choice", run);

}  // namespace
}  // namespace muster::bench::choice_bench
