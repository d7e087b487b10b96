#include "heuristics/greedy/start_context.h"

namespace muster::greedy {

namespace {

bool could_evict_any(const Problem& problem, const ClusterState& before) {
  const Actions& actions = problem.snapshot->policy.actions;
  if (!actions.consolidate && !actions.preempt && !actions.reclaim) return false;
  for (const GangIndex gang : problem.gangs.indices()) {
    if (before.version(gang) != 0 && problem.gangs[gang].preemptible) return true;
  }
  return false;
}

}  // namespace

StartContext::StartContext(const Problem& of, const FairShares& fair_shares, int threads, const Plan* plan)
    : problem(of),
      shares(fair_shares),
      from(plan),
      state(of, ClusterState::Releasing::kFreed, threads),
      bounds(queue_bounds(of, state)),
      could_evict(could_evict_any(of, state)),
      rules(of, fair_shares, state),
      initial(of, fair_shares, state),
      levels(of, fair_shares) {
  if (!initial.waiting().empty() && could_evict) levels.of(state);  // for the claims; else counted when needed
}

}  // namespace muster::greedy
