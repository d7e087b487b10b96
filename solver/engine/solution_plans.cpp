#include "solver/engine/solution_plans.h"

#include <algorithm>
#include <utility>

#include "heuristics/state/plan_of.h"
#include "model/base/require.h"
#include "solver/formulation/decode.h"

namespace muster::engine {

SolutionPlans::SolutionPlans(const Input& input, std::function<void()> on_better, MilpOutcome& outcome)
    : in_(input),
      bounds_(
          queue_bounds(input.setting.problem, ClusterState(input.setting.problem, ClusterState::Releasing::kFreed))),
      repair_(input.setting, input.whole.demand, bounds_),
      offers_({input.setting, repair_, input.ids, input.options, input.may_leave}, std::move(on_better), outcome) {}

void SolutionPlans::take(const formulation::FormulationSolution& solution, const Configurations& configurations,
                         bool is_whole) {
  MUSTER_REQUIRE(in_.whole.formulation.has_value());
  const auto start = Deadline::Clock::now();
  const bool has_order = !in_.whole.supply.parts.empty();
  Decoded plan = decoded(solution, configurations, has_order);
  if (has_order && !ordered_plan_of(in_.setting.problem, plan.state, plan.evictions).unbound.empty())
    plan = decoded(solution, configurations, false);
  offers_.offer(std::move(plan.state), std::move(plan.evictions), is_whole);
  slowest_ = std::max(slowest_, Deadline::Clock::now() - start);
}

SolutionPlans::Decoded SolutionPlans::decoded(const formulation::FormulationSolution& solution,
                                              const Configurations& configurations, bool in_some_order) const {
  const column_generation::RestrictedMaster& whole = in_.whole;
  Decoded result{whole.base, {}};
  result.evictions = formulation::decode({in_.setting.problem, whole.demand, whole.zones, whole.supply, bounds_,
                                          configurations, whole.formulation->channels(), in_some_order},
                                         solution, result.state)
                         .evictions;
  return result;
}

}  // namespace muster::engine
