#include "model/objective/fair_share.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
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
  Wide past = 0;    // what its past usage takes off, in 1/kWhole of the sum of weights
  Amount share = 0;
  Wide turn_weight = 0;  // in the current round: what its past leaves of the weight
  Wide cut_off = 0;      // of the last round, in 1/(sum of weights) of the resource
  Amount lack() const { return requestable - share; }
  bool takes_part() const { return weight > 0 && lack() > 0; }
};

// Weights have at most six decimal places; their size and number are limited so that no product exceeds 128 bits.
Wide scaled_weight(double weight) {
  constexpr double kScale = 1e6, kMost = 1e15;
  if (!(weight > 0)) return 0;
  return static_cast<Wide>(std::clamp(std::floor(weight * kScale + 0.5), 1.0, kMost));
}

// Past usage is a part of this.
constexpr Wide kWhole = 1'000'000'000'000;

// Past usage of a resource by one queue: none if it is not told.
const std::optional<double>& past_usage_of(const SnapshotQueue& queue, std::size_t resource) {
  const std::array<const QueueResource*, kQueueResources> of{&queue.gpu, &queue.cpu, &queue.memory};
  return of[resource]->usage;
}

// Sets what past usage takes off: the time-based fair share of the KAI Scheduler, reimplemented; docs/semantics.md
// ("Past usage") has the differences. The whole that it is a part of is what the claims divide, or what they have used
// together if that is more, so that the parts of all add up to at most kWhole x k / (1 + k).
void set_past(const Problem& problem, std::size_t resource, Amount total, std::vector<Claim>& claims) {
  constexpr Wide kMillion = 1'000'000;
  const Wide factor = scaled_weight(problem.snapshot->policy.over_time.usage_factor);
  if (factor == 0 || problem.snapshot->queues.empty()) return;
  constexpr auto kMost = static_cast<double>(std::numeric_limits<Amount>::max() / 2);
  Wide all = 0;
  for (Claim& claim : claims) {
    const std::optional<double>& usage = past_usage_of(problem.snapshot->queues[claim.queue.value()], resource);
    claim.past = static_cast<Wide>(std::clamp(usage.value_or(0), 0.0, kMost));
    all += claim.past;
  }
  if (all == 0) return;
  const Wide whole = std::max<Wide>(all, total);
  for (Claim& claim : claims) claim.past = claim.past * kWhole / whole * factor / (kMillion + factor);
}

Amount give_quotas(std::vector<Claim>& claims, Amount total) {
  Amount remaining = total;
  for (Claim& claim : claims) {
    claim.share = std::min(claim.quota == kUnlimited ? total : claim.quota, claim.requestable);
    remaining = saturating_subtract(remaining, claim.share);
  }
  return std::max<Amount>(remaining, 0);
}

// Returns their sum. If any claim takes part, one of them keeps some weight: together they lose less than all of it.
Wide set_turn_weights(std::span<Claim*> claims) {
  Wide all = 0, left = 0;
  for (const Claim* claim : claims) all += claim->takes_part() ? claim->weight : 0;
  for (Claim* claim : claims) {
    if (!claim->takes_part()) continue;
    claim->turn_weight = std::max<Wide>(0, claim->weight - claim->past * all / kWhole);
    left += claim->turn_weight;
  }
  MUSTER_REQUIRE(left > 0 || all == 0);
  return left;
}

