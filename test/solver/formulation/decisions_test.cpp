#include <gtest/gtest.h>

#include "test/solver/exact_formulation.h"
#include "test/support/paths.h"

namespace muster::formulation {
namespace {

using test::Case;
using test::ExactFormulation;

// With a plan's decisions fixed, each level of the model has the plan's value: the other columns follow.
TEST(Decisions, OfAPlanHaveItsValues) {
  cbc::Backend backend(test::program());
  cbc::MilpRequest request;
  request.deadline = Deadline::Clock::now() + std::chrono::hours(1);
  int compared = 0, with_evictions = 0;
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
    lp::Milp fixed = milp;
    for (const auto& [column, value] : exact.formulation.decisions_of(decoded.plan).decisions) {
      const auto j = static_cast<std::size_t>(column);
      ASSERT_LE(static_cast<double>(value), milp.upper[j]) << seed << ' ' << milp.column_names[j];
      fixed.lower[j] = fixed.upper[j] = static_cast<double>(value);
    }
    const cbc::MilpAnswer again = backend.solve(fixed, request);
    ASSERT_EQ(again.status, cbc::SolveStatus::kOptimal) << seed;
    EXPECT_EQ(lp::value_of(*first, again.x), decoded.levels.values.front()) << seed;
    ++compared;
    if (!decoded.plan.evictions.empty()) ++with_evictions;
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(with_evictions, 10);
}

}  // namespace
}  // namespace muster::formulation
