#include "solver/budget/time_plan.h"

#include <algorithm>
#include <limits>

namespace muster {
namespace {

double per(std::int64_t count, double nanoseconds) { return static_cast<double>(count) * nanoseconds / 1e6; }

StageNeeds needs_of(const InstanceSize& size, const LearntTimes& learnt) {
  const NeedTuning& tuning = kTuning.needs;
  StageNeeds needs;
  needs.first_bound = kTuning.forecast.margin * kTuning.forecast.answer_ms + kTuning.parts.half * learnt.first_plan;
  needs.search = learnt.checking;
  const double gain = tuning.gain_times * learnt.first_plan;
  // A search leaves all alone that an eviction depends on, and so finds little where pods leave and none moves.
  needs.all_gain =
      size.leaving > 0 && !size.may_move ? std::numeric_limits<double>::infinity() : kTuning.forecast.margin * gain;
  if (!size.is_large()) return needs;
  needs.first_plan = learnt.first_plan;
  needs.alone = gain;
  return needs;
}

// A start with evictions finishes its current claim and takes needless victims back, which is another end.
GreedyTimes greedy_of(const InstanceSize& size, const LearntTimes& learnt, const TimeBudget& budget,
                      const TimePlan& plan) {
  GreedyTimes greedy;
  const bool follows = budget.has_milp && !plan.is_short_for_milp(budget.ms);
  if (size.items() > kTuning.size.very_large) greedy.starts = follows || !size.nodes_differ() ? 1 : kTuning.size.starts;
  if (!budget.has_clock) return greedy;
  const bool has_all = !budget.has_milp || (!size.is_large() && size.leaving == 0);
  const bool is_short = budget.ms < learnt.greedy_start;
  const double ending = (size.leaving > 0 ? 2 : 1) * learnt.end + learnt.stopping;
  const auto until = [&](double part) { return (has_all ? 1 : part) * budget.ms - ending; };
  const bool is_one = greedy.starts == 1;  // or two at the same time, of which one may come too late
  greedy.first_alone = is_short && !is_one;
  // Where pods may leave, what follows it needs its plan, and seconds.
  greedy.first_ms = until(is_short ? 1 : size.leaving > 0 ? kTuning.parts.most : kTuning.parts.main);
  greedy.more_ms = is_one ? greedy.first_ms : until(kTuning.parts.side);
  // Nothing that follows would find a plan in the rest.
  if (size.leaving > 0 && budget.threads > 1 && !plan.chooses_beside_greedy) greedy.more_ms = greedy.first_ms;
  greedy.planned_ms = kTuning.parts.side * budget.ms - ending;
  greedy.claiming = kTuning.parts.most;
  return greedy;
}

}  // namespace

TimePlan make_time_plan(const InstanceSize& size, const LearntTimes& learnt, const TimeBudget& budget) {
  TimePlan plan;
  plan.may_search = budget.has_search;
  plan.is_large = size.is_large();
  plan.whole_ms = budget.ms;
  plan.end_ms = learnt.end;
  plan.glance_ms = per(size.gangs, kTuning.forecast.glance_ns);
  plan.first_reason_ms = per(size.items(), kTuning.forecast.glance_ns);
  plan.milp_work = kTuning.size.work_per_node * std::max(kTuning.size.least_work_nodes, size.nodes);
  plan.search.settled_trials = std::min(kTuning.size.large, size.items());
  plan.search.most_trials = kTuning.size.trials_per_item * plan.search.settled_trials;
  plan.needs = needs_of(size, learnt);
  plan.chooses_beside_greedy = budget.has_clock && budget.has_milp && budget.threads > 1 && size.kinds > 0 &&
                               budget.ms >= learnt.choice && !plan.is_short_for_milp(budget.ms);
  plan.greedy = greedy_of(size, learnt, budget, plan);
  return plan;
}

double time_for_last_search(const TimePlan& plan, double left_ms) {
  const double left = std::max(0.0, left_ms);
  return left - std::clamp(plan.needs.all_gain, kTuning.parts.main * left, kTuning.parts.most * left);
}

TimeAllotments allotments(const TimePlan& plan, const TimeBudget& budget) {
  if (!budget.has_clock) {
    TimeAllotments counted;
    if (plan.may_search) counted.emplace_back("searchTrials", static_cast<double>(plan.search.most_trials));
    if (budget.has_milp) counted.emplace_back("milpWork", static_cast<double>(plan.milp_work));
    return counted;
  }
  const double end = std::min(plan.end_ms, plan.whole_ms);
  if (!budget.has_milp) return {{"greedy", plan.whole_ms - end}, {"verify", end}};
  const double greedy = std::clamp(plan.greedy.planned_ms, 0.0, plan.whole_ms - end);
  const double left = plan.whole_ms - end - greedy;
  double search = 0;
  if (plan.may_search && plan.is_short_for_milp(plan.whole_ms - greedy)) {
    search = left;
  } else if (!plan.is_milp_alone(plan.whole_ms - greedy)) {
    search = time_for_last_search(plan, left);
  }
  return {{"greedy", greedy}, {"search", search}, {"milp", left - search}, {"verify", end}};
}

}  // namespace muster