// One round among the claims of one priority. Returns whether some claim lacked less than was offered.
bool give_round(std::span<Claim*> claims, Amount unit, Amount& remaining) {
  const Wide weights = set_turn_weights(claims);
  if (weights == 0) return false;
  const Amount offered = remaining;
  bool someone_lacked_less = false;
  for (Claim* claim : claims) {
    if (!claim->takes_part()) continue;
    const Wide offer = offered * claim->turn_weight;  // in 1/weights
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
// What runs and is pending in leaf queues, by queue, inner ones included.
struct Demand {
  Indexed<QueueIndex, QueueAmounts> running, pending;
};

void add_demand(const Problem& problem, const Pod& pod, QueueAmounts& running, QueueAmounts& pending) {
  const PodClass& pod_class = problem.pod_classes[pod.pod_class];
  if (pod.status == PodStatus::kRunning) add(running, queue_usage(pod_class, problem.class_of(pod.node)));
  if (pod.status == PodStatus::kPending) {
    add(pending, {pod_class.smallest_gpu_usage, pod_class.request[kCpu.value()], pod_class.request[kMemory.value()]});
  }
}

Demand demand_of(const Problem& problem) {
  Demand of_leaves{Indexed<QueueIndex, QueueAmounts>(problem.queues.size()),
                   Indexed<QueueIndex, QueueAmounts>(problem.queues.size())};
  for (const Pod& pod : problem.pods) {
    const Gang& gang = problem.gangs[pod.gang];
    if (!gang.queue_is_leaf) continue;
    add_demand(problem, pod, of_leaves.running[gang.queue], of_leaves.pending[gang.queue]);
  }
  Demand all{Indexed<QueueIndex, QueueAmounts>(problem.queues.size()),
             Indexed<QueueIndex, QueueAmounts>(problem.queues.size())};
  for (const QueueIndex queue : problem.queues.indices()) {
    for (const QueueIndex ancestor : problem.queues[queue].ancestors) {
      add(all.running[ancestor], of_leaves.running[queue]);
      add(all.pending[ancestor], of_leaves.pending[queue]);
    }
  }
  return all;
}

Indexed<QueueIndex, QueueAmounts> requestable_of(const Problem& problem, const Demand& demand) {
  Indexed<QueueIndex, QueueAmounts> result = demand.running;
  for (const QueueIndex queue : problem.queues.indices()) add(result[queue], demand.pending[queue]);
  for (const QueueIndex queue : problem.queues.indices()) {
    const QueueAmounts& limit = problem.queues[queue].limit;
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      if (limit[i] != kUnlimited) result[queue][i] = std::min(result[queue][i], limit[i]);
    }
  }
  return result;
}

bool is_any_over(const QueueAmounts& usage, const QueueAmounts& share) {
  for (std::size_t i = 0; i < kQueueResources; ++i) {
    if (usage[i] > share[i]) return true;
  }
  return false;
}

// What a gang has in its leaf queue.
struct GangDemand {
  GangIndex gang;
  QueueAmounts running{}, pending{};
};

// Leaf queue by leaf queue, the highest priority first.
std::vector<GangDemand> demands_in_order(const Problem& problem) {
  std::vector<GangDemand> demands;
  for (const GangIndex index : problem.gangs.indices()) {
    if (!problem.gangs[index].queue_is_leaf) continue;
    GangDemand& demand = demands.emplace_back(GangDemand{index});
    for (const PodIndex pod : problem.gangs[index].pods)
      add_demand(problem, problem.pods[pod], demand.running, demand.pending);
  }
  std::ranges::stable_sort(demands, {}, [&](const GangDemand& demand) {
    const Gang& gang = problem.gangs[demand.gang];
    return std::pair(gang.queue, -std::int64_t{gang.priority});
  });
  return demands;
}

// See FairShares::beyond.
void find_beyond(const Problem& problem, const Demand& demand, FairShares& shares) {
  shares.beyond.assign(problem.gangs.size(), false);
  if (problem.objective.evictable.empty()) return;
  const std::vector<GangDemand> demands = demands_in_order(problem);
  for (std::span<const GangDemand> left = demands; !left.empty();) {
    const QueueIndex queue = problem.gangs[left.front().gang].queue;
    const bool is_over = std::ranges::any_of(problem.queues[queue].ancestors, [&](QueueIndex above) {
      return is_any_over(demand.running[above], shares.share[above]);
    });
    QueueAmounts before{};
    while (!left.empty() && problem.gangs[left.front().gang].queue == queue) {
      const std::int32_t priority = problem.gangs[left.front().gang].priority;
      const auto end = std::ranges::find_if(left, [&](const GangDemand& one) {
        return problem.gangs[one.gang].queue != queue || problem.gangs[one.gang].priority != priority;
      });
      const std::span<const GangDemand> equal(left.begin(), end);
      left = left.subspan(equal.size());
      for (const GangDemand& one : equal) add(before, one.running);
      const bool is_beyond = is_over || is_any_over(before, shares.share[queue]);
      for (const GangDemand& one : equal) shares.beyond[one.gang] = is_beyond;
      for (const GangDemand& one : equal) add(before, one.pending);
    }
  }
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
    set_past(problem, i, total[i], claims);
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
  const Demand demand = demand_of(problem);
  shares.requestable = requestable_of(problem, demand);
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
  find_beyond(problem, demand, shares);
  return shares;
}

}  // namespace muster
