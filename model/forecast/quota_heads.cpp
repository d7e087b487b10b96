#include "model/forecast/quota_heads.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/base/code_table.h"
#include "model/base/saturating.h"
#include "model/base/semantics.h"

namespace muster::forecast {

namespace {

constexpr CodeTable<StartObstacle, kStartObstacles> kObstacles = {{{StartObstacle::kQuota, "Quota"},
                                                                   {StartObstacle::kLimit, "Limit"},
                                                                   {StartObstacle::kNodes, "Nodes"},
                                                                   {StartObstacle::kDevices, "Devices"},
                                                                   {StartObstacle::kResources, "Resources"},
                                                                   {StartObstacle::kReserved, "Reserved"},
                                                                   {StartObstacle::kOther, "Other"}}};
static_assert(is_in_order(kObstacles));

}  // namespace

std::string_view start_obstacle_text(StartObstacle obstacle) { return text_of(kObstacles, obstacle); }

std::optional<StartObstacle> find_start_obstacle(std::string_view text) { return code_of(kObstacles, text); }

namespace {

bool exceeds(const QueueAmounts& used, const QueueAmounts& more, const QueueAmounts& most) {
  for (std::size_t i = 0; i < kQueueResources; ++i) {
    if (more[i] > 0 && most[i] != kUnlimited && saturating_add(used[i], more[i]) > most[i]) return true;
  }
  return false;
}

}  // namespace

void QueueDemand::add(const Problem& problem, const Gang& gang, const PodClass& pod_class, const QueueAmounts& of_pod) {
  QueueDemand one{of_pod, {}};
  if (!gang.queue.is_none()) {
    for (const OtherLimitIndex limit : problem.queues[gang.queue].other_limits)
      one.limited.push_back(pod_class.request[problem.lists.other_limits[limit].resource.value()]);
  }
  add(one);
}

void QueueDemand::add(const QueueDemand& more) {
  for (std::size_t i = 0; i < kQueueResources; ++i) amounts[i] = saturating_add(amounts[i], more.amounts[i]);
  limited.resize(std::max(limited.size(), more.limited.size()), 0);
  for (std::size_t i = 0; i < more.limited.size(); ++i) limited[i] = saturating_add(limited[i], more.limited[i]);
}

QueueSlack::QueueSlack(const Problem& problem)
    : problem_(problem),
      usage_(problem.queues.size(), QueueAmounts{}),
      non_preemptible_usage_(problem.queues.size(), QueueAmounts{}),
      limited_(problem.lists.other_limits.size(), 0) {
  for (const QueueIndex queue : problem.queues.indices())
    non_preemptible_usage_[queue] = problem.queues[queue].core_usage;
}

std::optional<StartObstacle> QueueSlack::obstacle(const Gang& gang, const QueueDemand& demand) const {
  const QueueAmounts& amounts = demand.amounts;
  const bool within_quota = !gang.preemptible && problem_.snapshot->policy.non_preemptible_within_quota;
  for (const QueueIndex at : problem_.queues[gang.queue].ancestors) {
    const Queue& queue = problem_.queues[at];
    if (within_quota && exceeds(non_preemptible_usage_[at], amounts, queue.quota)) return StartObstacle::kQuota;
    if (exceeds(usage_[at], amounts, queue.limit)) return StartObstacle::kLimit;
  }
  for (std::size_t i = 0; i < demand.limited.size(); ++i) {
    const OtherLimitIndex limit = problem_.queues[gang.queue].other_limits[i];
    const Amount more = demand.limited[i];
    if (more > 0 && saturating_add(limited_[limit], more) > problem_.lists.other_limits[limit].limit)
      return StartObstacle::kLimit;
  }
  return std::nullopt;
}

void QueueSlack::change(const Gang& gang, const QueueDemand& demand, int sign) {
  if (gang.queue.is_none()) return;
  for (const QueueIndex at : problem_.queues[gang.queue].ancestors) {
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      usage_[at][i] = saturating_add(usage_[at][i], sign * demand.amounts[i]);
      if (!gang.preemptible)
        non_preemptible_usage_[at][i] = saturating_add(non_preemptible_usage_[at][i], sign * demand.amounts[i]);
    }
  }
  for (std::size_t i = 0; i < demand.limited.size(); ++i) {
    Amount& limited = limited_[problem_.queues[gang.queue].other_limits[i]];
    limited = saturating_add(limited, sign * demand.limited[i]);
  }
}

