#include "model/objective/fair_share.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/problem/work.h"

namespace muster {
namespace {

// The unit of rounding: a whole GPU, a thousandth of a core, a byte.
constexpr std::array<Amount, kQueueResources> kUnit{1'000'000, 1, 1};

// One of the queues that divide an amount of one resource among themselves.
struct Claim {
  QueueIndex queue;
  std::int32_t priority = 0;
  Amount quota = 0;  // kUnlimited
  Amount requestable = 0;
  Wide weight = 0;  // scaled to an integer
  Amount share = 0;
  Wide cut_off = 0;  // of the last round, in 1/(sum of weights) of the resource
  Amount lack() const { return requestable - share; }
  bool takes_part() const { return weight > 0 && lack() > 0; }
};

// Weights have at most six decimal places; their size and number are limited so that no product exceeds 128 bits.
Wide scaled_weight(double weight) {
  constexpr double kScale = 1e6, kMost = 1e15;
  if (!(weight > 0)) return 0;
  return static_cast<Wide>(std::clamp(std::floor(weight * kScale + 0.5), 1.0, kMost));
}

Amount give_quotas(std::vector<Claim>& claims, Amount total) {
  Amount remaining = total;
  for (Claim& claim : claims) {
    claim.share = std::min(claim.quota == kUnlimited ? total : claim.quota, claim.requestable);
    remaining = saturating_subtract(remaining, claim.share);
  }
  return std::max<Amount>(remaining, 0);
}

// One round among the claims of one priority. Returns whether some claim lacked less than was offered.
bool give_round(std::span<Claim*> claims, Amount unit, Amount& remaining) {
  Wide weights = 0;
  for (const Claim* claim : claims) weights += claim->takes_part() ? claim->weight : 0;
  if (weights == 0) return false;
  const Amount offered = remaining;
  bool someone_lacked_less = false;
  for (Claim* claim : claims) {
    if (!claim->takes_part()) continue;
    const Wide offer = offered * claim->weight;  // in 1/weights
    const Wide lack = claim->lack() * weights;
    const Wide whole_units = offer / (weights * unit);
    const Amount given = lack <= offer ? claim->lack() : static_cast<Amount>(whole_units) * unit;
    claim->cut_off = lack <= offer ? 0 : offer - whole_units * weights * unit;
    someone_lacked_less = someone_lacked_less || lack < offer;
    claim->share += given;
    remaining -= given;
  }
  return someone_lacked_less;
}

void give_left_over(std::span<Claim*> claims, Amount unit, Amount& remaining) {
  std::vector<Claim*> order(claims.begin(), claims.end());
  std::ranges::stable_sort(order, std::greater<>{}, &Claim::cut_off);
  for (Claim* claim : order) {
    if (claim->cut_off == 0 || remaining == 0) return;
    const Amount given = std::min(unit, remaining);
    claim->share += given;
    remaining -= given;
  }
}

// Calls `body` for the claims of each priority, highest first, in the snapshot's order within.
void for_each_priority(std::vector<Claim>& claims, const std::function<void(std::span<Claim*>)>& body) {
  std::vector<Claim*> order;
  for (Claim& claim : claims) order.push_back(&claim);
  std::ranges::stable_sort(order, std::greater<>{}, &Claim::priority);
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && order[end]->priority == order[begin]->priority) ++end;
    body(std::span(order).subspan(begin, end - begin));
  }
}

void divide(std::vector<Claim>& claims, Amount total, Amount unit) {
  Amount remaining = give_quotas(claims, total);
  for_each_priority(claims, [&](std::span<Claim*> equals) {
    while (remaining > 0 && give_round(equals, unit, remaining)) {
    }
  });
  for_each_priority(claims, [&](std::span<Claim*> equals) { give_left_over(equals, unit, remaining); });
}

void add(QueueAmounts& sum, const QueueAmounts& amounts) {
  for (std::size_t i = 0; i < kQueueResources; ++i) sum[i] = saturating_add(sum[i], amounts[i]);
}

// Usage plus all pending requests (without gated pods), of leaves; a queue's own limit bounds it, inner queues sum
// their leaves.
Indexed<QueueIndex, QueueAmounts> requestable_of(const Problem& problem) {
  Indexed<QueueIndex, QueueAmounts> of_pods(problem.queues.size()), result(problem.queues.size());
  for (const Pod& pod : problem.pods) {
    const Gang& gang = problem.gangs[pod.gang];
    if (!gang.queue_is_leaf) continue;
    const PodClass& pod_class = problem.pod_classes[pod.pod_class];
    if (pod.status == PodStatus::kRunning) add(of_pods[gang.queue], queue_usage(pod_class, problem.class_of(pod.node)));
    if (pod.status == PodStatus::kPending) {
      add(of_pods[gang.queue],
          {pod_class.smallest_gpu_usage, pod_class.request[kCpu.value()], pod_class.request[kMemory.value()]});
    }
  }
  for (const QueueIndex queue : problem.queues.indices()) {
    for (const QueueIndex ancestor : problem.queues[queue].ancestors) add(result[ancestor], of_pods[queue]);
  }
  for (const QueueIndex queue : problem.queues.indices()) {
    const QueueAmounts& limit = problem.queues[queue].limit;
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      if (limit[i] != kUnlimited) result[queue][i] = std::min(result[queue][i], limit[i]);
    }
  }
  return result;
}

void divide_among(const Problem& problem, const std::vector<QueueIndex>& siblings, const QueueAmounts& total,
                  FairShares& shares) {
  for (std::size_t i = 0; i < kQueueResources; ++i) {
    std::vector<Claim> claims;
    for (const QueueIndex index : siblings) {
      const Queue& queue = problem.queues[index];
      claims.push_back(
          {index, queue.priority, queue.quota[i], shares.requestable[index][i], scaled_weight(queue.weight[i])});
    }
    divide(claims, total[i], kUnit[i]);
    for (const Claim& claim : claims) shares.share[claim.queue][i] = claim.share;
  }
}

std::array<Work, 2> as_work(const Problem& problem, const QueueAmounts& amounts) {
  return {amounts[kQueueGpu] / 1'000, dominant_share_work(amounts[kQueueCpu], amounts[kQueueMemory], problem.total,
                                                          problem.objective.total_gpu_work)};
}

}  // namespace

FairShares compute_fair_shares(const Problem& problem) {
  FairShares shares;
  shares.share.resize(problem.queues.size());
  shares.share_work.resize(problem.queues.size());
  shares.quota_work.resize(problem.queues.size());
  shares.requestable = requestable_of(problem);
  MUSTER_REQUIRE_SLOW(std::ranges::all_of(shares.requestable, [](const QueueAmounts& amounts) {
    return std::ranges::all_of(amounts, [](std::int64_t amount) { return amount >= 0; });
  }));
  divide_among(problem, root_queues(problem), problem.total, shares);
  std::vector<QueueIndex> open = root_queues(problem);
  for (std::size_t at = 0; at < open.size(); ++at) {
    const std::vector<QueueIndex>& children = problem.queues[open[at]].children;
    divide_among(problem, children, shares.share[open[at]], shares);
    open.insert(open.end(), children.begin(), children.end());
  }
  for (const QueueIndex index : problem.queues.indices()) {
    QueueAmounts quota = problem.queues[index].quota;
    for (std::size_t i = 0; i < kQueueResources; ++i) quota[i] = quota[i] == kUnlimited ? problem.total[i] : quota[i];
    shares.share_work[index] = as_work(problem, shares.share[index]);
    shares.quota_work[index] = as_work(problem, quota);
  }
  return shares;
}

}  // namespace muster
