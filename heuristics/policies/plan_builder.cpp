#include "heuristics/policies/plan_builder.h"

#include <algorithm>

#include "heuristics/state/groups.h"
#include "heuristics/state/plan_of.h"

namespace muster::policies {
namespace {

placement::NodeRule node_rule(const Problem& problem) {
  return problem.snapshot->policy.placement == PlacementPolicy::kSpread ? placement::NodeRule::kSpread
                                                                        : placement::NodeRule::kBestFit;
}

}  // namespace

NodeIndex AdmittedNodes::choose(PodIndex pod, std::span<const NodeIndex> among) {
  const NodeIndex best = NodeChooser::choose(pod, among);
  if (best.is_none() || reservations_.admits(pod, best)) return best;
  std::vector<NodeIndex> admitted;
  const auto add = [&](NodeIndex node) {
    if (reservations_.admits(pod, node)) admitted.push_back(node);
  };
  if (among.empty()) {
    for (const NodeIndex node : nodes_) add(node);
  } else {
    for (const NodeIndex node : among) add(node);
  }
  return admitted.empty() ? NodeIndex::none() : NodeChooser::choose(pod, admitted);
}

PlanBuilder::PlanBuilder(const Problem& problem, const FairShares& shares)
    : problem_(problem),
      state_(problem, ClusterState::Releasing::kFreed),
      bounds_(queue_bounds(problem, state_)),
      rules_(problem, shares, state_),
      reservations_(problem, state_, bounds_),
      chooser_(state_, bounds_, node_rule(problem), reservations_),
      placer_(state_, bounds_, chooser_),
      room_({rules_, placer_, no_stop_, settle_stale()}) {}

std::vector<GangIndex> PlanBuilder::waiting() const {
  std::vector<GangIndex> gangs;
  for (const GangIndex gang : problem_.gangs.indices()) {
    const auto waits = [&](PodIndex pod) { return fit::is_pending(problem_.pods[pod]) && !state_.is_present(pod); };
    if (placer_.may_place(gang) && std::ranges::any_of(problem_.gangs[gang].pods, waits)) gangs.push_back(gang);
  }
  std::ranges::stable_sort(gangs, std::ranges::greater(),
                           [&](GangIndex gang) { return problem_.gangs[gang].times.waited_seconds; });
  return gangs;
}

bool PlanBuilder::place_minimum(GangIndex gang) {
  if (is_satisfied(state_, gang)) return true;
  const std::optional<Shape> shape = shape_of(gang);
  if (shape && misfits_.contains(*shape)) return false;
  if (fit::min_resources(state_, gang) && keep_rules(gang, [&] { return placer_.place_minimum(gang); })) return true;
  if (shape) misfits_.insert(*shape);
  return false;
}

void PlanBuilder::grow(const std::vector<GangIndex>& gangs) {
  for (const GangIndex gang : gangs) {
    while (is_satisfied(state_, gang) && keep_rules(gang, [&] { return placer_.place_one_more(gang); })) {
    }
  }
}

bool PlanBuilder::claim_minimum(GangIndex gang) {
  if (!problem_.snapshot->policy.actions.place) return false;
  const std::optional<Shape> shape = shape_of(gang);
  if (shape && refused_.contains(*shape)) return false;
  if (room_.claim_minimum(gang, 0)) {
    misfits_.clear();
    return true;
  }
  if (shape) refused_.insert(*shape);
  return false;
}

bool PlanBuilder::reserve(GangIndex gang) {
  if (!reservations_.reserve(gang)) return false;
  misfits_.clear();  // counts of heads mean other heads now
  return true;
}

Plan PlanBuilder::plan() {
  room_.reprieve();
  return plan_of(problem_, state_, room_.context().ledger.evictions());
}

std::optional<PlanBuilder::Shape> PlanBuilder::shape_of(GangIndex index) const {
  const Gang& gang = problem_.gangs[index];
  if (gang.groups.size() > 1 || gang.pods.empty()) return std::nullopt;
  if (gang.asks_for_min_resources()) return std::nullopt;
  const PodClassIndex pod_class = problem_.pods[gang.pods.front()].pod_class;
  const auto is_plain = [&](PodIndex pod) {
    return problem_.pods[pod].pod_class == pod_class && fit::is_pending(problem_.pods[pod]) && !state_.is_present(pod);
  };
  if (!std::ranges::all_of(gang.pods, is_plain)) return std::nullopt;
  const Group& root = problem_.groups[gang.root];
  return Shape{gang.queue,
               gang.preemptible,
               gang.priority,
               pod_class,
               root.required_level,
               root.minimum,
               reservations_.outlasted(index)};
}

MicroGpu PlanBuilder::gpus_of_queue(GangIndex gang) const {
  return state_.queues().usage()[problem_.gangs[gang].queue][kQueueGpu];
}

// Places pods, but not in a way that invalidates evictions already decided, or that takes what heads need.
template <class Place>
bool PlanBuilder::keep_rules(GangIndex gang, const Place& place) {
  const auto before = state_.checkpoint();
  const MicroGpu used = gpus_of_queue(gang);
  if (place() && (!room_.context().ledger.has_evicted() || room_.context().rules_hold()) &&
      reservations_.count(gang, gpus_of_queue(gang) - used))
    return true;
  state_.rollback(before);
  return false;
}

// Stale gangs are completed, or evicted.
std::vector<PlannedEviction> PlanBuilder::settle_stale() {
  std::vector<PlannedEviction> gone;
  if (!problem_.snapshot->policy.actions.stale) return gone;
  for (const GangIndex gang : problem_.gangs.indices()) {
    if (!problem_.gangs[gang].stale) continue;
    if (placer_.may_place(gang) && placer_.place_minimum(gang)) continue;
    for (const PodIndex pod : problem_.gangs[gang].pods) {
      if (!state_.is_present(pod)) continue;
      state_.take(pod);
      gone.push_back({pod, EvictionReason::kStale, GangIndex::none()});
    }
  }
  return gone;
}

}  // namespace muster::policies
