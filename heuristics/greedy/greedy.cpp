#include "heuristics/greedy/greedy.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "heuristics/greedy/sharer_packing.h"
#include "heuristics/greedy/start.h"
#include "heuristics/greedy/waiting_gangs.h"
#include "heuristics/state/candidate.h"
#include "model/base/parallel.h"
#include "model/base/tuning.h"
#include "model/objective/evaluation.h"
#include "model/objective/levels.h"

namespace muster::greedy {

namespace {

bool is_due(const StopRequest& stop) { return stop && stop(); }

// The starts and their plans. Each start has its own slot, so that they may run concurrently.
class MultiStart {
 public:
  MultiStart(const StartContext& context, const GreedyOptions& options)
      : context_(context),
        problem_(context.problem),
        options_(options),
        orders_(distinct_orders(context, options)),
        candidates_(orders_.size()),
        starts_(orders_.size()),
        ids_(level_ids(problem_)),
        of_presence_(ids_.begin(), ids_.begin() + levels_of_presence(problem_)) {}

  std::size_t size() const { return orders_.size(); }

  // The first start always has a plan; others only if they finish in time.
  void run(std::size_t i) {
    const StartStops& stops = i > 0 && options_.stop_more.all ? options_.stop_more : options_.stop;
    if (i > 0 && (is_due(stops.all) || is_due(stops.claims))) return;
    auto start = std::make_unique<Start>(context_, orders_[i], stops);
    if (i == 0 && context_.could_evict) start->report_placed_to(options_.on_placed);
    Plan plan = start->run();
    if (i > 0 && !start->is_complete()) return;
    const bool is_reported = i == 0 && options_.on_first;
    Levels levels = is_reported ? start->value_of(plan) : evaluate_presence(problem_, context_.shares, plan);
    candidates_[i] = Candidate{std::move(plan), std::move(levels), start->ran_out()};
    if (is_reported) options_.on_first(*candidates_[i]);
    if (start->has_evicted()) starts_[i] = std::move(start);
  }

  // Requires that the first start has run.
  std::size_t best() {
    std::size_t best = 0;
    for (std::size_t i = 1; i < candidates_.size(); ++i) {
      if (candidates_[i] && is_better(*candidates_[i], *candidates_[best])) best = i;
    }
    complete(*candidates_[best]);
    return best;
  }

  // Searches for other victims once; keeps them if the plan becomes better.
  void exchange_victims(std::size_t i) {
    if (!starts_[i]) return;
    std::optional<Plan> plan = starts_[i]->exchange_victims(options_.stop.all);
    Levels levels = plan ? starts_[i]->value_of(*plan) : Levels{};
    starts_[i].reset();
    if (!plan || compare(levels, candidates_[i]->levels, ids_) <= 0) return;
    candidates_[i] = Candidate{*std::move(plan), std::move(levels), candidates_[i]->ran_out};
  }

  Candidate take(std::size_t i) { return *std::move(candidates_[i]); }

 private:
  // The places of pods matter only among plans that are equal in all levels before.
  void complete(Candidate& candidate) const {
    if (candidate.levels.values.size() == ids_.size()) return;
    candidate.levels = evaluate_places(problem_, candidate.plan, candidate.levels);
  }

  bool is_better(Candidate& a, Candidate& b) const {
    const auto by_presence = compare(a.levels, b.levels, of_presence_);
    if (by_presence != 0) return by_presence > 0;
    complete(a);
    complete(b);
    return compare(a.levels, b.levels, ids_) > 0;
  }

  const StartContext& context_;
  const Problem& problem_;
  const GreedyOptions& options_;
  const std::vector<PlacingOrder> orders_;
  std::vector<std::optional<Candidate>> candidates_;
  std::vector<std::unique_ptr<Start>> starts_;  // those that have evicted
  const std::vector<LevelId> ids_, of_presence_;
};

}  // namespace

// An interrupted start may have gained on an early level without the time to gain on the later ones: then only the
// first level counts, which is complete at any time. Other victims are searched for in the best of the first few plans,
// concurrently with the other starts: this takes about as long as one start and finds more.
Candidate solve_greedy(const Problem& problem, const FairShares& shares, const GreedyOptions& options) {
  const StartContext context(problem, shares, options.threads, options.from);
  MultiStart starts(context, options);
  const std::size_t alone = options.first_alone ? 1 : 0;
  if (options.first_alone) starts.run(0);
  const std::size_t first_few =
      context.could_evict ? std::min(static_cast<std::size_t>(kTuning.size.starts), starts.size()) : starts.size();
  parallel_for(first_few - alone, options.threads, [&](std::size_t i) { starts.run(alone + i); });
  const std::size_t best_so_far = starts.best();
  parallel_for(1 + starts.size() - first_few, options.threads, [&](std::size_t task) {
    task == 0 ? starts.exchange_victims(best_so_far) : starts.run(first_few + task - 1);
  });
  const std::size_t best = starts.best();
  starts.exchange_victims(best);
  return starts.take(best);
}

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
