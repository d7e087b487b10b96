// Clusters where a fifth of what waits fits by evictions only: how far each plan is proven, how much it moves, and
// whether a longer budget ever gives a worse plan. The referee checks every plan before it counts, and the values that
// it claims are recomputed.
//
// Usage: bench_contended [--nodes N,N] [--seeds S,S] [--budgets MS,MS] [--without-moves yes] [--times N] [--threads N]
//   --mixes yes: of each size and seed, the five kinds of clusters of kMixes in place of the plain one
//   or --snapshots PATH,PATH in place of nodes and seeds: files of one line
// Every cluster is solved with every budget, `--times` times. "worse": the first level in which a plan is worse, by
// more than 0.1 %, than one of a shorter budget of the same cluster. Exit status 1 where a plan was refused.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/judge.h"
#include "bench/support/machine.h"
#include "bench/support/mixes.h"
#include "bench/support/program.h"
#include "test/support/paths.h"

namespace muster::bench::contended_bench {
namespace {

constexpr double kAsGood = 1e-3;  // of a level, relative

using Claim = muster_v1::ReadPlan::LevelClaim;

struct Arguments {
  std::vector<std::string> nodes{"20", "50"}, seeds{"1", "2", "3"}, snapshots, budgets{"1000"};
  bool without_moves = false, mixes = false;
  int times = 1;
  std::string threads = "2";
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--nodes", [&](const std::string& value) { arguments.nodes = split(value); }},
                  {"--seeds", [&](const std::string& value) { arguments.seeds = split(value); }},
                  {"--snapshots", [&](const std::string& value) { arguments.snapshots = split(value); }},
                  {"--budgets", [&](const std::string& value) { arguments.budgets = split(value); }},
                  {"--without-moves", [&](const std::string& value) { arguments.without_moves = value == "yes"; }},
                  {"--mixes", [&](const std::string& value) { arguments.mixes = value == "yes"; }},
                  {"--times", [&](const std::string& value) { arguments.times = std::stoi(value); }},
                  {"--threads", [&](const std::string& value) { arguments.threads = value; }},
              });
  return arguments;
}

struct Instance {
  std::string name, line;
};

std::vector<Instance> instances(const Arguments& arguments) {
  std::vector<Instance> all;
  for (const std::string& path : arguments.snapshots) {
    std::ifstream file(path);
    all.push_back({path, {std::istreambuf_iterator<char>(file), {}}});
  }
  if (!all.empty()) return all;
  for (const std::string& nodes : arguments.nodes)
    for (const std::string& seed : arguments.seeds) {
      const std::string command =
          fmt::format("'{}' generate --preset contended --nodes {} --seed {}", test::program(), nodes, seed);
      if (!arguments.mixes) all.push_back({fmt::format("{}-{}", nodes, seed), printed_by(command)});
      if (arguments.mixes)
        for (const auto& [name, options] : kMixes)
          all.push_back(
              {fmt::format("{} {}-{}", name, nodes, seed), printed_by(fmt::format("{} {}", command, options))});
    }
  if (!arguments.without_moves) return all;
  for (Instance& one : all) forbid_moves(one.line);
  return all;
}

double value_of(const Claim& level) { return std::stod(level.value); }

// The distance to the bound in percent of it; none: no bound.
std::optional<double> short_by(const Claim& level) {
  if (!level.bound) return std::nullopt;
  const double bound = std::stod(*level.bound);
  return 100 * std::abs(bound - value_of(level)) / std::max(1.0, std::abs(bound));
}

std::string percent(const std::optional<double>& number) { return number ? fmt::format("{:.3f}", *number) : "none"; }

// The largest of the share levels; none: one has no bound.
std::optional<double> shares_short(const std::vector<Claim>& levels) {
  double most = 0;
  for (const Claim& level : levels) {
    if (level.level != "share") continue;
    const std::optional<double> gap = short_by(level);
    if (!gap) return std::nullopt;
    most = std::max(most, *gap);
  }
  return most;
}

const Claim* find(const std::vector<Claim>& levels, const std::string& name) {
  const auto found = std::ranges::find(levels, name, &Claim::level);
  return found == levels.end() ? nullptr : &*found;
}

