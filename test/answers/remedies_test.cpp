#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/muster_v1/snapshot_reader.h"
#include "io/snapshot_writer/write_snapshot.h"
#include "model/build/build_problem.h"
#include "solver/answers/remedies/find.h"
#include "test/brute_force/brute_force.h"
#include "test/brute_force/campaign.h"
#include "test/brute_force/instances/policy_instance.h"
#include "test/brute_force/instances/tiny_instance.h"
#include "test/brute_force/policy_search.h"
#include "test/support/case.h"
#include "test/support/cluster.h"

namespace muster::answers {
namespace {

constexpr std::int64_t kMostTests = 2000, kMostStates = 300'000;
// For random clusters, some of which take seconds to solve.
constexpr std::int64_t kMostTestsOfRandom = 60;

ExperimentOptions deterministic() {
  ExperimentOptions options;
  options.solve.deterministic = true;
  return options;
}

// A cluster, the plan for it, and experiments with it.
struct Bench {
  explicit Bench(const std::string& line, test::Oddities oddities = test::Oddities::kErrors)
      : snapshot(test::Case::read(line, oddities)),
        portfolio(MUSTER_BINARY),
        experiment(snapshot, portfolio, deterministic()) {
    auto run = experiment.solve({});
    if (!run) throw std::runtime_error(run.error().message);
    base = std::move(*run);
  }
  RemedyAnswer remedies(std::string_view gang) {
    return find_remedies(experiment, *base, *base->find_gang(gang), kMostTests);
  }

  Snapshot snapshot;
  portfolio::Portfolio portfolio;
  Experiment experiment;
  std::unique_ptr<Run> base;
};

const Remedy* of_kind(const RemedyAnswer& answer, RemedyKind kind) {
  const auto found = std::ranges::find(answer.remedies, kind, &Remedy::kind);
  return found == answer.remedies.end() ? nullptr : &*found;
}

std::string text(const Remedy& remedy) {
  std::string text;
  for (const change::Change& change : remedy.changes) text += (text.empty() ? "" : " ") + change::text_of(change);
  return text;
}

std::string text(const RemedyAnswer& answer, RemedyKind kind) {
  const Remedy* remedy = of_kind(answer, kind);
  return remedy ? text(*remedy) + (remedy->is_smallest ? "" : " (perhaps less)") : "none";
}

TEST(Remedies, CountTheNodesThatAreMissing) {
  test::Cluster cluster;
  cluster.node("n1", 4).gang("g", R"("minMember":3)").pods("g", 3, 4, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kAddNodes), "--add-nodes 2xn1");
}

TEST(Remedies, RaiseTheLimitOfAnyResourceByWhatIsMissing) {
  test::Cluster cluster;
  cluster.node("n1", 8).queue("top", R"("resources":{"pods":{"limit":3}})");
  cluster.queue("q", R"("parent":"top","gpu":{"limit":8},"resources":{"pods":{"limit":9}})");
  cluster.running("r", "n1", 1, R"("queue":"q","preemptible":false)");
  cluster.gang("g", R"("queue":"q","minMember":4)").pods("g", 4, 1, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kRaiseLimit), "--set-limit top=pods:5");
}

TEST(Remedies, CountTheNodesThatAGangAheadTakesFirst) {
  test::Cluster cluster;
  cluster.node("n1", 4).running("r", "n1", 4, R"("priority":200)");
  cluster.gang("first", R"("minMember":2,"priority":90)").pods("first", 2, 4, R"("gang":"first")");
  cluster.gang("g", R"("minMember":1)").pods("g", 1, 4, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("first"), RemedyKind::kAddNodes), "--add-nodes 2xn1");
  // One node is enough: the first gang needs two.
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kAddNodes), "--add-nodes 1xn1");
}

TEST(Remedies, NameTheGangThatRunsAndTheSmallestOne) {
  test::Cluster cluster;
  cluster.node("n1", 4).node("n2", 4);
  cluster.running("a", "n1", 4, R"("priority":200)");
  cluster.running("b", "n2", 2, R"("priority":200)").running("c", "n2", 2, R"("priority":200)");
  cluster.pod("g", 4);
  const RemedyAnswer answer = Bench(cluster.line()).remedies("g");
  EXPECT_EQ(text(answer, RemedyKind::kStopGangs), "--remove-gang a");
  EXPECT_EQ(text(answer, RemedyKind::kAddNodes), "--add-nodes 1xn1");
}

