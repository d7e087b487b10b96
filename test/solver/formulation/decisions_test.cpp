#include <gtest/gtest.h>

#include "test/solver/exact_formulation.h"
#include "test/support/paths.h"

namespace muster::formulation {
namespace {

using test::Case;
using test::ExactFormulation;

// With a plan's decisions fixed, the first level of the model, and what it preempts, have the plan's values: the other
// columns follow.
TEST(Decisions, OfAPlanHaveItsValues) {
  cbc::Backend backend(test::program());
  cbc::MilpRequest request;
  request.deadline = Deadline::Clock::now() + std::chrono::hours(1);
  int compared = 0, with_evictions = 0, preempted = 0;
  for (std::uint32_t seed = 1; seed < 400; ++seed) {
    const Case cluster = test::any_cluster(seed);
    ExactFormulation exact(cluster);
    if (!exact.is_listed) continue;
    const auto first = exact.formulation.level(exact.ids.front());
    if (!first || first->terms.empty()) continue;
    const lp::Milp milp = exact.model_of(exact.ids.front(), *first);
    const cbc::MilpAnswer answer = backend.solve(milp, request);
    if (answer.status != cbc::SolveStatus::kOptimal) continue;
    const ExactFormulation::Decoded decoded = exact.decoded(answer.x);
    if (decoded.missed > 0) continue;
    const auto decisions = exact.formulation.decisions_of(decoded.plan).decisions;
    for (std::size_t i = 0; i < exact.ids.size() && exact.ids[i].kind <= LevelKind::kEvicted; ++i) {
      const LevelId& id = exact.ids[i];
      const lp::LinearExpression expression = i == 0 ? *first : exact.formulation.level(id).value();
      if (i > 0 && id.kind != LevelKind::kPreempted) continue;
      lp::Milp fixed = exact.model_of(id, expression);
      for (const auto& [column, value] : decisions) {
        const auto j = static_cast<std::size_t>(column);
        ASSERT_LE(static_cast<double>(value), fixed.upper[j]) << seed << ' ' << fixed.column_names[j];
        fixed.lower[j] = fixed.upper[j] = static_cast<double>(value);
      }
      const cbc::MilpAnswer again = backend.solve(fixed, request);
      ASSERT_EQ(again.status, cbc::SolveStatus::kOptimal) << seed;
      EXPECT_EQ(lp::value_of(expression, again.x), decoded.levels.values[i]) << seed << ' ' << i;
      if (id.kind == LevelKind::kPreempted && decoded.levels.values[i] > 0) ++preempted;
    }
    ++compared;
    if (!decoded.plan.evictions.empty()) ++with_evictions;
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(with_evictions, 10);
  EXPECT_GE(preempted, 3);
}

}  // namespace
}  // namespace muster::formulation
