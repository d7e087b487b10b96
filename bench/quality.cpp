// The quality of plans: six kinds of instances of 1,000 to 10,000 nodes, each in two or three budgets, through the
// program's own pipe; the gap that each plan proves, compared with the target. The referee checks every plan before it
// counts, and the values that it claims are recomputed.
//
// Usage: bench_quality [--instances NAME,NAME] [--budgets MS,MS] [--seeds S,S] [--threads N] [--engine NAME]
//        [--json FILE] [--traces DIR] [--list yes]
// `--budgets` leaves out the other budgets of an instance. `--json` appends one object a run, `--traces` keeps the
// trace of each (docs/cli.md). `--list` prints the commands that make the instances, and solves nothing.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/judge.h"
#include "bench/support/machine.h"
#include "bench/support/program.h"
#include "bench/support/quality_cases.h"
#include "test/support/paths.h"

namespace muster::bench::quality_bench {
namespace {

constexpr double kEvictedWithin = 0.1;  // of its bound: the target for plans with evictions

struct Arguments {
  std::vector<std::string> instances, budgets, seeds{"1", "2", "3"};  // empty: all
  std::string threads = "2", engine = "auto", json, traces;
  bool lists = false;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--instances", [&](const std::string& value) { arguments.instances = split(value); }},
                  {"--budgets", [&](const std::string& value) { arguments.budgets = split(value); }},
                  {"--seeds", [&](const std::string& value) { arguments.seeds = split(value); }},
                  {"--threads", [&](const std::string& value) { arguments.threads = value; }},
                  {"--engine", [&](const std::string& value) { arguments.engine = value; }},
                  {"--json", [&](const std::string& value) { arguments.json = value; }},
                  {"--traces", [&](const std::string& value) { arguments.traces = value; }},
                  {"--list", [&](const std::string& value) { arguments.lists = value == "yes"; }},
              });
  return arguments;
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

struct Run {
  QualityCase quality_case;
  QualityGoal goal;
  std::string seed;
  std::string fault;  // the rest is empty if there is one
  ProvenGap gap;
  double allocated = 0, told_ms = 0, load = 0;
  std::int64_t evicted = 0;              // pods, not placed again
  std::optional<double> evicted_excess;  // of the work evicted over its bound, as a share of it; none: no bound
  std::string origin, proof;
  std::vector<muster_v1::ReadPlan::LevelClaim> levels;
};

void count_evicted(const muster_v1::ReadPlan& plan, Run& run) {
  run.evicted = std::ranges::count_if(plan.plan.evictions,
                                      [&](const Eviction& eviction) { return !is_placed(plan.plan, eviction.pod); });
  for (const muster_v1::ReadPlan::LevelClaim& level : plan.objective) {
    if (level.level != "evicted" || !level.bound) continue;
    const double bound = std::stod(*level.bound);
    run.evicted_excess = (std::stod(level.value) - bound) / std::max(1.0, bound);
  }
}

void solve(const std::string& line, const Judge& judge, const Arguments& arguments, Run& run) {
  std::vector<std::string> words{
      "--budget", fmt::format("{}ms", run.goal.budget_ms), "--threads", arguments.threads, "--engine", arguments.engine,
      "--quiet"};
  if (!arguments.traces.empty())
    words.insert(words.end(), {"--trace", fmt::format("{}/{}-{}-{}.jsonl", arguments.traces, run.quality_case.name,
                                                      run.seed, run.goal.budget_ms)});
  try {
    const Answered answered = answer_of(words, line);
    const muster_v1::ReadPlan plan = judge.passed(answered.line);
    run.gap = proven_gap(plan);
    run.allocated = judge.allocated(plan.plan);
    run.told_ms = answered.told_ms;
    run.load = load_average();
    run.origin = origin_name(plan.solver.origin);
    run.proof = proof_name(plan.solver.proof);
    run.levels = plan.objective;
    count_evicted(plan, run);
  } catch (const std::exception& fault) {
    run.fault = fault.what();
  }
}

bool is_met(const Run& run) {
  const bool is_near = run.fault.empty() && run.gap.share && *run.gap.share * 100 <= run.goal.gap_percent;
  return is_near && (run.evicted == 0 || (run.evicted_excess && *run.evicted_excess <= kEvictedWithin));
}

std::string percent(const std::optional<double>& share) { return share ? fmt::format("{:.3f}", *share * 100) : "none"; }

std::string evictions_of(const Run& run) {
  if (run.evicted == 0) return "0";
  return fmt::format("{} ({})", run.evicted,
                     run.evicted_excess ? "+" + percent(run.evicted_excess) + " %" : "no bound");
}

std::string to_prototype(const Run& run) {
  if (!run.goal.prototype_percent || !run.gap.share) return "";
  return fmt::format("{:.2f}", *run.gap.share * 100 / *run.goal.prototype_percent);
}

void print(const Run& run) {
  fmt::print("| {} | {} | {} | ", run.quality_case.name, run.goal.budget_ms, run.seed);
  if (!run.fault.empty()) {
    fmt::print("FAULT: {} |\n", run.fault);
  } else {
    fmt::print("{} | {} | {} | {} | {} | {:.2f} | {:.0f} | {} | {} | {} |\n", percent(run.gap.share),
               run.gap.level.empty() ? "-" : run.gap.level, run.goal.gap_percent, is_met(run) ? "yes" : "no",
               to_prototype(run), run.allocated * 100, run.told_ms, evictions_of(run), run.origin, run.proof);
  }
  std::fflush(stdout);
}

std::string text_or_null(const std::optional<double>& number) { return number ? fmt::format("{}", *number) : "null"; }

void append_json(const Run& run, const Arguments& arguments) {
  if (arguments.json.empty() || !run.fault.empty()) return;
  std::string levels;
  for (const muster_v1::ReadPlan::LevelClaim& level : run.levels)
    levels += fmt::format(R"({}{{"level":"{}","value":{},"bound":{}}})", levels.empty() ? "" : ",", name_of(level),
                          level.value, level.bound.value_or("null"));
  std::ofstream out(arguments.json, std::ios::app);
  out << fmt::format(
             R"({{"instance":"{}","seed":{},"budgetMs":{},"threads":{},"gap":{},"level":"{}","goal":{},"met":{},)"
             R"("prototypeGap":{},"allocated":{},"elapsedMs":{},"load":{},"evicted":{},"evictedExcess":{},)"
             R"("origin":"{}","proof":"{}","levels":[{}]}})",
             run.quality_case.name, run.seed, run.goal.budget_ms, arguments.threads, text_or_null(run.gap.share),
             run.gap.level, run.goal.gap_percent / 100, is_met(run),
             run.goal.prototype_percent ? fmt::format("{}", *run.goal.prototype_percent / 100) : "null", run.allocated,
             run.told_ms, run.load, run.evicted, text_or_null(run.evicted_excess), run.origin, run.proof, levels)
      << "\n";
}

// One text for each run, with slashes between them; a single one if all are the same.
template <class Text>
std::string by_seed(const std::vector<Run>& runs, const Text& text) {
  std::vector<std::string> texts;
  for (const Run& run : runs) texts.push_back(run.fault.empty() ? text(run) : "fault");
  if (std::ranges::count(texts, texts.front()) == static_cast<std::ptrdiff_t>(texts.size())) return texts.front();
  return fmt::format("{}", fmt::join(texts, " / "));
}

// The seeds of one instance and budget in one row.
void print_summary(const std::vector<Run>& runs) {
  const QualityGoal& goal = runs.front().goal;
  double sum = 0;
  for (const Run& run : runs) sum += run.gap.share.value_or(std::numeric_limits<double>::infinity());
  std::string ratio;
  if (goal.prototype_percent && std::isfinite(sum))
    ratio = fmt::format("{:.2f}", sum * 100 / static_cast<double>(runs.size()) / *goal.prototype_percent);
  fmt::print(
      "| `{}` | {} ms | {} | {} | {} | {} of {} | {} | {} | {} | {} | {} | {} |\n", runs.front().quality_case.name,
      goal.budget_ms, by_seed(runs, [](const Run& run) { return percent(run.gap.share); }),
      by_seed(runs, [](const Run& run) { return run.gap.level.empty() ? "-" : run.gap.level; }), goal.gap_percent,
      std::ranges::count_if(runs, is_met), runs.size(),
      goal.prototype_percent ? fmt::format("{}", *goal.prototype_percent) : "", ratio,
      by_seed(runs, [](const Run& run) { return fmt::format("{:.1f}", run.allocated * 100); }),
      by_seed(runs, [](const Run& run) { return fmt::format("{:.0f}", run.told_ms); }), by_seed(runs, evictions_of),
      by_seed(runs, [](const Run& run) { return fmt::format("{:.1f}", run.load); }));
}

void print_summaries(const std::vector<Run>& runs) {
  fmt::print(
      "\nby seed\n| instance | budget | proven gap | of level | wanted | met | prototype | mean / prototype | GPUs in "
      "use | plan ms | evicted | load |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  std::map<std::pair<std::ptrdiff_t, double>, std::vector<Run>> grouped;  // by position of the case, and budget
  for (const Run& run : runs) {
    const auto at = std::ranges::find(quality_cases(), run.quality_case.name, &QualityCase::name);
    grouped[{at - quality_cases().begin(), run.goal.budget_ms}].push_back(run);
  }
  for (const auto& [key, of_one] : grouped) print_summary(of_one);
}

int list(const Arguments& arguments) {
  for (const QualityCase& quality_case : quality_cases())
    for (const std::string& seed : arguments.seeds)
      if (is_among(arguments.instances, quality_case.name))
        fmt::print("muster {} --seed {} > {}-{}.jsonl\n", quality_case.command, seed, quality_case.name, seed);
  return 0;
}

int run(const Arguments& arguments) {
  for (const std::string& name : arguments.instances)
    if (std::ranges::find(quality_cases(), name, &QualityCase::name) == quality_cases().end())
      throw std::runtime_error("no instance is named " + name);
  if (arguments.lists) return list(arguments);
  fmt::print(
      "gaps and GPUs in percent\n| instance | budget ms | seed | proven gap | of level | wanted | met | / prototype | "
      "GPUs in use | plan ms "
      "| evicted (over its bound) | origin | proof |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  std::vector<Run> runs;
  for (const QualityCase& quality_case : quality_cases()) {
    if (!is_among(arguments.instances, quality_case.name)) continue;
    for (const std::string& seed : arguments.seeds) {
      const std::string line = printed_by("'" + test::program() + "' " + quality_case.command + " --seed " + seed);
      const Judge judge(line);
      for (const QualityGoal& goal : quality_case.goals) {
        if (!is_among(arguments.budgets, fmt::format("{}", goal.budget_ms))) continue;
        Run run{quality_case, goal, seed, {}, {}, 0, 0, 0, 0, {}, {}, {}, {}};
        solve(line, judge, arguments, run);
        print(run);
        append_json(run, arguments);
        runs.push_back(std::move(run));
      }
    }
  }
  print_summaries(runs);
  return std::ranges::all_of(runs, [](const Run& run) { return run.fault.empty(); }) ? 0 : 1;
}

const Program kProgram("quality", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::quality_bench
