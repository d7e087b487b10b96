#include "heuristics/greedy/start.h"

#include <utility>

#include "heuristics/greedy/placing.h"
#include "heuristics/state/groups.h"
#include "model/base/require.h"
#include "model/objective/evaluation.h"
#include "model/objective/possibilities.h"

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

Start::Attempt::Attempt(const StartContext& context, const PlacingOrder& order, const StopRequest& stop,
                        ClusterState from, std::vector<PlannedEviction> evictions)
    : state(std::move(from)),
      chooser(state, context.bounds, order.nodes),
      placer(state, context.bounds, chooser, order.pods),
      room({context.rules, placer, stop, std::move(evictions), &context.levels}) {}

Start::Start(const StartContext& context, const PlacingOrder& order, const StartStops& stops)
    : context_(context),
      problem_(context.problem),
      order_(order),
      stops_(stops),
      must_evict_(problem_.gangs.size(), false),
      excluded_(problem_.gangs.size(), false) {
  if (context.from == nullptr) return;
  for (const Eviction& eviction : context.from->evictions) {
    if (eviction.reason != EvictionReason::kStale) continue;
    const std::size_t gang = problem_.pods[eviction.pod].gang.value();
    must_evict_[gang] = excluded_[gang] = true;
  }
}

Plan Start::run() {
  Plan plan = bindable_plan();
  // Stale gangs that could not be completed have to leave; the rest is placed again, on their nodes too.
  while (!unfinished_.empty()) {
    for (const GangIndex gang : unfinished_) must_evict_[gang.value()] = excluded_[gang.value()] = true;
    plan = bindable_plan();
  }
  return plan;
}

bool Start::has_evicted() const {
  MUSTER_REQUIRE(attempt_ != nullptr);
  return attempt_->room.context().ledger.has_evicted();
}

std::optional<Plan> Start::exchange_victims(const StopRequest& stop) {
  MUSTER_REQUIRE(attempt_ != nullptr);
  stop_room_ = stop;
  attempt_->room.exchange_victims();
  attempt_->room.reprieve();
  OrderedPlan made = ordered_plan_of(problem_, attempt_->state, attempt_->room.context().ledger.evictions());
  return made.unbound.empty() ? std::optional(std::move(made.plan)) : std::nullopt;
}

Levels Start::value_of(const Plan& plan) const {
  MUSTER_REQUIRE(attempt_ != nullptr);
  const ClusterState& state = attempt_->state;
  return evaluate(problem_, context_.shares, plan, [&](NodeIndex node) -> NodeEnd {
    return {problem_.nodes[node].node_class, state.free(node), state.free_devices(node)};
  });
}

// Gangs whose pods cannot be bound are left out of the next attempt, as long as there are any.
Plan Start::bindable_plan() {
  while (true) {
    std::optional<OrderedPlan> made = attempt(false);
    if (!made) made = attempt(true);
    if (made->unbound.empty() || !exclude(*made)) return std::move(made->plan);
  }
}

// Excludes the gangs of unbound pods; if they are excluded already, those with victims; finally, all. Returns whether
// any was not excluded before.
bool Start::exclude(const OrderedPlan& made) {
  bool is_more = false;
  const auto put_out = [&](GangIndex gang) {
    is_more = is_more || !excluded_[gang.value()];
    excluded_[gang.value()] = true;
  };
  for (const PodIndex pod : made.unbound) put_out(problem_.pods[pod].gang);
  if (is_more) return true;
  for (const Eviction& eviction : made.plan.evictions) {
    if (!eviction.for_gang.is_none()) put_out(eviction.for_gang);
  }
  if (is_more) return true;
  for (const GangIndex gang : problem_.gangs.indices()) put_out(gang);
  return is_more;
}

// None: not with sums alone. `walks_all`: see PlacingInput.
std::optional<OrderedPlan> Start::attempt(bool walks_all) {
  begin_attempt();
  PlacingInput input{problem_,   context_.shares,  order_,    excluded_,
                     stops_.all, context_.initial, walks_all, context_.from != nullptr};
  if (on_placed_) input.before_claims = [this] { report_placed(); };
  const PlacingOutcome outcome = place_all(input, attempt_->state, attempt_->placer, attempt_->room);
  if (outcome == PlacingOutcome::kOrderMatters) return std::nullopt;
  is_complete_ = outcome == PlacingOutcome::kComplete;
  has_left_claims_ = attempt_->room.context().stop.is_raised();
  stop_room_ = stops_.all;
  attempt_->room.reprieve();
  find_unfinished();
  return ordered_plan_of(problem_, attempt_->state, attempt_->room.context().ledger.evictions());
}

// From the snapshot, without the stale gangs that have to leave, and with what the earlier plan does.
void Start::begin_attempt() {
  ClusterState state = context_.state;
  std::vector<PlannedEviction> evictions, earlier;
  for (const GangIndex gang : problem_.gangs.indices()) {
    if (!must_evict_[gang.value()]) continue;
    for (const PodIndex pod : problem_.gangs[gang].pods) {
      if (!state.is_present(pod)) continue;
      state.take(pod);
      evictions.push_back({pod, EvictionReason::kStale, GangIndex::none()});
    }
  }
  if (context_.from != nullptr) earlier = carry_out(*context_.from, state, must_evict_);
  stop_room_ = stops_.claims ? stops_.claims : stops_.all;
  attempt_ = std::make_unique<Attempt>(context_, order_, stop_room_, std::move(state), std::move(evictions));
  if (!earlier.empty()) attempt_->room.adopt(earlier);
}

void Start::report_placed() const {
  OrderedPlan made = ordered_plan_of(problem_, attempt_->state, attempt_->room.context().ledger.evictions());
  if (!made.unbound.empty()) return;
  Levels levels = value_of(made.plan);
  on_placed_({std::move(made.plan), std::move(levels), true});
}

void Start::find_unfinished() {
  unfinished_.clear();
  if (!problem_.snapshot->policy.actions.stale) return;
  for (const GangIndex gang : problem_.gangs.indices()) {
    const bool must_go = problem_.gangs[gang].stale && !must_evict_[gang.value()];
    if (must_go && !is_satisfied(attempt_->state, gang)) unfinished_.push_back(gang);
  }
}

}  // namespace muster::greedy
