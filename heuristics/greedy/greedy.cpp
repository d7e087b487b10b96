#include "heuristics/greedy/greedy.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "heuristics/greedy/census.h"
#include "heuristics/greedy/placing.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/gang_placement.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/leading_levels.h"
#include "heuristics/state/node_choice.h"
#include "heuristics/state/plan_of.h"
#include "heuristics/state/planned_eviction.h"
#include "heuristics/state/stop_request.h"
#include "model/base/parallel.h"
#include "model/objective/evaluation.h"
#include "model/objective/levels.h"
#include "model/objective/node_end.h"

namespace muster {

namespace {

// Whether any running pod could be evicted, or moved, under the policy.
bool could_evict(const Problem& problem, const ClusterState& before) {
  const Actions& actions = problem.snapshot->policy.actions;
  if (!actions.consolidate && !actions.preempt && !actions.reclaim) return false;
  for (const GangIndex gang : problem.gangs.indices()) {
    if (before.version(gang) != 0 && problem.gangs[gang].preemptible) return true;
  }
  return false;
}

constexpr std::size_t kFirstStarts = 2;

bool is_due(const StopRequest& stop) { return stop && stop(); }

bool has_one_queue(const Problem& problem) {
  return std::ranges::count_if(problem.queues, [](const Queue& queue) { return queue.is_leaf(); }) == 1;
}

// The orders that are tried, from the policy's own to the one that packs best; further starts repeat them with noise.
// If there is no victim, the second would only repeat the first; with one queue, the order that packs best comes first.
PlacingOrder order_of_start(const Problem& problem, bool could_evict, std::size_t start, std::uint64_t seed) {
  static constexpr std::array<PlacingOrder, 6> kOrders{{
      {GangOrder::kQueueByQueue, PodOrder::kBigFirst, NodeRule::kKeepCpu, ClaimTime::kAtEnd},
      {GangOrder::kQueueByQueue, PodOrder::kBigFirst, NodeRule::kKeepCpu, ClaimTime::kAtOnce},
      {GangOrder::kBigFirst, PodOrder::kBigFirst, NodeRule::kKeepCpu, ClaimTime::kAtOnce},
      {GangOrder::kOldestBigFirst, PodOrder::kBigFirst, NodeRule::kKeepCpu, ClaimTime::kAtOnce},
      {GangOrder::kCpuFirst, PodOrder::kCpuFirst, NodeRule::kKeepCpu, ClaimTime::kAtOnce},
      {GangOrder::kBigFirst, PodOrder::kCpuFirst, NodeRule::kBestFit, ClaimTime::kAtEnd},
  }};
  static constexpr std::array<std::size_t, 6> kWithEvictions{0, 2, 1, 3, 4, 5};
  static constexpr std::array<std::size_t, 5> kOneQueue{2, 3, 0, 4, 5}, kMoreQueues{0, 2, 3, 4, 5};
  if (!could_evict) {
    const auto& kept = has_one_queue(problem) ? kOneQueue : kMoreQueues;
    start = start < kept.size() ? kept[start] : start + 1;
  } else if (start < kWithEvictions.size()) {
    start = kWithEvictions[start];
  }
  PlacingOrder order = kOrders[start % kOrders.size()];
  if (start >= kOrders.size()) {
    order.noise = 0.4;
    order.seed = seed + start;
  }
  if (problem.snapshot->policy.placement == PlacementPolicy::kSpread) order.nodes = NodeRule::kSpread;
  return order;
}

// What all starts begin with, and only read.
struct Beginning {
  Beginning(const Problem& of, const FairShares& fair_shares, int threads)
      : problem(of),
        shares(fair_shares),
        state(of, ClusterState::Releasing::kFreed, threads),
        bounds(queue_bounds(of, state)),
        could_evict(muster::could_evict(of, state)),
        rules(of, fair_shares, state),
        census(of, fair_shares, state),
        levels(of, fair_shares) {
    if (!census.waiting().empty() && could_evict) levels.of(state);  // for the claims; else counted when needed
  }

  const Problem& problem;
  const FairShares& shares;
  ClusterState state;
  QueueBounds bounds;
  bool could_evict;
  EvictionRules rules;
  Census census;
  LeadingLevels levels;
};

// Of the starts that may differ in their plans; of those that cannot, the first.
std::vector<PlacingOrder> distinct_orders(const Beginning& beginning, const GreedyOptions& options) {
  if (options.oldest_first)
    return {{GangOrder::kOldestFilling, PodOrder::kBigFirst, usual_rule(beginning.problem), ClaimTime::kAtOnce}};
  const auto starts = static_cast<std::size_t>(std::max(1, options.starts));
  std::vector<PlacingOrder> distinct;
  std::set<std::pair<NodeRule, PodOrder>> seen;
  for (std::size_t start = 0; start < starts; ++start) {
    const PlacingOrder order = order_of_start(beginning.problem, beginning.could_evict, start, options.seed);
    const bool is_new = seen.emplace(order.nodes, order.pods).second;
    if (is_new || !beginning.census.is_one_order_enough()) distinct.push_back(order);
  }
  return distinct;
}

// One start: its own state, from the snapshot to a plan.
class Start {
 public:
  Start(const Beginning& beginning, const PlacingOrder& order, const StartStops& stops)
      : beginning_(beginning),
        problem_(beginning.problem),
        order_(order),
        stops_(stops),
        doomed_(problem_.gangs.size(), false),
        excluded_(problem_.gangs.size(), false) {}

