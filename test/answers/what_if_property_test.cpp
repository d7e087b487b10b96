// A what-if is what `muster solve` says of the edited snapshot, written out and read again.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/muster_v1/plan_line.h"
#include "io/snapshot_writer/write_snapshot.h"
#include "model/build/build_problem.h"
#include "model/change/change.h"
#include "model/change/gangs.h"
#include "solver/answers/experiment.h"
#include "test/scenarios/case_file.h"
#include "test/solver/random_cluster.h"
#include "test/support/case.h"
#include "test/support/paths.h"

namespace muster::answers {
namespace {

std::string name_of_gang(const SnapshotPod& pod) { return std::string(pod.gang.empty() ? pod.name : pod.gang); }

// Changes of every kind that applies to the snapshot, by its first and last nodes and gangs.
std::vector<change::Change> changes_for(const Snapshot& snapshot) {
  std::vector<change::Change> changes;
  if (!snapshot.nodes.empty()) {
    const std::string first(snapshot.nodes.front().name), last(snapshot.nodes.back().name);
    changes.insert(changes.end(), {change::AddNodes{first, 2}, change::Cordon{first}, change::Uncordon{first + "+1"}});
    if (first != last) changes.push_back(change::Drain{last});
  }
  if (!snapshot.queues.empty()) {
    changes.push_back(change::SetQueue{std::string(snapshot.queues.back().name), change::QueueResourceKind::kGpu,
                                       change::QueueAmountKind::kLimit, 3'000'000});
  }
  if (!snapshot.pods.empty()) {
    const std::string first = name_of_gang(snapshot.pods[0]), last = name_of_gang(snapshot.pods.back());
    changes.push_back(change::SetPriority{first, 77});
    changes.push_back(change::Tolerate{first, {"some-taint", "", TaintEffect::kNoSchedule}, true, true});
    if (first != last) changes.push_back(change::RemoveGang{last});
  }
  change::AddGang added;
  added.gang = "what-if";
  if (!snapshot.queues.empty()) added.queue = snapshot.queues.front().name;
  added.shape.pods = 2;
  added.shape.pod.gpu = {GpuRequestKind::kWhole, 1, 1'000'000};
  changes.push_back(added);
  return changes;
}

// What is decided, what becomes of each gang, and the levels; but not fragmentation, which counts with weights that are
// rounded in the order of the classes.
std::string plan_of(const Run& run) {
  const portfolio::Solution& solution = run.solution;
  std::string text;
  muster_v1::write_decisions({run.problem, solution.plan, solution.report, {}, false, 1, nullptr}, text);
  for (const explain::GangReport& gang : solution.report.gangs) {
    text += " " + std::string(run.problem.gangs[gang.gang].name) + ":" + std::string(explain::phase_name(gang.phase)) +
            "/" + explain::reason_text(gang.reason) + "/" + gang.message;
  }
  for (const explain::LevelReport& level : solution.report.objective) {
    if (level.id.kind != LevelKind::kFragmentation)
      text += " " + std::string(level_name(level.id.kind)) + "=" + std::to_string(level.value);
  }
  return text;
}

portfolio::SolveOptions greedy() {
  portfolio::SolveOptions options;
  options.engine = portfolio::Engine::kGreedy;
  options.deterministic = true;
  return options;
}

// The plan of a snapshot with changes; none if they do not apply, or the snapshot is refused.
std::optional<std::string> plan_with(const Snapshot& snapshot, const std::vector<change::Change>& changes) {
  portfolio::Portfolio portfolio(test::program());
  Experiment experiment(snapshot, portfolio, {.solve = greedy()});
  const auto run = experiment.solve(changes);
  if (!run) return std::nullopt;
  EXPECT_TRUE((*run)->solution.defects.empty());
  return plan_of(**run);
}

// Whether it could be compared.
bool compare(const Snapshot& snapshot) {
  const std::vector<change::Change> changes = changes_for(snapshot);
  const std::optional<std::string> direct = plan_with(snapshot, changes);
  if (!direct) return false;
  Snapshot edited(snapshot);
  EXPECT_FALSE(change::apply(changes, edited));
  std::string line;
  snapshot_writer::write_snapshot(edited, line);
  const Snapshot again = test::Case::read(line, test::Oddities::kSettled);
  const std::optional<std::string> by_way_of_text = plan_with(again, {});
  EXPECT_TRUE(direct == by_way_of_text) << *direct << "\n" << by_way_of_text.value_or("none") << "\n" << line;
  return true;
}

TEST(WhatIfIsASolve, OfTheEditedSnapshotInEveryScenario) {
  int compared = 0;
  for (const auto& file : std::filesystem::directory_iterator(test::source_folder() + "/test/scenarios")) {
    if (file.path().extension() != ".jsonl" || file.path().stem() == "kubernetes") continue;
    for (const scenarios::Scenario& scenario : scenarios::read_scenarios(file.path())) {
      if (!scenario.errors.empty()) continue;  // what a snapshot contradicts is no part of what is written
      SCOPED_TRACE(scenario.name);
      compared += compare(test::Case::read(scenario.line, test::Oddities::kSettled)) ? 1 : 0;
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(compared, 300);
}

TEST(WhatIfIsASolve, OfTheEditedSnapshotInRandomClusters) {
  int compared = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::string line;
    snapshot_writer::write_snapshot(test::any_cluster(seed).snapshot(), line);
    compared += compare(test::Case::read(line, test::Oddities::kSettled)) ? 1 : 0;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, 250);
}

}  // namespace
}  // namespace muster::answers
