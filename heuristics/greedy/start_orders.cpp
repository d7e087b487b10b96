#include "heuristics/greedy/start_orders.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "heuristics/greedy/exact_sums.h"

namespace muster::greedy {

namespace {

bool has_one_queue(const Problem& problem) {
  return std::ranges::count_if(problem.queues, [](const Queue& queue) { return queue.is_leaf(); }) == 1;
}

// Whether seniority depends on expected durations.
bool counts_durations(const Problem& problem) {
  return std::ranges::any_of(problem.gangs, [](const Gang& gang) { return gang.times.expected_duration > 0; });
}

// The pods that wait longest are many and small, so that they leave no room next to them for what they do not take.
PlacingOrder oldest_order(const Problem& problem, GangOrder gangs) {
  const placement::NodeRule usual = placement::usual_rule(problem);
  return {gangs, placement::PodOrder::kBigFirst,
          usual == placement::NodeRule::kKeepCpu ? placement::NodeRule::kKeepRoom : usual, ClaimTime::kAtOnce};
}

// If there is no victim, the time of claims makes no difference; with one queue, the order that packs best comes first.
std::vector<PlacingOrder> all_orders(const Problem& problem, bool could_evict) {
  using placement::PodOrder;
  const auto order = [&](GangOrder gangs, ClaimTime claims, PodOrder pods = PodOrder::kBigFirst) {
    return PlacingOrder{gangs, pods, placement::usual_rule(problem), claims};
  };
  const PlacingOrder policy = order(GangOrder::kQueueByQueue, ClaimTime::kAtEnd);
  const PlacingOrder packing = order(GangOrder::kBigFirst, ClaimTime::kAtOnce);
  const PlacingOrder oldest = oldest_order(problem, GangOrder::kOldestFirst);
  if (counts_durations(problem)) {
    const PlacingOrder in_turn = order(GangOrder::kInTurn, ClaimTime::kAtOnce);
    // The first start has a complete plan before it makes room.
    if (could_evict) return {policy, in_turn, packing, order(GangOrder::kQueueByQueue, ClaimTime::kAtOnce)};
    return {in_turn, policy, packing};
  }
  if (could_evict) return {policy, packing, order(GangOrder::kQueueByQueue, ClaimTime::kAtOnce), oldest};
  const PlacingOrder cpu = order(GangOrder::kCpuFirst, ClaimTime::kAtOnce, PodOrder::kCpuFirst);
  if (has_one_queue(problem)) return {packing, oldest, policy, cpu};
  return {policy, packing, oldest, cpu};
}

// Where sums tell what fits, the oldest gangs that fill the devices can be chosen before they are placed.
bool may_choose_first(const StartContext& context) {
  return !context.could_evict && has_one_queue(context.problem) && have_exact_sums(context.problem, context.state);
}

}  // namespace

std::vector<PlacingOrder> distinct_orders(const StartContext& context, const GreedyOptions& options) {
  if (options.oldest_first) return {oldest_order(context.problem, GangOrder::kOldestFirst)};
  std::vector<PlacingOrder> orders = all_orders(context.problem, context.could_evict);
  // Places more and smaller pods, so it may be stopped where a start that packs is not.
  if (options.starts == 1 && may_choose_first(context))
    return {orders.front(), oldest_order(context.problem, GangOrder::kOldestFilling)};
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
