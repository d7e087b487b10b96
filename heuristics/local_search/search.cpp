#include "heuristics/local_search/search.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "heuristics/local_search/improve_part.h"
#include "heuristics/local_search/plan_value.h"
#include "heuristics/local_search/round_parts.h"
#include "heuristics/local_search/scope.h"
#include "heuristics/local_search/step_acceptance.h"
#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/preemption/reprieve.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/plan_of.h"
#include "model/base/parallel.h"
#include "model/base/tuning.h"
#include "model/objective/evaluation.h"

namespace muster::local_search {

namespace {

// Rounds, each of parts that are improved concurrently, until the work limit, the stop request, or many rounds in vain.
class Search {
 public:
  Search(const Problem& problem, const FairShares& shares, const Plan& plan, const SearchOptions& options)
      : problem_(problem),
        options_(options),
        before_(problem, ClusterState::Releasing::kFreed),
        rules_(problem, shares, before_),
        plan_(plan, before_),
        scope_(problem, shares, plan_.state, plan,
               {options.aim, options.aim == SearchAim::kLevels ? MovablePods{} : movable_pods(rules_, plan_.state)}),
        seniority_(scope_),
        acceptance_(rules_, plan_),
        parts_(scope_, plan_.state, options.seed) {}

  Plan run() {
    std::int64_t trials = 0;
    bool counts_usable = true;
    seniority_.run(plan_.state);
    for (std::size_t vain = 0; trials < options_.most_trials && vain < parts_.most_vain_rounds() && !should_stop();
         ++vain) {
      const std::vector<SearchPart> parts = parts_.next({options_.most_trials - trials, counts_usable});
      if (parts.empty()) break;
      const bool any = acceptance_.take_over(improve(parts), options_.stop);
      for (const SearchPart& part : parts) trials += part.trials;
      counts_usable = !any;  // once no level can be bettered any more, or so it seems
      if (any) {
        vain = 0;
        seniority_.run(plan_.state);
      }
      scope_.weigh(plan_.state);
    }
    return filled_plan();
  }

 private:
  bool should_stop() const { return options_.stop && options_.stop(); }

  std::vector<std::vector<Step>> improve(const std::vector<SearchPart>& parts) const {
    std::vector<std::vector<Step>> steps(parts.size());
    parallel_for(parts.size(), options_.threads, [&](std::size_t number) {
      steps[number] = improve_part(scope_, plan_.state, parts[number], options_.stop);
    });
    return steps;
  }

  // Including pods for which the search has made room without intending it: those that have rules about other pods.
  Plan filled_plan() {
    const auto before = plan_.state.checkpoint();
    if (problem_.has_inter_pod_rules()) fill_up();
    if (plan_.state.checkpoint() != before) {
      OrderedPlan filled = ordered_plan_of(problem_, plan_.state, plan_.evictions);
      if (filled.unbound.empty()) return std::move(filled.plan);
      plan_.state.rollback(before);
    }
    if (scope_.has_movable()) rules_.name_claimants(plan_.state, plan_.evictions);
    return plan_of(problem_, plan_.state, plan_.evictions);
  }

  void fill_up() {
    placement::NodeChooser chooser(plan_.state, plan_.bounds, placement::usual_rule(problem_));
    placement::GangPlacer placer(plan_.state, plan_.bounds, chooser);
    MinResources min_resources;
    for (const GangIndex gang : waiting_with_inter_pod_rules()) {
      while (!should_stop() && placer.may_place(gang) && min_resources.hold(plan_.state, gang)) {
        const auto before = plan_.state.checkpoint();
        const bool placed = is_satisfied(plan_.state, gang) ? placer.place_one_more(gang) : placer.place_minimum(gang);
        if (placed && plan_.state.checkpoint() != before && acceptance_.accepts({})) continue;
        plan_.state.rollback(before);
        break;
      }
    }
  }

  // By priority, the highest first.
  std::vector<GangIndex> waiting_with_inter_pod_rules() const {
    const auto waits = [&](PodIndex pod) {
      return fit::is_pending(problem_.pods[pod]) && !plan_.state.is_present(pod) &&
             problem_.class_of(pod).has_inter_pod_rules();
    };
    std::vector<GangIndex> gangs;
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (std::ranges::any_of(problem_.gangs[gang].pods, waits)) gangs.push_back(gang);
    }
    const auto priority = [&](GangIndex gang) { return problem_.gangs[gang].priority; };
    std::ranges::stable_sort(gangs, std::ranges::greater{}, priority);
    return gangs;
  }

  const Problem& problem_;
  const SearchOptions& options_;
  ClusterState before_;
  preemption::EvictionRules rules_;
  PlanState plan_;
  SearchScope scope_;
  SeniorityExchange seniority_;
  StepAcceptance acceptance_;
  RoundParts parts_;
};

}  // namespace

Candidate search(const Problem& problem, const FairShares& shares, const Candidate& incumbent,
                 const SearchOptions& options) {
  Plan plan = Search(problem, shares, incumbent.plan, options).run();
  // Without a stop request: a pod that moves in vain would cost the whole plan.
  if (options.aim != SearchAim::kLevels && plan != incumbent.plan)
    plan = preemption::settle_rights(problem, shares, plan, {}).plan;
  Levels levels = evaluate(problem, shares, plan);
  if (compare(levels, incumbent.levels, level_ids(problem)) < 0) return incumbent;
  return {std::move(plan), std::move(levels)};
}

}  // namespace muster::local_search