TEST(Remedies, AreNotSearchedOnceTheTimeIsUp) {
  test::Cluster cluster;
  cluster.node("n1", 4).running("a", "n1", 4, R"("priority":200)").pod("g", 4);
  Bench bench(cluster.line());
  ExperimentOptions options;
  options.end = portfolio::Clock::now();
  Experiment late(bench.snapshot, bench.portfolio, options);
  const RemedyAnswer answer = find_remedies(late, *bench.base, *bench.base->find_gang("g"), kMostTests);
  EXPECT_EQ(answer.tests, 0);
  EXPECT_TRUE(answer.remedies.empty());
  EXPECT_TRUE(std::ranges::find(answer.unfinished, RemedyKind::kAddNodes) != answer.unfinished.end());
  EXPECT_TRUE(std::ranges::find(answer.unfinished, RemedyKind::kStopGangs) != answer.unfinished.end());
}

TEST(Remedies, OpenCordonedNodesAndTolerateTaints) {
  test::Cluster cluster;
  cluster.node("n1", 2).node("n2", 4, R"("unschedulable":true)").node("n3", 8, R"("unschedulable":true)");
  cluster.node("n4", 4, R"("taints":[{"key":"team","value":"x","effect":"NoSchedule"}])");
  cluster.pod("g", 4);
  const RemedyAnswer answer = Bench(cluster.line()).remedies("g");
  EXPECT_EQ(of_kind(answer, RemedyKind::kUncordon)->size, 1);
  EXPECT_EQ(text(answer, RemedyKind::kTolerate), "--tolerate g=team=x");
  EXPECT_EQ(answer.remedies.front().size, 1);
}

TEST(Remedies, LowerTheMinimumNoMoreThanNeeded) {
  test::Cluster cluster;
  cluster.node("n1", 6).node("n2", 2).node("n3", 2).node("n4", 2);
  cluster.gang("g", R"("minMember":3)").pods("g", 3, 4, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kLowerMinimum), "--set-minimum g=1");
}

TEST(Remedies, LowerAMinimumToThePodsThatExist) {
  test::Cluster cluster;
  cluster.node("n1", 8).gang("g", R"("minMember":6)").pods("g", 3, 1, R"("gang":"g")");
  const RemedyAnswer answer = Bench(cluster.line()).remedies("g");
  EXPECT_EQ(text(answer, RemedyKind::kLowerMinimum), "--set-minimum g=3");
  EXPECT_EQ(answer.remedies.size(), 1U) << "no room helps";
}

TEST(Remedies, DoNotLowerTheMinimumOfAGangWithoutRoomForThePodsThatExist) {
  test::Cluster cluster;
  cluster.node("n1", 2).running("r", "n1", 2, R"("priority":200)");
  cluster.gang("g", R"("minMember":6)").pods("g", 3, 1, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kLowerMinimum), "none");
}

TEST(Remedies, LowerTheMinimumOfEachSubgroupThatLacksPods) {
  test::Cluster cluster;
  cluster.node("n1", 8).gang(
      "g", R"("subgroups":[{"name":"a","minMember":2},{"name":"b","minMember":1},{"name":"c","minMember":2}])");
  cluster.pod("a-0", 1, R"("gang":"g","subgroup":"a")").pod("b-0", 1, R"("gang":"g","subgroup":"b")");
  const RemedyAnswer answer = Bench(cluster.line()).remedies("g");
  EXPECT_EQ(text(answer, RemedyKind::kLowerMinimum), "--set-minimum g/a=1 --set-minimum g/c=0");
}

TEST(Remedies, RaiseALimitByWhatIsMissing) {
  test::Cluster cluster;
  cluster.node("n1", 8).queue("q", R"("gpu":{"quota":2,"limit":3})");
  cluster.gang("g", R"("minMember":1,"queue":"q")").pods("g", 1, 5, R"("gang":"g")");
  const RemedyAnswer answer = Bench(cluster.line()).remedies("g");
  EXPECT_EQ(text(answer, RemedyKind::kRaiseLimit), "--set-limit q=gpu:5");
  EXPECT_EQ(of_kind(answer, RemedyKind::kAddNodes), nullptr);
}

TEST(Remedies, RelaxTheLevelToTheFinestThatSuffices) {
  test::Cluster cluster;
  cluster.with(R"("topology":["zone","rack","host"])");
  for (const char* name : {"1", "2", "3", "4"}) {
    const std::string rack = std::string(name) < "3" ? "a" : "b";
    cluster.node("n" + std::string(name), 2,
                 R"("labels":{"zone":"z","rack":")" + rack + R"(","host":")" + name + R"("})");
  }
  cluster.gang("g", R"("minMember":2,"topology":{"required":"host"})").pods("g", 2, 2, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kRelaxLevel), "--set-level g=rack");
}

