// Whether `what-if` shows what a change causes, or chance: two changes that cannot hurt any gang. "uncordon": a node in
// the middle of the list is cordoned first. "same": nothing is changed at all.
//
// Usage: bench_what_if [--nodes N,N] [--kinds NAME,NAME] [--seeds S,S] [--budget MS] [--threads N] [--apart yes]
// --apart: both plans are made apart, each with a new solver. For each kind of cluster and change: gangs that lose and
// that get their room, gangs whose pods are elsewhere or leave in one plan only, as a sum over the clusters; clusters
// with a loser; those in which the second plan is worse in a level down to `moved`, with more room; and the mean time
// of an answer. The referee checks every plan.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/judge.h"
#include "bench/support/mixes.h"
#include "bench/support/program.h"
#include "solver/answers/plan_mix.h"
#include "solver/answers/plan_pair.h"
#include "test/support/paths.h"

namespace muster::bench::what_if_bench {
namespace {

struct Kind {
  std::string name, options;
  bool without_moves = false;
};

std::vector<Kind> kinds() {
  std::vector<Kind> all{{"contended", "", false}, {"no moves", "", true}};
  for (const auto& [name, options] : kMixes) all.push_back({name, options, false});
  return all;
}

struct Arguments {
  std::vector<std::string> nodes{"40", "100", "200", "400"}, kinds, seeds{"1", "2", "3", "4"};  // kinds empty: all
  int budget_ms = 1000, threads = 2;
  bool apart = false;
};

struct Tally {
  int clusters = 0, losers = 0, winners = 0, differ = 0, with_losers = 0, worse = 0;
  double seconds = 0;
};

void check(const answers::Run& run) {
  const FairShares shares = compute_fair_shares(run.problem);
  const auto violations = referee::check_plan(*run.snapshot, run.problem, shares, run.solution.plan);
  if (!violations.empty()) throw std::runtime_error(violations[0].subject + ": " + violations[0].message);
}

std::set<std::string> admitted_by(const answers::Run& run) {
  std::set<std::string> names;
  for (const GangIndex gang : run.problem.gangs.indices())
    if (run.admits(gang)) names.emplace(run.problem.gangs[gang].name);
  return names;
}

void compare_sides(const answers::Run& before, const answers::Run& after, Tally& tally) {
  check(before);
  check(after);
  const std::set<std::string> first = admitted_by(before), second = admitted_by(after);
  const auto missing = [](const std::set<std::string>& from, const std::set<std::string>& in) {
    return static_cast<int>(std::ranges::count_if(from, [&](const std::string& name) { return !in.contains(name); }));
  };
  const int losers = missing(first, second);
  ++tally.clusters;
  tally.losers += losers;
  tally.winners += missing(second, first);
  tally.with_losers += losers > 0 ? 1 : 0;
  const FairShares shares = compute_fair_shares(after.problem);
  const Plan kept = answers::translated(before.problem, before.solution.plan, after.problem);
  tally.differ += static_cast<int>(answers::PlanMix(after.problem, shares, kept, after.solution.plan).all().size());
  const auto& a = before.solution.report.objective;
  const auto& b = after.solution.report.objective;
  for (std::size_t i = 0; i < a.size() && a[i].id.kind <= LevelKind::kMoved; ++i) {
    if (a[i].value == b[i].value) continue;
    tally.worse += (b[i].value < a[i].value) == is_maximised(a[i].id.kind) ? 1 : 0;
    break;
  }
}

void ask(const Snapshot& original, const Snapshot& changed, const Arguments& arguments, Tally& tally) {
  answers::ExperimentOptions options;
  options.solve.threads = arguments.threads;
  options.budget = std::chrono::milliseconds(arguments.budget_ms);
  const auto begin = std::chrono::steady_clock::now();
  answers::PlanPair pair;
  portfolio::Portfolio portfolio{test::program()}, other{test::program()};
  const auto value_of = [](auto result) {
    if (!result) throw std::runtime_error(result.error().message);
    return *std::move(result);
  };
  if (arguments.apart) {
    pair.before = value_of(answers::solve_side(original, portfolio, options));
    pair.after = value_of(answers::solve_side(changed, other, options));
  } else {
    pair = value_of(answers::solve_pair(original, changed, true, portfolio, options));
  }
  tally.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  compare_sides(*pair.before.run, *pair.after.run, tally);
}

int run(const Arguments& arguments) {
  int faults = 0;
  fmt::print(
      "| kind | change | clusters | with losers | losers | winners | gangs that differ | worse | s |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const Kind& kind : kinds()) {
    if (!arguments.kinds.empty() && std::ranges::find(arguments.kinds, kind.name) == arguments.kinds.end()) continue;
    Tally uncordon, same;
    for (const std::string& nodes : arguments.nodes)
      for (const std::string& seed : arguments.seeds) {
        std::string line = printed_by(fmt::format("'{}' generate --preset contended --nodes {} --seed {} {}",
                                                  test::program(), nodes, seed, kind.options));
        if (kind.without_moves) forbid_moves(line);
        try {
          const auto snapshot = muster_v1::SnapshotReader().read(line);
          if (!snapshot) throw std::runtime_error(snapshot.error().message);
          Snapshot cordoned(*snapshot);
          SnapshotNode& node = cordoned.nodes[cordoned.nodes.size() / 2];
          const std::string name(node.name);
          if (change::apply(change::Cordon{name}, cordoned)) throw std::runtime_error("no cordon");
          ask(cordoned, *snapshot, arguments, uncordon);
          ask(cordoned, cordoned, arguments, same);
        } catch (const std::exception& fault) {
          fmt::print("FAULT {} {} nodes, seed {}: {}\n", kind.name, nodes, seed, fault.what());
          ++faults;
        }
      }
    const std::vector<std::pair<const char*, const Tally*>> rows{{"uncordon", &uncordon}, {"same", &same}};
    for (const auto& [change, tally] : rows)
      fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {:.2f} |\n", kind.name, change, tally->clusters,
                 tally->with_losers, tally->losers, tally->winners, tally->differ, tally->worse,
                 tally->seconds / std::max(1, tally->clusters));
    std::fflush(stdout);
  }
  return faults == 0 ? 0 : 1;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--nodes", [&](const std::string& value) { arguments.nodes = split(value); }},
                  {"--kinds", [&](const std::string& value) { arguments.kinds = split(value); }},
                  {"--seeds", [&](const std::string& value) { arguments.seeds = split(value); }},
                  {"--budget", [&](const std::string& value) { arguments.budget_ms = std::stoi(value); }},
                  {"--threads", [&](const std::string& value) { arguments.threads = std::stoi(value); }},
                  {"--apart", [&](const std::string& value) { arguments.apart = value == "yes"; }},
              });
  return arguments;
}

const Program kProgram("what_if", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::what_if_bench
