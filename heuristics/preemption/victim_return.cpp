#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/preemption/settling.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/base/saturating.h"
#include "model/problem/eviction_loss.h"

namespace muster::preemption {

namespace {

// Gangs with an evicted pod that is not placed again, the greatest loss first.
std::vector<GangIndex> evicted_gangs(const PreemptionContext& context, const std::vector<PodIndex>& pods) {
  std::map<GangIndex, Work> lost;
  for (const PodIndex pod : pods) {
    if (context.state.is_present(pod)) continue;
    Work& loss = lost[context.problem.pods[pod].gang];
    loss = saturating_add(loss, evicted_value(context.problem.pods[pod]));
  }
  std::vector<std::tuple<std::int64_t, Work, GangIndex>> ranked;
  for (const auto& [gang, work] : lost)
    ranked.emplace_back(-std::int64_t{context.problem.gangs[gang].priority}, -work, gang);
  std::ranges::sort(ranked);
  std::vector<GangIndex> gangs;
  for (const auto& [priority, work, gang] : ranked) gangs.push_back(gang);
  return gangs;
}

// Makes the change unless it fails, or what follows from it does not hold; then nothing has changed.
template <class Change, class Holds>
bool keep_if(PreemptionContext& context, const Change& change, const Holds& holds) {
  const auto before = context.state.checkpoint();
  if (change() && holds()) return true;
  context.state.rollback(before);
  return false;
}

// Whether the total of the resources that the claimant asks for is available. True if nothing has been claimed yet.
bool claimant_fits(PreemptionContext& context) {
  return context.claim.claimant.is_none() || context.min_resources_hold(context.claim.claimant);
}

bool is_out(const PreemptionContext& context, PodIndex pod) {
  return context.ledger.was_taken(pod) && !context.state.is_present(pod);
}

// Puts as many of the gang's evicted pods back as fit where they were: enough for its minimum, or all, or none.
bool bring_back(PreemptionContext& context, GangIndex gang) {
  bool any = false, all = true;
  const auto put_all = [&] {
    for (const PodIndex pod : context.problem.gangs[gang].pods) {
      if (!is_out(context, pod)) continue;
      const bool is_back = put_back(context.state, context.bounds, pod);
      any = any || is_back;
      all = all && is_back;
    }
    return any && (all || is_satisfied(context.state, gang));
  };
  return keep_if(context, put_all, [&] { return claimant_fits(context); });
}

// Puts back the evicted pods of the gang that its minimum needs and lets waiting pods complete it, then puts back the
// others that still fit; or changes nothing.
bool bring_back_completed(PreemptionContext& context, GangIndex gang) {
  const Problem& problem = context.problem;
  if (!context.placer.may_place(gang) || is_satisfied(context.state, gang) || !has_waiting_pod(context.state, gang))
    return false;
  const auto complete = [&] {
    bool any = false;
    for (const bool is_surplus : {false, true}) {
      for (const GroupIndex leaf : problem.gangs[gang].groups) {
        for (const PodIndex pod : problem.groups[leaf].pods) {
          if (!is_surplus && context.state.members(leaf) >= problem.groups[leaf].minimum) break;
          any = (is_out(context, pod) && put_back(context.state, context.bounds, pod)) || any;
        }
      }
      if (!is_surplus && !(any && context.placer.place_minimum(gang))) break;
    }
    return any && is_satisfied(context.state, gang);
  };
  if (!keep_if(context, complete, [&] { return claimant_fits(context); })) return false;
  context.ledger.note_gave_way(gang);
  return true;
}

bool bring_moved_back(PreemptionContext& context, const std::vector<PodIndex>& pods) {
  bool any = false;
  for (const PodIndex pod : pods) {
    if (!context.state.is_present(pod) || is_home(context.state, pod)) continue;
    const auto go_home = [&] {
      context.state.take(pod);
      return put_back(context.state, context.bounds, pod);
    };
    any = keep_if(context, go_home, [&] { return claimant_fits(context); }) || any;
  }
  return any;
}

// Moves the gang's evicted pods to other nodes, except those that fit where they were: as many as it needs to keep its
// minimum, or none.
bool move_elsewhere(PreemptionContext& context, GangIndex gang) {
  if (!fit::may_start(context.problem.gangs[gang]) || !fit::queue_exists(context.problem.gangs[gang])) return false;
  const auto move = [&] {
    bool any = false;
    for (const PodIndex pod : context.problem.gangs[gang].pods) {
      if (!is_out(context, pod)) continue;
      const bool may_fit = fits_total(context.state, context.problem.class_of(pod)) && context.ledger.may_move_more(1);
      any = put_back(context.state, context.bounds, pod) || (may_fit && context.placer.place_pod(pod)) || any;
    }
    return any;
  };
  return keep_if(context, move, [&] { return is_satisfied(context.state, gang); });
}

}  // namespace

// A victim of earlier claims that could not come back or move then cannot do so now unless some node has more free
// capacity than it had.
void settle_victims(PreemptionContext& context) {
  const bool all = context.watch.has_grown() || !context.ledger.is_local();
  std::vector<PodIndex> pods = all ? context.ledger.taken() : context.ledger.taken_in_attempt();
  // A victim that comes back leaves the node to which it was moved, so others may follow.
  const bool may_move = context.problem.snapshot->policy.actions.consolidate;
  for (bool again = true; again;) {
    for (const GangIndex gang : evicted_gangs(context, pods)) {
      if (!bring_back(context, gang)) bring_back_completed(context, gang);
    }
    again = bring_moved_back(context, pods);
    if (again) pods = context.ledger.taken();
    if (again || !may_move) continue;
    for (const GangIndex gang : evicted_gangs(context, pods)) again = move_elsewhere(context, gang) || again;
  }
  context.watch.has_grown();
}

void place_again(PreemptionContext& context) {
  for (const GangIndex gang : std::vector<GangIndex>(context.ledger.gave_way())) {
    const auto before = context.state.checkpoint();
    const bool placed =
        is_satisfied(context.state, gang) ? context.placer.place_one_more(gang) : context.placer.place_minimum(gang);
    if (placed && !context.rules_hold()) context.state.rollback(before);
  }
}

// Placements since the pod was evicted may have removed the obstacle to its return.
void bring_victims_back(PreemptionContext& context) {
  const auto keeps = [&](const auto& change) { return keep_if(context, change, [&] { return context.rules_hold(); }); };
  const std::vector<PodIndex> pods = context.ledger.taken();
  for (bool again = !pods.empty(); again;) {
    again = keeps([&] { return bring_moved_back(context, pods); });
    for (const GangIndex gang : evicted_gangs(context, pods))
      again = keeps([&] { return bring_back(context, gang); }) || again;
    // If not all pods of a gang may come back, each may do so by itself as long as the gang keeps its minimum.
    for (const PodIndex pod : pods) {
      const GangIndex gang = context.problem.pods[pod].gang;
      if (context.state.is_present(pod) || context.problem.gangs[gang].pods.size() == 1 ||
          !is_satisfied(context.state, gang))
        continue;
      again = keeps([&] { return put_back(context.state, context.bounds, pod); }) || again;
    }
  }
}

}  // namespace muster::preemption
