// Rule Reclaim: what one queue may take from another.
#include <algorithm>
#include <map>

#include "model/base/saturating.h"
#include "model/referee/case.h"

namespace muster::referee {
namespace {

using Asked = std::array<bool, kQueueResources>;

// From the claimant's leaf up to its side.
std::vector<QueueIndex> claimant_path(const Case& c, const Displacement& displacement, QueueIndex side) {
  std::vector<QueueIndex> path;
  for (QueueIndex at = c.problem.gangs[displacement.claimant].queue; !at.is_none(); at = c.problem.queues[at].parent) {
    path.push_back(at);
    if (at == side) break;
  }
  return path;
}

bool any_above(const QueueAmounts& is, const QueueAmounts& bound, const Asked& asked) {
  for (std::size_t r = 0; r < kQueueResources; ++r) {
    if (asked[r] && bound[r] != kUnlimited && is[r] > bound[r]) return true;
  }
  return false;
}

// A requested resource in which `is` exceeds `bound`, in words.
std::string excess_text(const QueueAmounts& is, const QueueAmounts& bound, const Asked& asked) {
  for (std::size_t r = 0; r < kQueueResources; ++r) {
    if (asked[r] && bound[r] != kUnlimited && is[r] > bound[r]) {
      return std::string(queue_resource_name(r)) + " " + queue_amount_text(r, is[r]) + " of " +
             queue_amount_text(r, bound[r]);
    }
  }
  return {};
}

QueueAmounts sum_of(const QueueAmounts& a, const QueueAmounts& b) {
  QueueAmounts sum = a;
  for (std::size_t r = 0; r < kQueueResources; ++r) sum[r] = saturating_add(sum[r], b[r]);
  return sum;
}

// The pods with the least work that make up the gang's minimum, of those that ran before the plan (succeeded ones count
// at no cost); all that ran if they do not make it up. `Pod::weighted_work` is used only for this order.
std::vector<PodIndex> core_of(const Case& c, const Gang& gang) {
  struct Choice {
    Work work = 0;
    std::vector<PodIndex> pods;
  };
  std::map<GroupIndex, std::vector<Choice>> open;  // by group: what its children (or pods) offer
  std::vector<PodIndex> running;
  for (const PodIndex pod : gang.pods) {
    if (c.runs(pod)) running.push_back(pod);
    if (c.runs(pod)) open[c.problem.pods[pod].group].push_back({c.problem.pods[pod].weighted_work, {pod}});
    if (c.succeeded(pod)) open[c.problem.pods[pod].group].push_back({0, {}});
  }
  for (std::size_t i = gang.groups.size(); i-- > 0;) {  // children before parents
    const Group& group = c.problem.groups[gang.groups[i]];
    const auto needed = static_cast<std::size_t>(std::max(group.minimum, 0));
    std::vector<Choice>& offers = open[gang.groups[i]];
    if (offers.size() < needed) {
      if (group.parent.is_none()) return running;
      continue;
    }
    std::ranges::stable_sort(offers, {}, &Choice::work);
    Choice all;
    for (std::size_t k = 0; k < needed; ++k) {
      all.work = saturating_add(all.work, offers[k].work);
      all.pods.insert(all.pods.end(), offers[k].pods.begin(), offers[k].pods.end());
    }
    if (group.parent.is_none()) return all.pods;
    open[group.parent].push_back(std::move(all));
  }
  return running;
}

void take_larger(QueueAmounts& largest, const QueueAmounts& amounts) {
  for (std::size_t r = 0; r < kQueueResources; ++r) largest[r] = std::max(largest[r], amounts[r]);
}

// By side: per resource, the largest unit that is reclaimed from it. Of a gang that is evicted whole its core is one
// unit, every other evicted pod is a unit by itself.
Indexed<QueueIndex, QueueAmounts> largest_units_reclaimed(const Case& c) {
  Indexed<QueueIndex, QueueAmounts> largest(c.problem.queues.size(), QueueAmounts{});
  for (const GangIndex index : c.evicted_gangs) {
    const Gang& gang = c.problem.gangs[index];
    const auto side_of = [&](PodIndex pod) {
      const Eviction* eviction = c.eviction[pod];
      const bool reclaimed =
          c.is_lost(pod) && eviction->reason == EvictionReason::kReclaim && !eviction->for_gang.is_none();
      return reclaimed ? sides_of(c, {index, eviction->for_gang}).victim : QueueIndex::none();
    };
    if (std::ranges::all_of(gang.pods, [&](PodIndex pod) { return side_of(pod).is_none(); })) continue;
    std::vector<PodIndex> core;
    if (!has_minimum_after(c, gang)) core = core_of(c, gang);
    std::ranges::sort(core);
    QueueAmounts together{};
    for (const PodIndex pod : core) together = sum_of(together, usage_on(c, pod, c.node_before(pod)));
    for (const PodIndex pod : gang.pods) {
      const QueueIndex side = side_of(pod);
      if (side.is_none()) continue;
      const bool in_core = std::ranges::binary_search(core, pod);
      take_larger(largest[side], in_core ? together : usage_on(c, pod, c.node_before(pod)));
    }
  }
  return largest;
}

// A queue that takes from others stays within its share, and what is not preemptible within quota.
bool stays_within(const Case& c, const Displacement& displacement, QueueIndex side, const Asked& asked) {
  const Gang& claimant = c.problem.gangs[displacement.claimant];
  for (QueueIndex at = claimant.queue; !at.is_none(); at = c.problem.queues[at].parent) {
    if (any_above(c.sums.after.all[at], c.shares.share[at], asked)) return false;
    if (!claimant.preemptible && any_above(c.sums.after.non_preemptible[at], c.problem.queues[at].quota, asked))
      return false;
    if (at == side) break;
  }
  return true;
}

// Empty if it stays within these.
std::string greed_objection(const Case& c, const Displacement& displacement, QueueIndex side, const Asked& asked) {
  if (stays_within(c, displacement, side, asked)) return {};
  for (const QueueIndex queue : claimant_path(c, displacement, side)) {
    const std::string name = "queue \"" + std::string(c.problem.queues[queue].name) + "\" ";
    const std::string share = excess_text(c.sums.after.all[queue], c.shares.share[queue], asked);
    if (!share.empty()) return name + "would be above its fair share: " + share;
    if (c.problem.gangs[displacement.claimant].preemptible) continue;
    const std::string quota = excess_text(c.sums.after.non_preemptible[queue], c.problem.queues[queue].quota, asked);
    if (!quota.empty()) return name + "would be above its quota with non-preemptible pods: " + quota;
  }
  return {};
}

struct Grounds {
  bool share = false, quota = false;
};

Grounds grounds_of(const Case& c, const Sides& sides, const Asked& asked) {
  const QueueAmounts& claimant_quota = c.problem.queues[sides.claimant].quota;
  const QueueAmounts& victim_quota = c.problem.queues[sides.victim].quota;
  const bool was_over_quota = any_above(c.sums.before.all[sides.victim], victim_quota, asked);
  return {.share = any_above(c.sums.before.all[sides.victim], c.shares.share[sides.victim], asked),
          .quota = was_over_quota && !any_above(c.sums.after.all[sides.claimant], claimant_quota, asked)};
}

bool is_taken_too_low(const Case& c, const Sides& sides, const Grounds& grounds, const Asked& asked,
                      const QueueAmounts& largest_unit) {
  const QueueAmounts before_last = sum_of(c.sums.after.all[sides.victim], largest_unit);
  const bool share_holds = grounds.share && any_above(before_last, c.shares.share[sides.victim], asked);
  const bool quota_holds = grounds.quota && any_above(before_last, c.problem.queues[sides.victim].quota, asked);
  return !share_holds && !quota_holds;
}

bool is_reclaimable(const Case& c, GangIndex gang) {
  const QueueIndex queue = c.problem.gangs[gang].queue;
  return c.snapshot.queues.empty() || queue.is_none() || c.snapshot.queues[queue.value()].reclaimable;
}

std::string reclaim_objection(const Case& c, const Displacement& displacement,
                              const Indexed<QueueIndex, QueueAmounts>& largest) {
  const std::string who = c.quoted(displacement.claimant);
  const Sides sides = sides_of(c, displacement);
  if (sides.victim.is_none()) return "it is evicted for " + who + ", which must be in another leaf queue";
  if (c.problem.gangs[displacement.claimant].preemption_policy == PreemptionPolicy::kNever) {
    return "it is evicted for " + who + ", whose preemption policy is Never";
  }
  if (!gets_new_pod(c, displacement.claimant))
    return "it is evicted for " + who + ", but no pending pod of that gang is placed";
  if (!is_reclaimable(c, displacement.victim))
    return "it is evicted for " + who + ", but nothing may be reclaimed from its queue";
  const Asked asked = asked_for(c, displacement.claimant);
  const std::string greed = greed_objection(c, displacement, sides.claimant, asked);
  if (!greed.empty()) return "it is evicted for " + who + ", but " + greed;
  const Grounds grounds = grounds_of(c, sides, asked);
  const std::string side = "\"" + std::string(c.problem.queues[sides.victim].name) + "\"";
  if (!grounds.share && !grounds.quota)
    return "it is evicted for " + who + ", but queue " + side + " was within its fair share";
  if (is_taken_too_low(c, sides, grounds, asked, largest[sides.victim])) {
    return "it is evicted for " + who + ", but queue " + side +
           " loses more than needed: the largest reclaimed unit could stay";
  }
  return {};
}

}  // namespace

bool may_reclaim(const Case& c, const Displacement& displacement) {
  const Sides sides = sides_of(c, displacement);
  if (sides.victim.is_none() || !c.snapshot.policy.actions.reclaim) return false;
  if (c.problem.gangs[displacement.claimant].preemption_policy == PreemptionPolicy::kNever) return false;
  const Asked asked = asked_for(c, displacement.claimant);
  const Grounds grounds = grounds_of(c, sides, asked);
  return (grounds.share || grounds.quota) && gets_new_pod(c, displacement.claimant) &&
         stays_within(c, displacement, sides.claimant, asked);
}

Sides sides_of(const Case& c, const Displacement& displacement) {
  const QueueIndex claimant = c.problem.gangs[displacement.claimant].queue,
                   victim = c.problem.gangs[displacement.victim].queue;
  if (claimant.is_none() || victim.is_none() || claimant == victim) return {};
  const std::vector<QueueIndex>& claimant_line = c.problem.queues[claimant].ancestors;
  const std::vector<QueueIndex>& victim_line = c.problem.queues[victim].ancestors;
  std::size_t common = 0;  // from the root downwards
  while (common < claimant_line.size() && common < victim_line.size() &&
         claimant_line[claimant_line.size() - 1 - common] == victim_line[victim_line.size() - 1 - common]) {
    ++common;
  }
  if (common == claimant_line.size() || common == victim_line.size())
    return {};  // one is above the other: not both leaves
  return {claimant_line[claimant_line.size() - 1 - common], victim_line[victim_line.size() - 1 - common]};
}

ReclaimDuties reclaim_duties(const Case& c) {
  ReclaimDuties duties;
  duties.within_share.assign(c.problem.queues.size(), {});
  duties.within_quota.assign(c.problem.queues.size(), {});
  const auto add = [](Asked& duty, const Asked& asked) {
    for (std::size_t r = 0; r < kQueueResources; ++r) duty[r] = duty[r] || asked[r];
  };
  for (const Displacement& displacement : displacements(c, EvictionReason::kReclaim)) {
    const Sides sides = sides_of(c, displacement);
    if (sides.victim.is_none()) continue;
    const Asked asked = asked_for(c, displacement.claimant);
    for (const QueueIndex queue : claimant_path(c, displacement, sides.claimant))
      add(duties.within_share[queue], asked);
    if (!grounds_of(c, sides, asked).share) add(duties.within_quota[sides.claimant], asked);
  }
  return duties;
}

void check_reclaim(Case& c) {
  for (const Eviction& eviction : c.plan.evictions) {
    if (eviction.reason != EvictionReason::kReclaim || !eviction.for_gang.is_none()) continue;
    c.object(Rule::kReclaim, c.pod(eviction.pod).name, "it is reclaimed, but `for` names no gang");
  }
  const Indexed<QueueIndex, QueueAmounts> largest = largest_units_reclaimed(c);
  for (const Displacement& displacement : displacements(c, EvictionReason::kReclaim)) {
    const std::string objection = reclaim_objection(c, displacement, largest);
    if (!objection.empty()) c.object(Rule::kReclaim, c.problem.gangs[displacement.victim].name, objection);
  }
  check_protection(c, EvictionReason::kReclaim, Rule::kReclaim);
}

}  // namespace muster::referee
