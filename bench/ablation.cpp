// What each stage of a cycle is worth: twenty-three kinds of instances are solved with all stages, then with one of
// them left out, and the plans are compared in the first level in which they differ, and by how many levels are proven.
//
// Usage: bench_ablation [--stages NAME,NAME] [--instances NAME,NAME] [--seeds S,S] [--budget MS] [--threads N]
//                      [--deterministic yes]
// Stages: of SolveOptions::left_out. "none": all stages again, which is what chance is worth. For each stage, over the
// instances whose plans first differ in a level down to `moved`, and over those that differ later: how many, and the
// mean and the worst change in percent of the level; negative: worse without the stage. Then levels, from the first on,
// that are proven, with the stage and without it. The referee checks every plan. A stage stays if leaving it out loses
// more than "none" does. Run it on an idle machine: budgets are of the clock. With `--deterministic yes` they are
// counted work (solver/budget/deadline.h) in place of `--budget`, so that the table is the same on any machine, busy or
// idle; "none" then has another random seed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/judge.h"
#include "bench/support/machine.h"
#include "bench/support/mixes.h"
#include "bench/support/program.h"
#include "model/objective/levels.h"
#include "solver/portfolio/portfolio.h"
#include "test/support/paths.h"

namespace muster::bench::ablation_bench {
namespace {

const std::vector<std::string> kStages{"none",      "choice", "earlier", "slots", "list", "whole",
                                       "aggregate", "grids",  "blocks",  "back",  "fill", "reprieve",
                                       "still",     "milp",   "gather",  "search"};

struct Arguments {
  std::vector<std::string> stages = kStages;
  std::vector<std::string> instances, seeds{"1", "2", "3"};  // empty: all
  int budget_ms = 2000, threads = 2;
  bool deterministic = false;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--stages", [&](const std::string& value) { arguments.stages = split(value); }},
                  {"--instances", [&](const std::string& value) { arguments.instances = split(value); }},
                  {"--seeds", [&](const std::string& value) { arguments.seeds = split(value); }},
                  {"--budget", [&](const std::string& value) { arguments.budget_ms = std::stoi(value); }},
                  {"--threads", [&](const std::string& value) { arguments.threads = std::stoi(value); }},
                  {"--deterministic", [&](const std::string& value) { arguments.deterministic = value == "yes"; }},
              });
  for (const std::string& stage : arguments.stages)
    if (std::ranges::find(kStages, stage) == kStages.end()) throw std::runtime_error("no stage is called " + stage);
  return arguments;
}

struct Kind {
  std::string name, command;  // of `muster`; the seed goes behind it
  bool without_moves = false;
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const char* nodes : {"6", "20", "50", "200"})
    all.push_back({fmt::format("contended {}", nodes), fmt::format("generate --preset contended --nodes {}", nodes)});
  for (const char* nodes : {"50", "200"})
    all.push_back(
        {fmt::format("no moves {}", nodes), fmt::format("generate --preset contended --nodes {}", nodes), true});
  for (const auto& [name, options] : kMixes)
    all.push_back({name, fmt::format("generate --preset contended --nodes 100 {}", options)});
  all.push_back({"full 8", "generate --preset full --nodes 8"});
  all.push_back({"full", "generate --preset full --nodes 60"});
  all.push_back({"synth 6", "generate --preset synth --nodes 6"});
  all.push_back({"synth 40", "generate --preset synth --nodes 40 --load 1.2"});
  all.push_back({"synth", "generate --preset synth --nodes 300 --load 1.2"});
  all.push_back({"half", "import openb --gangs 64 --falling-sizes --occupy 0.5 --load 1.5 --place-only"});
  all.push_back({"empty", "import openb --gangs 64 --falling-sizes --load 1.5 --place-only"});
  all.push_back({"crowded", "import openb --gangs 8 --falling-sizes --occupy 0.9 --load 1.1 --place-only"});
  all.push_back({"evicting", "import openb --gangs 16 --occupy 0.7 --load 1.3"});
  // With room to spare: the levels after `work` decide, whole nodes first.
  all.push_back({"spare 40", "generate --preset synth --nodes 40 --load 0.6"});
  all.push_back({"spare", "generate --preset synth --nodes 300 --load 0.7"});
  all.push_back({"spare half", "import openb --gangs 64 --falling-sizes --occupy 0.5 --load 0.5 --place-only"});
  return all;
}

struct Solved {
  Levels levels;
  int proven = 0;  // levels, from the first on
};