  // Called with what each attempt has placed before it evicts or moves any pod.
  void tell_placed(std::function<void(Candidate)> on_placed) { on_placed_ = std::move(on_placed); }

  // Whether the last run finished, and whether it had to leave anything out.
  bool is_complete() const { return is_complete_; }
  bool ran_out() const { return !is_complete_ || has_left_claims_; }
  bool has_evicted() const { return workshop_->room.has_evicted(); }

  // After a run: the plan with other victims, see RoomSearch::exchange_victims. None: it cannot be bound.
  std::optional<Plan> exchange_victims(const StopRequest& stop) {
    stop_room_ = stop;
    workshop_->room.exchange_victims();
    workshop_->room.reprieve();
    OrderedPlan made = ordered_plan_of(problem_, workshop_->state, workshop_->room.evictions());
    return made.unbound.empty() ? std::optional(std::move(made.plan)) : std::nullopt;
  }

  // The value of the last of these two plans, whose end state is the current state.
  Levels value_of(const Plan& plan) const {
    const ClusterState& state = workshop_->state;
    return evaluate(problem_, beginning_.shares, plan, [&](NodeIndex node) -> NodeEnd {
      return {problem_.nodes[node].node_class, state.free(node), state.free_devices(node)};
    });
  }

  Plan run() {
    Plan plan = attempt();
    // Stale gangs that could not be completed have to leave; the rest is placed again, on their nodes too.
    while (!unfinished_.empty()) {
      for (const GangIndex gang : unfinished_) doomed_[gang.value()] = excluded_[gang.value()] = true;
      plan = attempt();
    }
    return plan;
  }

 private:
  // Gangs whose pods cannot be bound are left out of the next attempt, as long as there are any.
  Plan attempt() {
    while (true) {
      std::optional<OrderedPlan> made = attempt(false);
      if (!made) made = attempt(true);
      if (made->unbound.empty() || !exclude(*made)) return std::move(made->plan);
    }
  }

  // Excludes the gangs of unbound pods; if they are excluded already, those with victims; finally, all.
  bool exclude(const OrderedPlan& made) {
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

  // What an attempt works with; it ends as the plan has it.
  struct Workshop {
    Workshop(const Beginning& beginning, const PlacingOrder& order, const StopRequest& stop, ClusterState from,
             std::vector<PlannedEviction> evictions)
        : state(std::move(from)),
          chooser(state, beginning.bounds, order.nodes),
          placer(state, beginning.bounds, chooser, order.pods),
          room({beginning.problem, beginning.shares, beginning.bounds, beginning.rules, state, chooser, placer, stop,
                &beginning.levels},
               std::move(evictions)) {}
    ClusterState state;
    NodeChooser chooser;
    GangPlacer placer;
    RoomSearch room;
  };

  // None: not with sums alone. `walks_all`: see PlacingInput.
  std::optional<OrderedPlan> attempt(bool walks_all) {
    ClusterState state = beginning_.state;
    std::vector<PlannedEviction> evictions;
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (doomed_[gang.value()]) evict_stale(gang, state, evictions);
    }
    stop_room_ = stops_.claims ? stops_.claims : stops_.all;
    workshop_ = std::make_unique<Workshop>(beginning_, order_, stop_room_, std::move(state), std::move(evictions));
    Workshop& shop = *workshop_;
    PlacingInput input{problem_, beginning_.shares, order_, excluded_, stops_.all, beginning_.census, walks_all};
    if (on_placed_) input.before_claims = [this] { tell_placed(); };
    const PlacingOutcome outcome = place_all(input, shop.state, shop.placer, shop.room);
    if (outcome == PlacingOutcome::kOrderMatters) return std::nullopt;
    is_complete_ = outcome == PlacingOutcome::kComplete;
    has_left_claims_ = shop.room.has_stopped();
    stop_room_ = stops_.all;
    shop.room.reprieve();
    find_unfinished(shop.state);
    return ordered_plan_of(problem_, shop.state, shop.room.evictions());
  }

  void tell_placed() const {
    OrderedPlan made = ordered_plan_of(problem_, workshop_->state, workshop_->room.evictions());
    if (!made.unbound.empty()) return;
    Levels levels = value_of(made.plan);
    on_placed_({std::move(made.plan), std::move(levels), true});
  }

