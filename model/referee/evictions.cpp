// Rules Who, WholeGangs, Preempt, Consolidate and Stale: which pods may be evicted, how much of a gang, and why.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "model/base/saturating.h"
#include "model/base/words.h"
#include "model/referee/case.h"
#include "model/referee/least.h"

namespace muster::referee {
namespace {

bool gets_placement(const Case& c, GangIndex gang) { return std::ranges::binary_search(c.placed_gangs, gang); }

bool may_preempt(const Case& c, const Displacement& displacement) {
  const Gang& victim = c.problem.gangs[displacement.victim];
  const Gang& claimant = c.problem.gangs[displacement.claimant];
  return victim.queue == claimant.queue && !victim.queue.is_none() && claimant.priority > victim.priority &&
         claimant.preemption_policy != PreemptionPolicy::kNever && gets_new_pod(c, displacement.claimant);
}

// Empty if may_preempt.
std::string preempt_objection(const Case& c, const Displacement& displacement) {
  if (may_preempt(c, displacement)) return {};
  const Gang& victim = c.problem.gangs[displacement.victim];
  const Gang& claimant = c.problem.gangs[displacement.claimant];
  const std::string who = c.quoted(displacement.claimant);
  if (victim.queue != claimant.queue || victim.queue.is_none())
    return "it is evicted for " + who + ", which is in another queue";
  if (claimant.priority <= victim.priority) {
    return "its priority is " + std::to_string(victim.priority) + "; that of " + who + " must be higher, but is " +
           std::to_string(claimant.priority);
  }
  if (claimant.preemption_policy == PreemptionPolicy::kNever)
    return "it is evicted for " + who + ", whose preemption policy is Never";
  return "it is evicted for " + who + ", but no pending pod of that gang is placed";
}

// Before it is evicted for this, a pod of the victim must have run so long.
Nanoseconds min_runtime(const Case& c, const Displacement& displacement, EvictionReason reason) {
  const QueueIndex queue = c.problem.gangs[displacement.victim].queue;
  if (queue.is_none() || displacement.claimant.is_none()) return 0;
  if (reason == EvictionReason::kPreempt) return c.problem.queues[queue].preempt_min_runtime;
  if (reason != EvictionReason::kReclaim) return 0;
  const QueueIndex side = sides_of(c, displacement).victim;
  return side.is_none() ? 0 : c.problem.queues[side].reclaim_min_runtime;
}

Nanoseconds min_runtime(const Case& c, const Eviction& eviction) {
  return min_runtime(c, {c.problem.pods[eviction.pod].gang, eviction.for_gang}, eviction.reason);
}

// 0 if the snapshot does not say since when it runs.
Nanoseconds run_time(const Case& c, PodIndex pod) {
  return std::max<Nanoseconds>(0, saturating_subtract(c.snapshot.time, c.pod(pod).started.value_or(c.snapshot.time)));
}

// Of a gang whose pods may not leave one by one.
std::string disruption_objection(const Case& c, GangIndex index) {
  const SnapshotGang* source = c.snapshot_gang(index);
  const Gang& gang = c.problem.gangs[index];
  if (source == nullptr || source->disruption == Disruption::kPods) return {};
  const auto is_moved = [&c](PodIndex pod) { return c.eviction[pod] != nullptr && !c.is_lost(pod); };
  const auto stays = [&c](PodIndex pod) { return c.runs(pod) && c.eviction[pod] == nullptr; };
  const auto is_there = [&c](PodIndex pod) { return c.is_there_after(pod); };
  if (source->disruption == Disruption::kWhole) {
    if (std::ranges::any_of(gang.pods, is_moved)) return "a pod of it is moved, but it leaves as a whole or not at all";
    return std::ranges::any_of(gang.pods, is_there) ? "it loses pods, but not all: it leaves as a whole or not at all"
                                                    : "";
  }
  const auto is_stale_eviction = [&c](PodIndex pod) {
    return c.eviction[pod] == nullptr || c.eviction[pod]->reason == EvictionReason::kStale;
  };
  if (std::ranges::all_of(gang.pods, is_stale_eviction)) return {};
  if (minimum_met(c.problem, gang, [&](PodIndex pod) { return stays(pod) || c.succeeded(pod); })) return {};
  return "the pods of it that stay do not make up its minimum, which is never evicted or moved";
}

void check_stale_gang(Case& c, GangIndex index) {
  const Gang& gang = c.problem.gangs[index];
  if (has_minimum_after(c, gang)) return;
  const auto left = std::ranges::count_if(gang.pods, [&c](PodIndex pod) { return c.is_kept(pod); });
  if (left == 0) return;
  c.object(Rule::kStale, gang.name,
           "it has been below its minimum for its grace period and is not completed, but " + std::to_string(left) +
               " of its pods remain");
}

std::string stale_objection(const Case& c, const std::vector<GangIndex>& kept, const Eviction& eviction) {
  const GangIndex index = c.problem.pods[eviction.pod].gang;
  const Gang& gang = c.problem.gangs[index];
  if (!eviction.for_gang.is_none())
    return "it is evicted as stale, so `for` must be absent, but it names " + c.quoted(eviction.for_gang);
  if (!is_stale(c, index))
    return "it is evicted as stale, but gang " + c.quoted(index) +
           " has not been below its minimum for its grace period";
  if (has_minimum_after(c, gang)) return "it is evicted as stale, but the plan completes gang " + c.quoted(index);
  if (std::ranges::binary_search(kept, index))
    return "it is evicted as stale, but disruption budgets do not allow all of gang " + c.quoted(index) +
           " to be evicted";
  return {};
}

}  // namespace

std::vector<Displacement> displacements(const Case& c, EvictionReason reason) {
  std::vector<Displacement> pairs;
  for (const Eviction& eviction : c.plan.evictions) {
    if (eviction.reason != reason || eviction.for_gang.is_none()) continue;
    pairs.push_back({c.problem.pods[eviction.pod].gang, eviction.for_gang});
  }
  std::ranges::sort(pairs);
  pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  return pairs;
}

bool has_minimum_after(const Case& c, const Gang& gang) {
  return minimum_met(c.problem, gang, [&c](PodIndex pod) { return c.is_there_after(pod) || c.succeeded(pod); });
}

// If the snapshot does not give the start of that state, it has only just begun: with a grace period of zero the gang
// is stale immediately.
bool is_stale(const Case& c, GangIndex index) {
  const SnapshotGang* source = c.snapshot_gang(index);
  if (source == nullptr || source->staleness_grace_period == kNever)
    return false;  // a pod that runs alone is all its gang
  const Nanoseconds since = source->stale_since.value_or(c.snapshot.time);
  if (saturating_subtract(c.snapshot.time, since) < source->staleness_grace_period) return false;
  const Gang& gang = c.problem.gangs[index];
  if (std::ranges::none_of(gang.pods, [&c](PodIndex pod) { return c.runs(pod); })) return false;
  return !minimum_met(c.problem, gang, [&c](PodIndex pod) { return c.runs(pod) || c.succeeded(pod); });
}

// The pod runs and its gang is preemptible (stale excepted). A pod already releasing is not evicted.
void check_who(Case& c) {
  for (const Eviction& eviction : c.plan.evictions) {
    const std::string_view name = c.pod(eviction.pod).name;
    if (c.pod(eviction.pod).status == PodStatus::kReleasing) {
      c.object(Rule::kWho, name, "it is evicted, but is already releasing");
    } else if (!c.runs(eviction.pod)) {
      c.object(Rule::kWho, name, "it is evicted, but does not run");
    } else if (!c.gang_of(eviction.pod).preemptible && eviction.reason != EvictionReason::kStale) {
      c.object(Rule::kWho, name, "it is evicted, but its gang is not preemptible");
    }
  }
}

// A gang that loses pods has its minimum after the plan, counting all that runs, is moved or is placed, or nothing of
// it is left; or what its `disruption` asks for.
void check_whole_gangs(Case& c) {
  for (const GangIndex index : c.evicted_gangs) {
    const Gang& gang = c.problem.gangs[index];
    const std::string objection = disruption_objection(c, index);
    if (!objection.empty()) c.object(Rule::kWholeGangs, gang.name, objection);
    const auto lost = std::ranges::count_if(gang.pods, [&c](PodIndex pod) { return c.is_lost(pod); });
    const auto there = std::ranges::count_if(gang.pods, [&c](PodIndex pod) { return c.is_there_after(pod); });
    if (lost == 0 || there == 0 || has_minimum_after(c, gang)) continue;
    c.object(Rule::kWholeGangs, gang.name,
             "it loses " + counted(lost, "pod") + " and is left with " + std::to_string(there) +
                 ", which is below its minimum: evict all of them or none");
  }
}

// `for` is a gang of the same leaf queue, of strictly higher effective priority, with PreemptLowerPriority, that gets a
// placement; the victim has run preemptMinRuntime.
void check_preempt(Case& c) {
  for (const Eviction& eviction : c.plan.evictions) {
    if (eviction.reason != EvictionReason::kPreempt || !eviction.for_gang.is_none()) continue;
    c.object(Rule::kPreempt, c.pod(eviction.pod).name, "it is preempted, but `for` names no gang");
  }
  for (const Displacement& displacement : displacements(c, EvictionReason::kPreempt)) {
    const std::string objection = preempt_objection(c, displacement);
    if (!objection.empty()) c.object(Rule::kPreempt, c.problem.gangs[displacement.victim].name, objection);
  }
  check_protection(c, EvictionReason::kPreempt, Rule::kPreempt);
}

bool has_right(const Case& c, const Displacement& displacement, EvictionReason reason) {
  if (reason == EvictionReason::kReclaim) return may_reclaim(c, displacement);
  return c.snapshot.policy.actions.preempt && may_preempt(c, displacement);
}

bool is_protected(const Case& c, PodIndex pod, std::span<const PodIndex> unit, const Displacement& displacement,
                  EvictionReason reason) {
  const Nanoseconds least = min_runtime(c, displacement, reason);
  if (run_time(c, pod) >= least) return false;
  const auto is_young = [&](PodIndex other) {
    return run_time(c, other) < least && std::ranges::find(unit, other) != unit.end();
  };
  return !minimum_met(c.problem, c.problem.gangs[displacement.victim],
                      [&](PodIndex other) { return (c.runs(other) && !is_young(other)) || c.succeeded(other); });
}

// A surplus pod is never protected. In a gang that has its minimum after the plan, no evicted pod is protected; in one
// that is evicted whole, those that have run for too short a time may be the surplus, as long as the others made up its
// minimum.
void check_protection(Case& c, EvictionReason reason, Rule rule) {
  const auto is_young = [&c](PodIndex pod) {
    return c.is_lost(pod) && run_time(c, pod) < min_runtime(c, *c.eviction[pod]);
  };
  for (const GangIndex index : c.evicted_gangs) {
    const Gang& gang = c.problem.gangs[index];
    if (has_minimum_after(c, gang) || std::ranges::none_of(gang.pods, is_young)) continue;
    const auto is_core = [&](PodIndex pod) { return (c.runs(pod) && !is_young(pod)) || c.succeeded(pod); };
    if (minimum_met(c.problem, gang, is_core)) continue;
    for (const PodIndex pod : gang.pods) {
      if (!is_young(pod) || c.eviction[pod]->reason != reason) continue;
      c.object(rule, c.pod(pod).name,
               "it has run for " + std::to_string(run_time(c, pod) / kNanosecondsPerSecond) +
                   " s and is protected for " +
                   std::to_string(min_runtime(c, *c.eviction[pod]) / kNanosecondsPerSecond) + " s");
    }
  }
}

// The pod is placed again in the same plan; at most maxMoves in all; `for` is a gang that gets a placement. A pod that
// is evicted and placed again is always a move. The rules of placement check its new place.
void check_consolidate(Case& c) {
  std::int64_t moves = 0;
  for (const Eviction& eviction : c.plan.evictions) {
    const std::string_view name = c.pod(eviction.pod).name;
    const bool is_move = eviction.reason == EvictionReason::kConsolidate,
               is_placed = c.placement[eviction.pod] != nullptr;
    moves += is_placed ? 1 : 0;
    if (is_placed && !is_move)
      c.object(Rule::kConsolidate, name, "it is evicted and placed again, so its reason must be consolidate");
    if (!is_move) continue;
    if (!is_placed) c.object(Rule::kConsolidate, name, "it is evicted to be moved, but not placed again");
    if (eviction.for_gang.is_none() || !gets_placement(c, eviction.for_gang)) {
      c.object(Rule::kConsolidate, name, "it is moved, but `for` names no gang that gets a placement");
    }
  }
  const std::optional<std::int64_t>& most = c.snapshot.policy.max_moves;
  if (most && moves > *most) {
    c.object(Rule::kConsolidate, "maxMoves",
             counted(moves, "pod") + (moves == 1 ? " is" : " are") + " moved, but at most " + std::to_string(*most) +
                 " may be");
  }
}

// A gang that has been below its minimum for its grace period is evicted whole, unless the plan completes its minimum
// or disruption budgets keep it; no other gang is evicted for that reason.
void check_stale(Case& c) {
  const std::vector<GangIndex> kept = stale_gangs_kept_by_budgets(c);
  for (const Eviction& eviction : c.plan.evictions) {
    if (eviction.reason != EvictionReason::kStale) continue;
    const std::string objection = stale_objection(c, kept, eviction);
    if (!objection.empty()) c.object(Rule::kStale, c.pod(eviction.pod).name, objection);
  }
  if (!c.snapshot.policy.actions.stale) return;
  for (std::size_t g = 0; g < c.snapshot.gangs.size(); ++g) {
    if (is_stale(c, GangIndex(g)) && !std::ranges::binary_search(kept, GangIndex(g))) check_stale_gang(c, GangIndex(g));
  }
}

// What the pods that leave for a gang lose, in thousandths of a GPU x seconds, is at most the price x what it has
// waited.
void check_price(Case& c) {
  const std::optional<double>& price = c.snapshot.policy.over_time.eviction_price;
  if (!price) return;
  std::map<GangIndex, std::int64_t> lost;
  for (const Eviction& eviction : c.plan.evictions) {
    if (eviction.reason == EvictionReason::kStale || eviction.for_gang.is_none()) continue;
    const GangIndex victim = c.problem.pods[eviction.pod].gang;
    Nanoseconds at_stake = run_time(c, eviction.pod);
    const GangTerms* terms = terms_of(c.snapshot, c.problem, victim);
    if (terms != nullptr && terms->checkpointed)
      at_stake = std::min(at_stake, saturating_subtract(c.snapshot.time, *terms->checkpointed));
    const std::int64_t seconds = std::max<Nanoseconds>(1, at_stake / kNanosecondsPerSecond);
    std::int64_t& loss = lost[eviction.for_gang];
    loss = saturating_add(loss, saturating_multiply(c.problem.class_of(eviction.pod).work, seconds));
  }
  for (const auto& [index, loss] : lost) {
    const Gang& gang = c.problem.gangs[index];
    const Work work = least_for_minimum(c.problem, gang, [&c](PodIndex pod) { return c.problem.class_of(pod).work; });
    const Nanoseconds waited = waited_of(c.snapshot, c.problem, index);
    // One product of whole numbers and one with the price: what is equal is not told apart by rounding.
    const double most = *price * static_cast<double>(saturating_multiply(work, waited / kNanosecondsPerSecond));
    if (static_cast<double>(loss) <= most) continue;
    c.object(Rule::kPrice, gang.name,
             "what leaves for it loses " + std::to_string(loss / 1000) + " GPU seconds; at the price, it may be " +
                 std::to_string(static_cast<std::int64_t>(most / 1000)));
  }
}

}  // namespace muster::referee