// Throws if the plan breaks a rule.
Solved solved_without(const std::string& stage, const Judge& judge, const Arguments& arguments,
                      std::uint64_t seed = 1) {
  portfolio::Portfolio portfolio{test::program()};
  portfolio::SolveOptions options;
  options.threads = arguments.threads;
  options.seed = seed;
  options.deterministic = arguments.deterministic;
  if (stage != "none") options.left_out.insert(stage);
  if (!arguments.deterministic)
    options.deadline = portfolio::Clock::now() + std::chrono::milliseconds(arguments.budget_ms);
  const portfolio::Solution solution = portfolio.solve(judge.snapshot, judge.problem, options);
  const auto violations = referee::check_plan(judge.snapshot, judge.problem, judge.shares, solution.plan);
  if (!violations.empty()) throw std::runtime_error(violations[0].subject + ": " + violations[0].message);
  Solved solved{evaluate(judge.problem, judge.shares, solution.plan)};
  for (const explain::LevelReport& level : solution.report.objective) {
    if (level.bound != level.value) break;
    ++solved.proven;
  }
  return solved;
}

struct Change {
  std::int64_t level = 0;
  double percent = 0;  // of the value with all stages; negative: worse without the stage
};

std::optional<Change> change_of(const Levels& with, const Levels& without, const std::vector<LevelId>& ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (with.values[i] == without.values[i]) continue;
    const auto difference = static_cast<double>(without.values[i] - with.values[i]);
    const double scale = std::max(1.0, std::abs(static_cast<double>(with.values[i])));
    return Change{static_cast<std::int64_t>(i), (is_maximised(ids[i].kind) ? 100 : -100) * difference / scale};
  }
  return std::nullopt;
}

// Of one stage.
struct Tally {
  struct Of {
    int instances = 0;
    double sum = 0, worst = 0;
    void add(double percent) {
      ++instances;
      sum += percent;
      worst = std::min(worst, percent);
    }
  };
  int instances = 0, proven_with = 0, proven_without = 0;
  Of early, late;  // levels down to `moved`, and those after it
};

void print(const std::string& stage, const Tally& tally) {
  const auto of = [](const Tally::Of& part) {
    return fmt::format("{} | {:+.3f} | {:+.3f}", part.instances, part.instances > 0 ? part.sum / part.instances : 0,
                       part.worst);
  };
  fmt::print("| {} | {} | {} | {} | {} | {} |\n", stage, tally.instances, of(tally.early), of(tally.late),
             tally.proven_with, tally.proven_without);
}

int run(const Arguments& arguments) {
  std::vector<Tally> tallies(arguments.stages.size());
  int faults = 0;
  for (const Kind& kind : kinds()) {
    if (!arguments.instances.empty() && std::ranges::find(arguments.instances, kind.name) == arguments.instances.end())
      continue;
    for (const std::string& seed : arguments.seeds) {
      std::string line = printed_by("'" + test::program() + "' " + kind.command + " --seed " + seed);
      if (kind.without_moves) forbid_moves(line);
      const Judge judge(line);
      const std::vector<LevelId> ids = level_ids(judge.problem);
      try {
        const Solved all = solved_without("none", judge, arguments);
        for (std::size_t s = 0; s < tallies.size(); ++s) {
          const bool is_again = arguments.deterministic && arguments.stages[s] == "none";
          const Solved rest = solved_without(arguments.stages[s], judge, arguments, is_again ? 2 : 1);
          const std::optional<Change> change = change_of(all.levels, rest.levels, ids);
          ++tallies[s].instances;
          tallies[s].proven_with += all.proven;
          tallies[s].proven_without += rest.proven;
          if (!change) continue;
          const LevelId& level = ids[static_cast<std::size_t>(change->level)];
          (level.kind <= LevelKind::kMoved ? tallies[s].early : tallies[s].late).add(change->percent);
          fmt::print(stderr, "{} {} without {}: {} {:+.3f} %\n", kind.name, seed, arguments.stages[s],
                     level_name(level.kind), change->percent);
        }
      } catch (const std::exception& fault) {
        fmt::print("FAULT {} {}: {}\n", kind.name, seed, fault.what());
        ++faults;
      }
    }
  }
  fmt::print(
      "| without | plans | differ down to `moved` | mean % | worst % | differ later | mean % | worst % | proven with | "
      "without |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (std::size_t s = 0; s < tallies.size(); ++s) print(arguments.stages[s], tallies[s]);
  return faults == 0 ? 0 : 1;
}

const Program kProgram("ablation", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::ablation_bench
