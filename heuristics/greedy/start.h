// One start of greedy: from the snapshot, or an earlier plan, to a plan, by one order of the gangs, with a cluster
// state of its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "heuristics/greedy/options.h"
#include "heuristics/greedy/waiting_gangs.h"
#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/preemption/planner.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/leading_levels.h"
#include "heuristics/state/plan_of.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::greedy {

// What all starts of greedy begin with, and only read.
struct StartContext {
  // All must outlive it. `plan`: see GreedyOptions::from. The same for any number of threads. Cost: O(nodes + pods x
  // (resources + devices of the pod)).
  StartContext(const Problem& of, const FairShares& fair_shares, int threads, const Plan* plan = nullptr);
  StartContext(const StartContext&) = delete;  // its members refer to each other
  StartContext& operator=(const StartContext&) = delete;

  const Problem& problem;
  const FairShares& shares;
  const Plan* from;    // may be null
  ClusterState state;  // the snapshot as it is
  QueueBounds bounds;
  bool could_evict;  // whether any running pod could be evicted, or moved, under the policy
  preemption::EvictionRules rules;
  InitialWork initial;
  LeadingLevels levels;
};

class Start {
 public:
  // `context` and `order` must outlive it.
  Start(const StartContext& context, const PlacingOrder& order, const StartStops& stops);

  // Called with what each attempt has placed before it evicts or moves any pod.
  void report_placed_to(std::function<void(Candidate)> on_placed) { on_placed_ = std::move(on_placed); }

  // The plan of the start. Stale gangs that it could not complete are evicted. Cost: that of place_all, for each
  // attempt.
  Plan run();

  // Whether the last run finished, and whether it had to leave anything out.
  bool is_complete() const { return is_complete_; }
  bool ran_out() const { return !is_complete_ || has_left_claims_; }
  // All that follow require a run.
  bool has_evicted() const;
  // The plan with other victims, see PreemptionPlanner::exchange_victims. None: it cannot be bound.
  std::optional<Plan> exchange_victims(const StopRequest& stop);
  // The value of the last of these two plans, whose end state is the current state.
  Levels value_of(const Plan& plan) const;

 private:
  // What one attempt works with; it ends as the plan has it.
  struct Attempt {
    Attempt(const StartContext& context, const PlacingOrder& order, const StopRequest& stop, ClusterState from,
            std::vector<PlannedEviction> evictions);
    ClusterState state;
    placement::NodeChooser chooser;
    placement::GangPlacer placer;
    preemption::PreemptionPlanner room;
  };
  Plan bindable_plan();
  bool exclude(const OrderedPlan& made);
  std::optional<OrderedPlan> attempt(bool walks_all);
  void begin_attempt();
  void report_placed() const;
  void find_unfinished();

  const StartContext& context_;
  const Problem& problem_;
  const PlacingOrder& order_;
  StartStops stops_;
  StopRequest stop_room_;         // of all that makes room, as long as the attempt exists
  std::vector<bool> must_evict_;  // by gang: evicted as stale
  std::vector<bool> excluded_;    // by gang: not to be placed, since it is to be evicted or cannot be bound
  std::vector<GangIndex> unfinished_;
  bool is_complete_ = false, has_left_claims_ = false;
  std::function<void(Candidate)> on_placed_;
  std::unique_ptr<Attempt> attempt_;  // the last one
};

}  // namespace muster::greedy
