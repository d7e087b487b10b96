// The MILP engine against brute force when it does not list the configurations, as on problems that are too large for
// that: with priced columns, with blocks of rooms, with columns for all nodes together. It may fall short of the best;
// no bound may be wrong, no plan may break a rule or be below greedy's.
#include <chrono>
#include <functional>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "heuristics/greedy/greedy.h"
#include "heuristics/state/candidate.h"
#include "model/objective/evaluation.h"
#include "model/referee/referee.h"
#include "solver/engine/milp_engine.h"
#include "test/brute_force/brute_force.h"
#include "test/brute_force/campaign.h"
#include "test/brute_force/instances/policy_instance.h"
#include "test/brute_force/instances/tiny_instance.h"
#include "test/brute_force/outcomes.h"
#include "test/brute_force/policy_search.h"
#include "test/support/paths.h"
#include "test/support/plan.h"

namespace muster::brute_force {
namespace {

constexpr std::int64_t kMostStates = 3'000'000;

engine::MilpEngineOptions not_listed() {
  engine::MilpEngineOptions options{.deadline = Deadline(Deadline::Clock::now() + std::chrono::hours(1), true),
                                    .trivial = {}};
  options.most.states = 0;
  options.most.node_columns = 0;
  return options;
}
engine::MilpEngineOptions priced() { return not_listed(); }
engine::MilpEngineOptions in_blocks() {
  engine::MilpEngineOptions options = not_listed();
  options.most.residuals = 0;
  options.most.blocks = 2;
  return options;
}
engine::MilpEngineOptions all_nodes() {
  engine::MilpEngineOptions options = not_listed();
  options.most.node_columns = 1'000'000;
  return options;
}

struct Tally {
  int solved = 0, best = 0, bounds = 0, tight = 0;
};

// One engine on one instance with a known best outcome.
class Check {
 public:
  Check(const test::Case& instance, std::vector<LevelId> ids) : instance_(instance), ids_(std::move(ids)) {}

  void run(const engine::MilpEngineOptions& options, const Best& best, cbc::Backend& backend, Tally& tally) const {
    const Candidate greedy = greedy::solve_greedy(*instance_, instance_.shares(), {});
    const engine::MilpOutcome outcome = engine::solve_milp(*instance_, instance_.shares(), greedy, backend, options);
    EXPECT_EQ(outcome.defects, std::vector<std::string>{});
    test::expect_legal(instance_, outcome.best.plan);
    EXPECT_EQ(evaluate(*instance_, instance_.shares(), outcome.best.plan), outcome.best.levels);
    EXPECT_TRUE(compare(outcome.best.levels, greedy.levels, ids_) >= 0) << "below greedy";
    EXPECT_TRUE(compare(outcome.best.levels, best.levels, ids_) <= 0) << "beyond the best";
    ++tally.solved;
    tally.best += compare(outcome.best.levels, best.levels, ids_) == 0 ? 1 : 0;
    check_bounds(outcome, best.levels, tally);
  }

 private:
  // A bound holds given the plan's values before it.
  void check_bounds(const engine::MilpOutcome& outcome, const Levels& best, Tally& tally) const {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const std::int64_t value = best.values[i];
      if (const auto& bound = outcome.bounds[i]) {
        ++tally.bounds;
        tally.tight += *bound == value ? 1 : 0;
        EXPECT_TRUE(is_maximised(ids_[i].kind) ? value <= *bound : value >= *bound)
            << level_name(ids_[i].kind) << "/" << ids_[i].priority << " cannot pass " << *bound
            << ", it is said: it is " << value;
      }
      if (outcome.best.levels.values[i] != value) return;
    }
  }

  const test::Case& instance_;
  std::vector<LevelId> ids_;
};

using Modes = std::map<std::string, std::function<engine::MilpEngineOptions()>>;
const Modes kModes{{"priced", priced}, {"blocks", in_blocks}, {"all nodes", all_nodes}};

void check_instance(const std::string& line, bool with_evictions, cbc::Backend& backend,
                    std::map<std::string, Tally>& tallies) {
  const test::Case problem = test::Case::of_line(line, test::Oddities::kSettled);
  const FairShares& shares = problem.shares();
  const std::optional<Best> best =
      with_evictions ? solve_with_evictions(*problem, shares, kMostStates) : solve(*problem, shares, kMostStates);
  if (!best) return;
  std::vector<LevelId> ids = level_ids(*problem);
  if (with_evictions) ids.resize(leading_levels(ids));
  const Check check(problem, std::move(ids));
  for (const auto& [name, options] : kModes) {
    SCOPED_TRACE(name);
    check.run(options(), *best, backend, tallies[name]);
  }
}

std::map<std::string, Tally> check_instances(const std::function<std::string(std::uint64_t)>& instance,
                                             bool with_evictions, std::uint64_t instances) {
  cbc::Backend backend(test::program());
  std::map<std::string, Tally> tallies;
  const std::uint64_t first = setting("MUSTER_SEED", 1), count = setting("MUSTER_INSTANCES", instances);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    check_instance(instance(seed), with_evictions, backend, tallies);
  }
  for (const auto& [name, tally] : tallies)
    std::cout << name << ": " << tally.solved << " solved, " << tally.best << " to the best; " << tally.bounds
              << " bounds, " << tally.tight << " of them reached\n";
  return tallies;
}

// One of the tiny instances on which claims make a gang with subgroups give way.
TEST(GreedyOnTinyInstances, LetsNoSurplusStayOfAGangThatGivesWay) {
  const test::Case problem = test::Case::of_line(tiny_instance(914'971), test::Oddities::kSettled);
  test::expect_legal(problem, greedy::solve_greedy(*problem, problem.shares(), {}).plan);
}

TEST(ColumnsThatAreNotListed, TellNoWrongBoundWhereNothingMayGo) {
  auto tallies = check_instances([](std::uint64_t seed) { return tiny_instance(seed); }, false, 200);
  EXPECT_GT(tallies["priced"].bounds, tallies["priced"].solved);
  EXPECT_GT(tallies["all nodes"].bounds, tallies["all nodes"].solved);
}

TEST(ColumnsThatAreNotListed, TellNoWrongBoundWhereRunningPodsMayGo) {
  auto tallies = check_instances(policy_instance, true, 200);
  EXPECT_GT(tallies["priced"].bounds, tallies["priced"].solved);
  EXPECT_GT(tallies["all nodes"].best, tallies["all nodes"].solved * 9 / 10);
}

}  // namespace
}  // namespace muster::brute_force
