// Remedies of random clusters, applied as a user would apply them: each starts its gang, and no smaller one does where
// it is said to be the smallest.
//
//     MUSTER_INSTANCES=2000 MUSTER_BUDGET_MS=1000 build/release/test/test_answers --gtest_filter='RandomRemedies.*'
//
// is the campaign: remedies as `muster why` finds them within that budget, each tried again by a plan with three times
// the budget. Without a budget counted work ends each plan. MUSTER_SEED sets the first seed; what fails goes to the
// file MUSTER_FAILURES, one snapshot a line.
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/snapshot_writer/write_snapshot.h"
#include "model/base/tuning.h"
#include "model/build/build_problem.h"
#include "model/objective/evaluation.h"
#include "solver/remedies/remedy_search.h"
#include "test/brute_force/campaign.h"
#include "test/brute_force/instances/policy_instance.h"
#include "test/brute_force/instances/tiny_instance.h"
#include "test/properties/crowded.h"
#include "test/solver/random_cluster.h"
#include "test/support/case.h"
#include "test/support/paths.h"

namespace muster::answers {
namespace {

constexpr std::int64_t kMostTests = 60;  // some clusters take seconds to solve

// None: counted work.
std::chrono::milliseconds budget() { return std::chrono::milliseconds(brute_force::setting("MUSTER_BUDGET_MS", 0)); }

// One of four kinds; without a budget one of three, since the plans of crowded ones take very much counted work.
std::string cluster_of(std::uint64_t seed) {
  switch (seed % (budget().count() == 0 ? 3 : 4)) {
    case 3:
      return properties::CrowdedCluster(static_cast<std::uint32_t>(seed)).snapshot().dump();
    case 0:
      return brute_force::policy_instance(seed);
    case 1:
      return test::any_cluster(static_cast<std::uint32_t>(seed)).line();
    default:
      return brute_force::tiny_instance(seed);
  }
}

ExperimentOptions options_of(std::chrono::nanoseconds time) {
  ExperimentOptions options;
  options.solve.deterministic = budget().count() == 0;
  options.budget = time;
  return options;
}

std::string text(const std::vector<change::Change>& changes) {
  std::string text;
  for (const change::Change& change : changes) text += (text.empty() ? "" : " ") + change::text_of(change);
  return text;
}

std::int64_t running_pods(const Snapshot& snapshot, std::string_view gang) {
  return std::ranges::count_if(snapshot.pods, [&](const SnapshotPod& pod) {
    return pod.status == PodStatus::kRunning && (pod.gang.empty() ? pod.name : pod.gang) == gang;
  });
}

using AllChanges = std::vector<std::vector<change::Change>>;

template <class Kind>
bool are_all(const std::vector<change::Change>& changes) {
  return std::ranges::all_of(changes, [](const auto& change) { return std::holds_alternative<Kind>(change); });
}

AllChanges fewer_stopped(const Remedy& remedy, const Run& base, GangIndex gang) {
  AllChanges all;
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
  return all;
}

change::SetQueue one_unit_less(change::SetQueue queue, const Snapshot& snapshot) {
  // Whole GPUs unless some pod asks for a part of one; cores; GiB.
  const bool has_parts = std::ranges::any_of(snapshot.pod_specs, [](const PodSpec& spec) {
    return spec.gpu.kind == GpuRequestKind::kFraction || spec.gpu.kind == GpuRequestKind::kMemory;
  });
  queue.amount -= queue.resource == change::QueueResourceKind::kMemory  ? Amount{1} << 30
                  : queue.resource == change::QueueResourceKind::kCpu   ? 1'000
                  : queue.resource == change::QueueResourceKind::kOther ? 1
                  : has_parts                                           ? 10'000
                                                                        : 1'000'000;
  return queue;
}

// All smaller changes of the same kind as this remedy, as far as they are listed easily.
AllChanges smaller(const Remedy& remedy, const Run& base, GangIndex gang) {
  AllChanges all;
  const change::Change& first = remedy.changes.front();
  if (const auto* added = std::get_if<change::AddNodes>(&first)) {
    for (std::int64_t count = 1; count < added->count; ++count) all.push_back({change::AddNodes{added->like, count}});
  }
  if (const auto* minimum = std::get_if<change::SetMinimum>(&first); minimum && minimum->subgroup.empty()) {
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
  if (are_all<change::Uncordon>(remedy.changes) || are_all<change::Tolerate>(remedy.changes)) {
    for (std::size_t left_out = 0; left_out < remedy.changes.size() && remedy.changes.size() > 1; ++left_out) {
      std::vector<change::Change> others = remedy.changes;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
      all.push_back(std::move(others));
    }
  }
  if (are_all<change::RemoveGang>(remedy.changes)) all = fewer_stopped(remedy, base, gang);
  if (are_all<change::SetQueue>(remedy.changes)) {
    for (std::size_t i = 0; i < remedy.changes.size(); ++i) {
      std::vector<change::Change> less = remedy.changes;
      less[i] = one_unit_less(std::get<change::SetQueue>(less[i]), *base.snapshot);
      all.push_back(std::move(less));
    }
  }
  return all;
}

// A changed cluster, written out and read again, and planned with three times the budget.
class NextCluster {
 public:
  NextCluster(const Snapshot& original, const std::vector<change::Change>& changes, portfolio::Portfolio& portfolio) {
    Snapshot changed(original);
    if (const auto failure = change::apply(changes, changed)) throw std::runtime_error(failure->message);
    std::string line;
    snapshot_writer::write_snapshot(changed, line);
    snapshot_ = test::Case::read(line, test::Oddities::kSettled);
    auto run = Experiment(snapshot_, portfolio, options_of(3 * budget())).solve({});
    if (!run) throw std::runtime_error(run.error().message);
    run_ = std::move(*run);
  }
  bool admits(std::string_view gang) const { return run_->admits(*run_->find_gang(gang)); }
  const Run& run() const { return *run_; }

 private:
  Snapshot snapshot_;
  std::unique_ptr<Run> run_;
};

struct Tally {
  int gangs = 0, remedies = 0, proven = 0, smallest = 0, smaller = 0, refuted = 0, refuted_smallest = 0;
};

class Trial {
 public:
  Trial(std::uint64_t seed, Tally& tally)
      : seed_(seed),
        tally_(tally),
        line_(cluster_of(seed)),
        snapshot_(test::Case::read(line_, test::Oddities::kSettled)),
        portfolio_(test::program()) {}

  void run() {
    auto base = Experiment(snapshot_, portfolio_, options_of(budget() / 3)).solve({});
    if (!base) throw std::runtime_error(base.error().message);
    for (const explain::GangReport& report : (*base)->solution.report.gangs)
      if (!(*base)->admits(report.gang)) try_gang(**base, report.gang);
    if (!has_failed_) return;
    if (const char* path = std::getenv("MUSTER_FAILURES")) std::ofstream(path, std::ios::app) << line_ << '\n';
  }

 private:
  // As `muster why` asks.
  RemedyAnswer remedies_of(const Run& base, GangIndex gang) {
    ExperimentOptions options = options_of(budget() / kTuning.answers.variations);
    if (budget().count() > 0) options.end = portfolio::Clock::now() + budget();
    Experiment experiment(snapshot_, portfolio_, options);
    return find_remedies(experiment, base, gang, kMostTests);
  }

  void try_gang(const Run& base, GangIndex gang) {
    ++tally_.gangs;
    const std::string name(base.problem.gangs[gang].name);
    for (const Remedy& remedy : remedies_of(base, gang).remedies) {
      ++tally_.remedies;
      tally_.proven += remedy.with.proven ? 1 : 0;
      ASSERT_FALSE(remedy.changes.empty());
      const std::string what = "seed " + std::to_string(seed_) + ", gang " + name + " (" +
                               std::string(explain::phase_name(base.report_on(gang)->phase)) + "), " +
                               text(remedy.changes);
      expect_start(base, gang, remedy, what);
      if (!remedy.is_smallest) continue;
      ++tally_.smallest;
      for (const auto& changes : smaller(remedy, base, gang)) expect_no_start(name, changes, what);
    }
  }

  void expect_start(const Run& base, GangIndex gang, const Remedy& remedy, const std::string& what) {
    const NextCluster next(snapshot_, remedy.changes, portfolio_);
    if (next.admits(base.problem.gangs[gang].name)) return;
    ++tally_.refuted;
    has_failed_ = true;
    ADD_FAILURE() << what << ": does not start; plan with it " << (remedy.with.proven ? "proven" : "not proven")
                  << ", next plan " << (next.run().is_choice_proven() ? "proven" : "not proven");
  }

  void expect_no_start(const std::string& name, const std::vector<change::Change>& changes, const std::string& what) {
    ++tally_.smaller;
    const NextCluster less(snapshot_, changes, portfolio_);
    if (!less.admits(name)) return;
    ++tally_.refuted_smallest;
    has_failed_ = true;
    ADD_FAILURE() << what << ": so does " << text(changes);
  }

  std::uint64_t seed_;
  Tally& tally_;
  std::string line_;
  Snapshot snapshot_;
  portfolio::Portfolio portfolio_;
  bool has_failed_ = false;
};

TEST(RandomRemedies, StartTheirGangAndNoSmallerOneDoes) {
  Tally tally;
  const std::uint64_t first = brute_force::setting("MUSTER_SEED", 1);
  for (std::uint64_t seed = first; seed < first + brute_force::setting("MUSTER_INSTANCES", 4); ++seed)
    Trial(seed, tally).run();
  std::printf(
      "gangs %d, remedies %d (%d proven, %d refuted), said to be the smallest %d, smaller tried %d (%d start)\n",
      tally.gangs, tally.remedies, tally.proven, tally.refuted, tally.smallest, tally.smaller, tally.refuted_smallest);
  EXPECT_GT(tally.remedies, 0);
}

}  // namespace
}  // namespace muster::answers