TEST(Remedies, RelaxTheLevelWithinItsOwnTopology) {
  test::Cluster cluster;
  cluster.with(R"("topologies":[{"name":"power","levels":["rack"]},{"name":"net","levels":["zone","host"]}])");
  for (const char* name : {"1", "2"}) {
    const std::string labels =
        R"("labels":{"zone":"z","rack":")" + std::string(name) + R"(","host":")" + name + R"("})";
    cluster.node("n" + std::string(name), 2, labels);
  }
  cluster.gang("g", R"("minMember":2,"topology":{"required":"host"})").pods("g", 2, 2, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kRelaxLevel), "--set-level g=zone");
}

TEST(Remedies, SayThatNothingHelps) {
  test::Cluster cluster;
  cluster.node("n1", 4).queue("q").gang("g", R"("minMember":1,"queue":"gone")").pods("g", 1, 1, R"("gang":"g")");
  const RemedyAnswer answer = Bench(cluster.line()).remedies("g");
  EXPECT_TRUE(answer.remedies.empty());
  EXPECT_EQ(answer.without.size(), kRemedyKinds.size());
  EXPECT_EQ(answer.tests, 0);
}

TEST(Remedies, StopWhenTheTestsAreUsedUp) {
  test::Cluster cluster;
  cluster.node("n1", 4).gang("g", R"("minMember":3)").pods("g", 3, 4, R"("gang":"g")");
  Bench bench(cluster.line());
  const RemedyAnswer answer = find_remedies(bench.experiment, *bench.base, *bench.base->find_gang("g"), 1);
  EXPECT_LE(answer.remedies.size(), 1U);
  EXPECT_FALSE(answer.unfinished.empty());
}

// --- random clusters ---

std::vector<GangIndex> waiting_gangs(const Run& run) {
  std::vector<GangIndex> gangs;
  for (const explain::GangReport& report : run.solution.report.gangs) {
    if (!run.admits(report.gang)) gangs.push_back(report.gang);
  }
  return gangs;
}

// The next plan of the changed cluster, by way of its text.
struct NextPlan {
  NextPlan(const Snapshot& original, const std::vector<change::Change>& changes, portfolio::Portfolio& portfolio) {
    Snapshot changed(original);
    const auto failure = change::apply(changes, changed);
    if (failure) throw std::runtime_error(failure->message);
    std::string line;
    snapshot_writer::write_snapshot(changed, line);
    snapshot = test::Case::read(line, test::Oddities::kSettled);
    auto built = build_problem(snapshot);
    if (!built) throw std::runtime_error(built.error().message);
    problem = std::move(*built);
    portfolio::SolveOptions options;
    options.deterministic = true;
    solution = portfolio.solve(snapshot, problem, options);
  }
  bool admits(std::string_view gang) const {
    for (const GangIndex index : problem.gangs.indices()) {
      if (problem.gangs[index].name != gang) continue;
      const auto& gangs = solution.report.gangs;
      const auto report = std::ranges::find(gangs, index, &explain::GangReport::gang);
      return report == gangs.end() || report->phase == explain::GangPhase::kRunning ||
             report->phase == explain::GangPhase::kScheduled || report->phase == explain::GangPhase::kWaiting;
    }
    throw std::runtime_error("the gang is gone");
  }
  // Whether brute force finds no better plan, down to the level `moved`; true if it gives up.
  bool is_best() const {
    const FairShares shares = compute_fair_shares(problem);
    const auto best = brute_force::solve_with_evictions(problem, shares, kMostStates);
    if (!best) return true;
    for (std::size_t i = 0; i < solution.report.objective.size(); ++i) {
      const LevelReport& level = solution.report.objective[i];
      if (level.value != best->levels.values[i]) return false;
      if (level.id.kind == LevelKind::kMoved) break;
    }
    return true;
  }
  using LevelReport = explain::LevelReport;

  Snapshot snapshot;
  Problem problem;
  portfolio::Solution solution;
};

std::int64_t running_pods(const Snapshot& snapshot, std::string_view gang) {
  return std::ranges::count_if(snapshot.pods, [&](const SnapshotPod& pod) {
    return pod.status == PodStatus::kRunning && (pod.gang.empty() ? pod.name : pod.gang) == gang;
  });
}

