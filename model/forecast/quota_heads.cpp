#include "model/forecast/quota_heads.h"

#include <algorithm>

#include "model/base/saturating.h"
#include "model/base/tuning.h"

namespace muster::forecast {
namespace {

constexpr MicroGpu kLarge = kTuning.over_time.head_gpus * 1'000'000;

}  // namespace

QuotaHeads::QuotaHeads(const Problem& problem, const QueueRoom& room)
    : problem_(problem), room_(room), quotas_(problem.queues.size()) {}

void QuotaHeads::note_waiting(QueueIndex queue, MicroGpu gpus) {
  if (may_be_head(queue, gpus)) quotas_[queue].has_large = true;
}

bool QuotaHeads::may_be_head(QueueIndex queue, MicroGpu gpus) const {
  return !queue.is_none() && problem_.snapshot->policy.over_time.reserve_after != kNever && gpus >= kLarge &&
         gpus <= problem_.queues[queue].quota[kQueueGpu];
}

void QuotaHeads::note_running(QueueIndex queue, Nanoseconds end, MicroGpu gpus) {
  if (!queue.is_none() && quotas_[queue].has_large && gpus > 0) quotas_[queue].ends.emplace(end, gpus);
}

void QuotaHeads::note_ended(QueueIndex queue, Nanoseconds end, MicroGpu gpus) {
  if (queue.is_none() || !quotas_[queue].has_large) return;
  std::multimap<Nanoseconds, MicroGpu>& ends = quotas_[queue].ends;
  const auto [first, last] = ends.equal_range(end);
  const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second == gpus; });
  if (found != last) ends.erase(found);
}

void QuotaHeads::clear() {
  for (Quota& quota : quotas_) quota.has_head = false;
}

void QuotaHeads::propose(QueueIndex queue, MicroGpu gpus, Nanoseconds waited) {
  if (!may_be_head(queue, gpus) || waited < problem_.snapshot->policy.over_time.reserve_after) return;
  Quota& quota = quotas_[queue];
  MicroGpu room = room_.quota_left(queue);
  if (!quota.has_large || quota.has_head || gpus <= room) return;
  for (const auto& [time, back] : quota.ends) {
    if (quota.has_head && time > quota.start) break;
    room = saturating_add(room, back);
    if (room < gpus) continue;
    quota.has_head = true;
    quota.start = time;
  }
  quota.spare = room - gpus;
}

bool QuotaHeads::is_held_up(QueueIndex queue, Nanoseconds end, MicroGpu gpus) const {
  if (queue.is_none()) return false;
  const Quota& quota = quotas_[queue];
  return quota.has_head && end > quota.start && gpus > quota.spare;
}

void QuotaHeads::note_started(QueueIndex queue, Nanoseconds end, MicroGpu gpus) {
  if (queue.is_none()) return;
  Quota& quota = quotas_[queue];
  if (quota.has_head && end > quota.start) quota.spare -= gpus;
}

}  // namespace muster::forecast
