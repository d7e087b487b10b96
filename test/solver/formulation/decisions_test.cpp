#include <gtest/gtest.h>

#include "test/solver/exact_formulation.h"
#include "test/support/paths.h"

namespace muster::formulation {
namespace {

using test::Case;
using test::ExactFormulation;

// Some plan of the formulation, that which is best for an objective; none: not all of it was placed.
std::optional<ExactFormulation::Decoded> plan_of(const ExactFormulation& exact, const lp::Milp& milp,
                                                 cbc::Backend& backend, const cbc::MilpRequest& request) {
  const cbc::MilpAnswer answer = backend.solve(milp, request);
  if (answer.status != cbc::SolveStatus::kOptimal) return std::nullopt;
  ExactFormulation::Decoded decoded = exact.decoded(answer.x);
  if (decoded.missed > 0) return std::nullopt;
  return decoded;
}

// The value of a level at its best, with a plan's decisions fixed; none: they are not a solution.
std::optional<std::int64_t> value_at(const ExactFormulation& exact, const Plan& plan, const LevelId& id,
                                     const lp::LinearExpression& level, cbc::Backend& backend,
                                     const cbc::MilpRequest& request) {
  lp::Milp fixed = exact.model_of(id, level);
  for (const auto& [column, value] : exact.formulation.decisions_of(plan).decisions) {
    const auto j = static_cast<std::size_t>(column);
    EXPECT_LE(static_cast<double>(value), fixed.upper[j]) << fixed.column_names[j];
    fixed.lower[j] = fixed.upper[j] = static_cast<double>(value);
  }
  const cbc::MilpAnswer answer = backend.solve(fixed, request);
  if (answer.status != cbc::SolveStatus::kOptimal) return std::nullopt;
  return lp::value_of(level, answer.x);
}

cbc::MilpRequest in_an_hour() {
  cbc::MilpRequest request;
  request.deadline = Deadline::Clock::now() + std::chrono::hours(1);
  return request;
}

// With a plan's decisions fixed, the first level of the model has the plan's value: the other columns follow.
TEST(Decisions, OfAPlanHaveItsValues) {
  cbc::Backend backend(test::program());
  const cbc::MilpRequest request = in_an_hour();
  int compared = 0, with_evictions = 0;
  for (std::uint32_t seed = 1; seed < 400; ++seed) {
    const Case cluster = test::any_cluster(seed);
    ExactFormulation exact(cluster);
    if (!exact.is_listed) continue;
    const LevelId& id = exact.ids.front();
    const auto level = exact.formulation.level(id);
    if (!level || level->terms.empty()) continue;
    const auto decoded = plan_of(exact, exact.model_of(id, *level), backend, request);
    if (!decoded) continue;
    EXPECT_EQ(value_at(exact, decoded->plan, id, *level, backend, request), decoded->levels.values.front()) << seed;
    ++compared;
    if (!decoded->plan.evictions.empty()) ++with_evictions;
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(with_evictions, 10);
}

// As much as possible is evicted. What is reclaimed counts as preempted, too, where the plan places a gang that might
// have preempted it.
TEST(Decisions, OfAPlanPreemptWhatThePlanDoes) {
  cbc::Backend backend(test::program());
  const cbc::MilpRequest request = in_an_hour();
  int reclaimed = 0;
  for (std::uint32_t seed = 1; seed < 400; ++seed) {
    const Case cluster = test::any_cluster(seed);
    ExactFormulation exact(cluster);
    if (!exact.is_listed) continue;
    std::map<std::size_t, lp::LinearExpression> preempted;  // by level
    lp::LinearExpression evicted;
    for (std::size_t i = 0; i < exact.ids.size() && exact.ids[i].kind <= LevelKind::kEvicted; ++i) {
      const lp::LinearExpression level = exact.formulation.level(exact.ids[i]).value();
      if (exact.ids[i].kind == LevelKind::kPreempted) preempted[i] = level;
      if (exact.ids[i].kind == LevelKind::kEvicted) evicted = level;
    }
    if (preempted.empty() || evicted.terms.empty()) continue;
    const auto decoded = plan_of(exact, exact.formulation.model().build(evicted, 1), backend, request);
    if (!decoded) continue;
    for (const auto& [i, level] : preempted) {
      const std::int64_t value = decoded->levels.values[i];
      const auto found = value_at(exact, decoded->plan, exact.ids[i], level, backend, request);
      if (!found) continue;  // it evicts more than it has reasons for
      EXPECT_EQ(found, value) << seed;
      const auto is_reclaimed = [](const Eviction& eviction) { return eviction.reason == EvictionReason::kReclaim; };
      if (value > 0 && std::ranges::any_of(decoded->plan.evictions, is_reclaimed)) ++reclaimed;
    }
  }
  EXPECT_GT(reclaimed, 0);
}

}  // namespace
}  // namespace muster::formulation
