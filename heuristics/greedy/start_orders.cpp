#include "heuristics/greedy/start_orders.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "model/base/tuning.h"

namespace muster::greedy {

namespace {

bool has_one_queue(const Problem& problem) {
  return std::ranges::count_if(problem.queues, [](const Queue& queue) { return queue.is_leaf(); }) == 1;
}

// Starts beyond the orders below repeat them with noise. If there is no victim, the second order would only repeat the
// first; with one queue, the order that packs best comes first.
PlacingOrder order_of_start(const Problem& problem, bool could_evict, std::size_t start, std::uint64_t seed) {
  static constexpr std::array<PlacingOrder, 6> kOrders{{
      {GangOrder::kQueueByQueue, placement::PodOrder::kBigFirst, placement::NodeRule::kKeepCpu, ClaimTime::kAtEnd},
      {GangOrder::kQueueByQueue, placement::PodOrder::kBigFirst, placement::NodeRule::kKeepCpu, ClaimTime::kAtOnce},
      {GangOrder::kBigFirst, placement::PodOrder::kBigFirst, placement::NodeRule::kKeepCpu, ClaimTime::kAtOnce},
      {GangOrder::kOldestBigFirst, placement::PodOrder::kBigFirst, placement::NodeRule::kKeepCpu, ClaimTime::kAtOnce},
      {GangOrder::kCpuFirst, placement::PodOrder::kCpuFirst, placement::NodeRule::kKeepCpu, ClaimTime::kAtOnce},
      {GangOrder::kBigFirst, placement::PodOrder::kCpuFirst, placement::NodeRule::kBestFit, ClaimTime::kAtEnd},
  }};
  static constexpr std::array<std::size_t, 6> kWithEvictions{0, 2, 1, 3, 4, 5};
  static constexpr std::array<std::size_t, 5> kOneQueue{2, 3, 0, 4, 5}, kMoreQueues{0, 2, 3, 4, 5};
  if (!could_evict) {
    const auto& kept = has_one_queue(problem) ? kOneQueue : kMoreQueues;
    start = start < kept.size() ? kept[start] : start + 1;
  } else if (start < kWithEvictions.size()) {
    start = kWithEvictions[start];
  }
  PlacingOrder order = kOrders[start % kOrders.size()];
  if (start >= kOrders.size()) {
    order.noise = kTuning.greedy.noise;
    order.seed = seed + start;
  }
  if (problem.snapshot->policy.placement == PlacementPolicy::kSpread) order.nodes = placement::NodeRule::kSpread;
  return order;
}

}  // namespace

std::vector<PlacingOrder> distinct_orders(const StartContext& context, const GreedyOptions& options) {
  if (options.oldest_first)
    return {{GangOrder::kOldestFilling, placement::PodOrder::kBigFirst, placement::usual_rule(context.problem),
             ClaimTime::kAtOnce}};
  const auto starts = static_cast<std::size_t>(std::max(1, options.starts));
  std::vector<PlacingOrder> distinct;
  std::set<std::pair<placement::NodeRule, placement::PodOrder>> seen;
  for (std::size_t start = 0; start < starts; ++start) {
    const PlacingOrder order = order_of_start(context.problem, context.could_evict, start, options.seed);
    const bool is_new = seen.emplace(order.nodes, order.pods).second;
    if (is_new || !context.initial.is_one_order_enough()) distinct.push_back(order);
  }
  return distinct;
}

}  // namespace muster::greedy
