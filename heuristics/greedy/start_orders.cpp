#include "heuristics/greedy/start_orders.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace muster::greedy {

namespace {

bool has_one_queue(const Problem& problem) {
  return std::ranges::count_if(problem.queues, [](const Queue& queue) { return queue.is_leaf(); }) == 1;
}

// If there is no victim, the time of claims makes no difference; with one queue, the order that packs best comes first.
std::vector<PlacingOrder> all_orders(const Problem& problem, bool could_evict) {
  using placement::PodOrder;
  const auto order = [&](GangOrder gangs, ClaimTime claims, PodOrder pods = PodOrder::kBigFirst) {
    return PlacingOrder{gangs, pods, placement::usual_rule(problem), claims};
  };
  const PlacingOrder policy = order(GangOrder::kQueueByQueue, ClaimTime::kAtEnd);
  const PlacingOrder packing = order(GangOrder::kBigFirst, ClaimTime::kAtOnce);
  const PlacingOrder oldest = order(GangOrder::kOldestBigFirst, ClaimTime::kAtOnce);
  if (could_evict) return {policy, packing, order(GangOrder::kQueueByQueue, ClaimTime::kAtOnce), oldest};
  const PlacingOrder cpu = order(GangOrder::kCpuFirst, ClaimTime::kAtOnce, PodOrder::kCpuFirst);
  if (has_one_queue(problem)) return {packing, oldest, policy, cpu};
  return {policy, packing, oldest, cpu};
}

}  // namespace

std::vector<PlacingOrder> distinct_orders(const StartContext& context, const GreedyOptions& options) {
  if (options.oldest_first)
    return {{GangOrder::kOldestFilling, placement::PodOrder::kBigFirst, placement::usual_rule(context.problem),
             ClaimTime::kAtOnce}};
  std::vector<PlacingOrder> orders = all_orders(context.problem, context.could_evict);
  if (options.starts > 0) orders.resize(std::min(orders.size(), static_cast<std::size_t>(options.starts)));
  std::vector<PlacingOrder> distinct;
  std::set<std::pair<placement::NodeRule, placement::PodOrder>> seen;
  for (const PlacingOrder& order : orders) {
    const bool is_new = seen.emplace(order.nodes, order.pods).second;
    if (is_new || !context.initial.is_one_order_enough()) distinct.push_back(order);
  }
  return distinct;
}

}  // namespace muster::greedy