// All smaller changes of the same kind as this remedy.
std::vector<std::vector<change::Change>> smaller(const Remedy& remedy, const Run& base, GangIndex gang) {
  std::vector<std::vector<change::Change>> all;
  const change::Change& first = remedy.changes.front();
  if (const auto* added = std::get_if<change::AddNodes>(&first)) {
    for (std::int64_t count = 1; count < added->count; ++count) all.push_back({change::AddNodes{added->like, count}});
  }
  if (const auto* minimum = std::get_if<change::SetMinimum>(&first)) {
    const std::int32_t whole = base.problem.groups[base.problem.gangs[gang].root].minimum;
    for (std::int32_t more = minimum->minimum + 1; more < whole; ++more)
      all.push_back({change::SetMinimum{minimum->gang, more}});
  }
  if (const auto* priority = std::get_if<change::SetPriority>(&first)) {
    std::set<std::int32_t> steps;
    for (const Gang& other : base.problem.gangs) steps.insert({other.priority, other.priority + 1});
    for (const std::int32_t step : steps) {
      if (step > base.problem.gangs[gang].priority && step < priority->priority)
        all.push_back({change::SetPriority{priority->gang, step}});
    }
  }
  if (std::holds_alternative<change::Uncordon>(first)) {
    for (const SnapshotNode& node : base.snapshot->nodes) {
      if (node.unschedulable && remedy.size > 1) all.push_back({change::Uncordon{std::string(node.name)}});
    }
  }
  if (std::holds_alternative<change::RemoveGang>(first)) {
    std::vector<std::string> gangs;
    for (const Gang& other : base.problem.gangs) {
      if (other.name != base.problem.gangs[gang].name && running_pods(*base.snapshot, other.name) > 0)
        gangs.emplace_back(other.name);
    }
    for (std::size_t set = 1; set < std::size_t{1} << gangs.size(); ++set) {
      std::vector<change::Change> stopped;
      std::int64_t pods = 0;
      for (std::size_t i = 0; i < gangs.size(); ++i) {
        if (((set >> i) & 1U) == 0) continue;
        stopped.emplace_back(change::RemoveGang{gangs[i]});
        pods += running_pods(*base.snapshot, gangs[i]);
      }
      if (pods < remedy.size) all.push_back(std::move(stopped));
    }
  }
  if (const auto* queue = std::get_if<change::SetQueue>(&first); queue && remedy.changes.size() == 1) {
    change::SetQueue less = *queue;
    // Whole GPUs unless some pod asks for a part of one; cores; GiB.
    const bool has_parts = std::ranges::any_of(base.snapshot->pod_specs, [](const PodSpec& spec) {
      return spec.gpu.kind == GpuRequestKind::kFraction || spec.gpu.kind == GpuRequestKind::kMemory;
    });
    less.amount -= queue->resource == change::QueueResourceKind::kMemory ? Amount{1} << 30
                   : queue->resource == change::QueueResourceKind::kCpu  ? 1'000
                   : has_parts                                           ? 10'000
                                                                         : 1'000'000;
    all.push_back({less});
  }
  return all;
}

struct Tally {
  int gangs = 0, remedies = 0, smaller = 0, unclaimed = 0;
};

void check_instance(std::uint64_t seed, const std::string& line, Tally& tally) {
  Bench bench(line, test::Oddities::kSettled);
  for (const GangIndex gang : waiting_gangs(*bench.base)) {
    ++tally.gangs;
    const std::string name(bench.base->problem.gangs[gang].name);
    const RemedyAnswer answer = find_remedies(bench.experiment, *bench.base, gang, kMostTestsOfRandom);
    for (const Remedy& remedy : answer.remedies) {
      ++tally.remedies;
      const std::string what = "seed " + std::to_string(seed) + ", gang " + name + ", " + text(remedy);
      ASSERT_FALSE(remedy.changes.empty()) << what;
      const NextPlan next(bench.snapshot, remedy.changes, bench.portfolio);
      EXPECT_TRUE(next.admits(name)) << what;
      if (!remedy.is_smallest) ++tally.unclaimed;
      if (!remedy.is_smallest) continue;
      for (const auto& changes : smaller(remedy, *bench.base, gang)) {
        ++tally.smaller;
        const NextPlan less(bench.snapshot, changes, bench.portfolio);
        EXPECT_FALSE(less.admits(name)) << what << ": so does " << change::text_of(changes.front());
        EXPECT_TRUE(less.is_best()) << what << ": not proven without";
      }
    }
  }
}

// MUSTER_INSTANCES=2000 for all of them.
TEST(RemediesOfRandomClusters, AdmitTheGangAndNoSmallerOneDoes) {
  Tally tally;
  const std::uint64_t first = brute_force::setting("MUSTER_SEED", 1);
  for (std::uint64_t seed = first; seed < first + brute_force::setting("MUSTER_INSTANCES", 4); ++seed) {
    check_instance(seed, brute_force::policy_instance(seed), tally);
    if (testing::Test::HasFatalFailure()) return;
  }
  std::printf("gangs %d, remedies %d, smaller changes %d, remedies not said to be the smallest %d\n", tally.gangs,
              tally.remedies, tally.smaller, tally.unclaimed);
  EXPECT_GT(tally.remedies, tally.gangs);
}

}  // namespace
}  // namespace muster::answers