// The first level in which `now` is worse than `before`; empty: none, or it is better in one before that.
std::string worse_in(const std::vector<LevelId>& ids, const std::vector<Claim>& now, const std::vector<Claim>& before) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double gain = (is_maximised(ids[i].kind) ? 1 : -1) * (value_of(now[i]) - value_of(before[i]));
    if (gain < -kAsGood * std::max(1.0, std::abs(value_of(before[i])))) return name_of(now[i]);
    if (gain != 0) return {};
  }
  return {};
}

struct Tally {
  int plans = 0, proven = 0, worse = 0, refused = 0;
  // Parts of the budgets that were left when the plan came, and some level was not proven.
  std::vector<double> unused;

  double unused_on_average() const {
    return unused.empty() ? 0 : std::accumulate(unused.begin(), unused.end(), 0.0) / static_cast<double>(unused.size());
  }
  double most_unused() const { return unused.empty() ? 0 : std::ranges::max(unused); }
};

// The plan's levels; none if it was refused. `shorter`: those of plans with a shorter budget.
std::optional<std::vector<Claim>> solve(const Instance& instance, const Judge& judge, const std::string& budget,
                                        const Arguments& arguments, const std::vector<std::vector<Claim>>& shorter,
                                        Tally& tally) {
  try {
    const Answered answered =
        answer_of({"--budget", budget + "ms", "--threads", arguments.threads, "--quiet"}, instance.line);
    const muster_v1::ReadPlan plan = judge.passed(answered.line);
    const std::vector<Claim>& levels = plan.objective;
    const std::string open = proven_gap(plan).level;
    const bool is_proven = open.empty() || !(open.starts_with("share") || open.starts_with("quota") ||
                                             open.starts_with("work") || open.starts_with("evicted"));
    const Claim *evicted = find(levels, "evicted"), *moved = find(levels, "moved");
    std::string worse;
    const std::vector<LevelId> ids = level_ids(judge.problem);
    for (const std::vector<Claim>& before : shorter)
      if (worse.empty()) worse = worse_in(ids, levels, before);
    fmt::print("| {} | {} | {:.0f} | {} | {} | {} | {} | {:.2f} | {} |\n", instance.name, budget, answered.told_ms,
               open.empty() ? "all" : open, percent(shares_short(levels)),
               evicted == nullptr ? "-" : percent(short_by(*evicted)), moved == nullptr ? "-" : moved->value,
               100 * judge.allocated(plan.plan), worse.empty() ? "no" : worse);
    std::fflush(stdout);
    ++tally.plans;
    tally.proven += is_proven ? 1 : 0;
    tally.worse += worse.empty() ? 0 : 1;
    if (!open.empty()) tally.unused.push_back(std::max(0.0, 1 - answered.told_ms / std::stod(budget)));
    return levels;
  } catch (const std::exception& fault) {
    fmt::print("| {} | {} | FAULT: {} |\n", instance.name, budget, fault.what());
    ++tally.refused;
    return std::nullopt;
  }
}

int run(const Arguments& arguments) {
  fmt::print(
      "| cluster | budget ms | plan ms | first level not proven | shares short % | evicted above bound % | moved | GPUs"
      " in use % | worse |\n|---|---|---|---|---|---|---|---|---|\n");
  Tally tally;
  for (const Instance& instance : instances(arguments)) {
    const Judge judge(instance.line);
    std::vector<std::vector<Claim>> shorter;
    for (const std::string& budget : arguments.budgets) {
      std::vector<std::vector<Claim>> of_this;
      for (int i = 0; i < arguments.times; ++i) {
        if (auto levels = solve(instance, judge, budget, arguments, shorter, tally))
          of_this.push_back(*std::move(levels));
      }
      std::ranges::move(of_this, std::back_inserter(shorter));
    }
  }
  fmt::print(
      "\n{} plans; every level down to `evicted` proven in {}; worse than a shorter budget's in {}; refused {}\n"
      "budget left where some level is open: {:.1f} % on average, {:.1f} % at most\n",
      tally.plans, tally.proven, tally.worse, tally.refused, 100 * tally.unused_on_average(),
      100 * tally.most_unused());
  return tally.refused == 0 ? 0 : 1;
}

const Program kProgram("contended", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::contended_bench