  void evict_stale(GangIndex gang, ClusterState& state, std::vector<PlannedEviction>& evictions) const {
    for (const PodIndex pod : problem_.gangs[gang].pods) {
      if (!state.is_present(pod)) continue;
      state.take(pod);
      evictions.push_back({pod, EvictionReason::kStale, GangIndex::none()});
    }
  }

  void find_unfinished(const ClusterState& state) {
    unfinished_.clear();
    if (!problem_.snapshot->policy.actions.stale) return;
    for (const GangIndex gang : problem_.gangs.indices()) {
      const bool must_go = problem_.gangs[gang].stale && !doomed_[gang.value()];
      if (must_go && !is_satisfied(state, gang)) unfinished_.push_back(gang);
    }
  }

  const Beginning& beginning_;
  const Problem& problem_;
  const PlacingOrder& order_;
  StartStops stops_;
  StopRequest stop_room_;     // of all that makes room, as long as the workshop does
  std::vector<bool> doomed_;    // by gang: evicted as stale
  std::vector<bool> excluded_;  // by gang: not to be placed, since it is to be evicted or cannot be bound
  std::vector<GangIndex> unfinished_;
  bool is_complete_ = false, has_left_claims_ = false;
  std::function<void(Candidate)> on_placed_;
  std::unique_ptr<Workshop> workshop_;  // of the last attempt
};

}  // namespace

// An interrupted start may have gained on an early level without the time to gain on the later ones: then only the
// first level counts, which is complete at any time. Other victims are searched for in the best of the first few plans,
// concurrently with the other starts: this takes about as long as one start and finds more.
Candidate solve_greedy(const Problem& problem, const FairShares& shares, const GreedyOptions& options) {
  const Beginning beginning(problem, shares, options.threads);
  const std::vector<PlacingOrder> orders = distinct_orders(beginning, options);
  std::vector<std::optional<Candidate>> candidates(orders.size());
  std::vector<std::unique_ptr<Start>> starts(orders.size());  // those that have evicted
  const auto run_start = [&](std::size_t i) {
    const StartStops& stops = i > 0 && options.stop_more.all ? options.stop_more : options.stop;
    if (i > 0 && (is_due(stops.all) || is_due(stops.claims))) return;
    auto start = std::make_unique<Start>(beginning, orders[i], stops);
    if (i == 0 && beginning.could_evict) start->tell_placed(options.on_placed);
    Plan plan = start->run();
    if (i > 0 && !start->is_complete()) return;
    const bool is_told = i == 0 && options.on_first;
    Levels levels = is_told ? start->value_of(plan) : evaluate_presence(problem, shares, plan);
    candidates[i] = Candidate{std::move(plan), std::move(levels), start->ran_out()};
    if (i == 0 && options.on_first) options.on_first(*candidates[i]);
    if (start->has_evicted()) starts[i] = std::move(start);
  };
  const auto ids = level_ids(problem);
  const std::vector<LevelId> of_presence(ids.begin(), ids.begin() + levels_of_presence(problem));
  const auto run_starts = [&](std::size_t begin, std::size_t end) {
    parallel_for(end - begin, options.threads, [&](std::size_t i) { run_start(begin + i); });
  };
  // The places of pods matter only among plans that are equal in all levels before.
  const auto complete = [&](Candidate& candidate) {
    if (candidate.levels.values.size() == ids.size()) return;
    candidate.levels = evaluate_places(problem, candidate.plan, candidate.levels);
  };
  const auto is_better = [&](Candidate& a, Candidate& b) {
    const auto by_presence = compare(a.levels, b.levels, of_presence);
    if (by_presence != 0) return by_presence > 0;
    complete(a);
    complete(b);
    return compare(a.levels, b.levels, ids) > 0;
  };
  const auto best_of = [&] {
    std::size_t best = 0;
    for (std::size_t i = 1; i < orders.size(); ++i) {
      if (candidates[i] && is_better(*candidates[i], *candidates[best])) best = i;
    }
    complete(*candidates[best]);
    return best;
  };
  const auto exchange_victims = [&](std::size_t i) {
    if (!starts[i]) return;
    std::optional<Plan> plan = starts[i]->exchange_victims(options.stop.all);
    Levels levels = plan ? starts[i]->value_of(*plan) : Levels{};
    starts[i].reset();
    if (!plan || compare(levels, candidates[i]->levels, ids) <= 0) return;
    candidates[i] = Candidate{*std::move(plan), std::move(levels), candidates[i]->ran_out};
  };
  const std::size_t alone = options.first_alone ? 1 : 0;
  if (options.first_alone) run_start(0);
  const std::size_t first_few = beginning.could_evict ? std::min(kFirstStarts, orders.size()) : orders.size();
  run_starts(alone, first_few);
  const std::size_t best_so_far = best_of();
  parallel_for(1 + orders.size() - first_few, options.threads,
               [&](std::size_t task) { task == 0 ? exchange_victims(best_so_far) : run_start(first_few + task - 1); });
  const std::size_t best = best_of();
  exchange_victims(best);
  return *std::move(candidates[best]);
}

}  // namespace muster