MicroGpu QueueSlack::quota_left(QueueIndex queue) const {
  return saturating_subtract(problem_.queues[queue].quota[kQueueGpu], non_preemptible_usage_[queue][kQueueGpu]);
}

namespace {

constexpr MicroGpu kLarge = kSemantics.head_gpus * 1'000'000;

}  // namespace

QuotaHeads::QuotaHeads(const Problem& problem, const QueueSlack& room)
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

namespace {

// Of a group: the pods that complete its minimum.
struct Completion {
  bool is_possible = true;
  Work work = 0;
  std::vector<PodIndex> pods;
};

class Completions {
 public:
  Completions(const Problem& problem, const EndState& end) : problem_(problem), end_(end) {}

  // Groups of a gang are adjacent, parents first: from the back, children are known before their parents.
  Completion of(const Gang& gang) const {
    if (gang.groups.size() == 1) return of_leaf(problem_.groups[gang.root]);
    std::vector<std::vector<Completion>> of_children(gang.groups.size());
    for (std::size_t i = gang.groups.size(); i-- > 0;) {
      const Group& group = problem_.groups[gang.groups[i]];
      Completion completion = group.is_leaf() ? of_leaf(group) : of_inner(group, of_children[i]);
      if (group.parent.is_none()) return completion;
      of_children[group.parent.value() - gang.root.value()].push_back(std::move(completion));
    }
    return {};
  }

 private:
  bool is_there(PodIndex pod) const {
    return end_.is_present(pod) || problem_.pods[pod].status == PodStatus::kSucceeded;
  }
  bool may_start(PodIndex pod) const {
    const PodStatus status = problem_.pods[pod].status;
    return (status == PodStatus::kPending || status == PodStatus::kRunning) && !end_.is_present(pod);
  }
  Work work(PodIndex pod) const { return problem_.class_of(pod).work; }

  Completion of_leaf(const Group& group) const {
    Completion completion;
    std::ptrdiff_t missing = group.minimum;
    for (const PodIndex pod : group.pods) {
      if (is_there(pod)) --missing;
      if (may_start(pod)) completion.pods.push_back(pod);
    }
    completion.is_possible = missing <= std::ssize(completion.pods);
    if (missing < std::ssize(completion.pods)) {
      std::ranges::stable_sort(completion.pods, {}, [&](PodIndex pod) { return work(pod); });
      completion.pods.resize(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, missing)));
    }
    for (const PodIndex pod : completion.pods) completion.work = saturating_add(completion.work, work(pod));
    return completion;
  }

  static Completion of_inner(const Group& group, std::vector<Completion>& children) {
    std::ranges::stable_sort(children, {},
                             [](const Completion& child) { return std::pair(!child.is_possible, child.work); });
    Completion completion;
    const auto wanted = static_cast<std::size_t>(std::max(0, group.minimum));
    completion.is_possible = wanted <= children.size();
    children.resize(std::min(wanted, children.size()));
    for (const Completion& child : children) {
      completion.is_possible = completion.is_possible && child.is_possible;
      completion.work = saturating_add(completion.work, child.work);
      completion.pods.insert(completion.pods.end(), child.pods.begin(), child.pods.end());
    }
    return completion;
  }

  const Problem& problem_;
  const EndState& end_;
};

}  // namespace

std::optional<GangDemand> demand_of(const Problem& problem, const EndState& end, const Gang& gang) {
  Completion completion = Completions(problem, end).of(gang);
  if (!completion.is_possible || completion.pods.empty()) return std::nullopt;
  std::ranges::sort(completion.pods, {},
                    [&](PodIndex pod) { return std::pair(-problem.class_of(pod).work, problem.pods[pod].pod_class); });
  GangDemand demand;
  for (const PodIndex pod : completion.pods) {
    const PodClassIndex pod_class = problem.pods[pod].pod_class;
    if (demand.pods.empty() || demand.pods.back().pod_class != pod_class) demand.pods.push_back({pod_class, 0});
    ++demand.pods.back().pods;
    const PodClass& c = problem.pod_classes[pod_class];
    const QueueAmounts one = {c.smallest_gpu_usage, c.request[kCpu.value()], c.request[kMemory.value()]};
    demand.of_queue.add(problem, gang, c, one);
  }
  return demand;
}

}  // namespace muster::forecast
