// Reasons against brute force: no reason is reported for a gang that can be placed after all, and none is missing for
// one that cannot.
#include <algorithm>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "model/explain/report.h"
#include "model/objective/evaluation.h"
#include "test/brute_force/brute_force.h"
#include "test/brute_force/instances/tiny_instance.h"
#include "test/support/case.h"

namespace muster::brute_force {
namespace {

constexpr std::uint64_t kInstances = 500;
constexpr std::int64_t kMostStates = 300'000;

// Affinity and Spread refer to the cluster as the plan leaves it: with other pods placed, the gang may fit after all.
bool is_told_of_any_plan(const Problem& problem) { return !problem.has_ordered_rules(); }

// Calls check(seed, problem, fair shares, best) for random instances.
template <class Check>
void for_each_instance(const Check& check) {
  for (std::uint64_t seed = 1; seed <= kInstances; ++seed) {
    const test::Case problem = test::Case::of_line(tiny_instance(seed), test::Oddities::kSettled);
    if (const std::optional<Best> best = solve(*problem, problem.shares(), kMostStates))
      check(seed, *problem, problem.shares(), *best);
  }
}

bool places(const Problem& problem, const Plan& plan, GangIndex gang) {
  return std::ranges::any_of(plan.placements,
                             [&](const Placement& placement) { return problem.pods[placement.pod].gang == gang; });
}

TEST(Reasons, AreNotToldOfAGangThatTheBestPlanPlaces) {
  int placed = 0;
  for_each_instance([&](std::uint64_t seed, const Problem& problem, const FairShares& shares, const Best& best) {
    if (!is_told_of_any_plan(problem)) return;
    const Plan nothing;
    const explain::Report report =
        explain::describe(problem, shares, {nothing, evaluate(problem, shares, nothing), {}, false});
    for (const explain::GangReport& entry : report.gangs) {
      if (!places(problem, best.plan, entry.gang) || entry.phase == explain::GangPhase::kRunning) continue;
      ++placed;
      EXPECT_EQ(explain::reason_text(entry.reason), "OutOfTime")
          << "seed " << seed << ", gang " << problem.gangs[entry.gang].name << ": " << entry.message;
    }
  });
  EXPECT_GT(placed, 100);
}

TEST(Reasons, AreToldOfEveryGangThatTheBestPlanLeavesOver) {
  int left = 0;
  for_each_instance([&](std::uint64_t seed, const Problem& problem, const FairShares& shares, const Best& best) {
    if (!is_told_of_any_plan(problem)) return;
    const explain::Report report = explain::describe(problem, shares, {best.plan, best.levels, {}, false});
    for (const explain::GangReport& entry : report.gangs) {
      // Surplus may stay out though there is room: a further pod can change which pods are the gang's least minimum,
      // and with it how well its units fill the queue's share.
      if (entry.pending == 0 || entry.phase == explain::GangPhase::kScheduled ||
          entry.phase == explain::GangPhase::kWaiting)
        continue;
      ++left;
      EXPECT_FALSE(entry.reason.code == explain::ReasonCode::kNone ||
                   entry.reason.code == explain::ReasonCode::kOutOfTime)
          << "seed " << seed << ", gang " << problem.gangs[entry.gang].name;
    }
  });
  EXPECT_GT(left, 100);
}

TEST(Reasons, ChargeEveryNodeOnce) {
  for_each_instance([&](std::uint64_t seed, const Problem& problem, const FairShares& shares, const Best& best) {
    for (const explain::GangReport& entry :
         explain::describe(problem, shares, {best.plan, best.levels, {}, true}).gangs) {
      std::int64_t nodes = 0;
      for (const explain::Blocker& blocker : entry.blockers) nodes += blocker.nodes;
      EXPECT_TRUE(entry.blockers.empty() || nodes == std::ssize(problem.nodes.raw())) << "seed " << seed;
    }
  });
}

}  // namespace
}  // namespace muster::brute_force
