// Rules Limit and Quota: the usage of the queues after the plan, against their bounds.
#include "model/referee/case.h"

namespace muster::referee {
namespace {

// `bound` of every queue is kept, or the usage that counts against it does not grow.
void check_bound(Case& c, Rule rule, const Indexed<QueueIndex, QueueAmounts>& before,
                 const Indexed<QueueIndex, QueueAmounts>& after, QueueAmounts Queue::*bound) {
  for (const QueueIndex index : c.problem.queues.indices()) {
    const Queue& queue = c.problem.queues[index];
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      const Amount most = (queue.*bound)[r], is = after[index][r];
      if (most == kUnlimited || is <= most || is <= before[index][r]) continue;
      c.object(rule, queue.name,
               std::string(queue_resource_name(r)) +
                   (rule == Rule::kLimit ? ": limit " : ": quota for non-preemptible pods ") +
                   queue_amount_text(r, most) + ", but " + queue_amount_text(r, is) + " would be in use, up from " +
                   queue_amount_text(r, before[index][r]));
    }
  }
}

}  // namespace

void check_limit(Case& c) {
  check_bound(c, Rule::kLimit, c.sums.before.all, c.sums.after.all, &Queue::limit);
  for (const OtherLimitIndex index : c.problem.lists.other_limits.indices()) {
    const OtherLimit& limit = c.problem.lists.other_limits[index];
    const Amount before = c.sums.before.limited[index], is = c.sums.after.limited[index];
    if (is <= limit.limit || is <= before) continue;
    c.object(Rule::kLimit, c.problem.queues[limit.queue].name,
             std::string(c.snapshot.resource_names[limit.resource]) + ": limit " + std::to_string(limit.limit) +
                 ", but " + std::to_string(is) + " would be in use, up from " + std::to_string(before));
  }
}

void check_quota(Case& c) {
  if (!c.snapshot.policy.non_preemptible_within_quota) return;
  check_bound(c, Rule::kQuota, c.sums.before.non_preemptible, c.sums.after.non_preemptible, &Queue::quota);
}

}  // namespace muster::referee
