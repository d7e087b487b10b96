#include "heuristics/preemption/planner.h"

#include <algorithm>
#include <span>
#include <utility>

#include "heuristics/preemption/victim_rechoice.h"
#include "heuristics/state/fit.h"
#include "model/base/tuning.h"

namespace muster::preemption {

PreemptionPlanner::PreemptionPlanner(const PreemptionInputs& inputs, std::vector<PlannedEviction> stale)
    : inputs_(inputs),
      stop_(inputs_.stop),
      ranks_(inputs_.state),
      ledger_(inputs_, claim_, std::move(stale)),
      check_(inputs_.state, inputs_.rules, ledger_),
      eligibility_(inputs_, claim_, ranks_),
      nominator_(inputs_, claim_, ranks_, eligibility_, ledger_, check_, stop_),
      watch_(inputs_.state),
      returns_(inputs_, claim_, ledger_, check_, watch_),
      rights_(inputs_, ledger_, check_),
      attempt_(inputs_, claim_, ranks_, ledger_, nominator_, watch_),
      exchange_attempt_(inputs_, claim_, ranks_, ledger_, check_, nominator_, returns_, attempt_) {}

bool PreemptionPlanner::may_claim(std::int32_t rank) const {
  const Actions& actions = inputs_.problem.snapshot->policy.actions;
  if (!actions.place) return false;
  if (ranks_.any_after(rank)) return true;
  return (actions.consolidate || actions.preempt || actions.reclaim) && !inputs_.rules.survey().runs_in.empty();
}

void PreemptionPlanner::adopt(const std::vector<PlannedEviction>& evictions) {
  ledger_.adopt(evictions);
  watch_.has_grown();
}

bool PreemptionPlanner::claim_minimum(GangIndex gang, std::int32_t rank) {
  claim_.rank = rank;
  return claim(gang, [&] {
    if (!min_resources_hold(gang) && !nominator_.free_min_resources()) return false;
    return inputs_.placer.place_minimum(gang);
  });
}

bool PreemptionPlanner::claim_pod(PodIndex pod, std::int32_t rank) {
  claim_.rank = rank;
  return claim(inputs_.problem.pods[pod].gang, [&] { return inputs_.placer.place_pod(pod); });
}

template <class Place>
bool PreemptionPlanner::claim(GangIndex gang, const Place& place) {
  const Actions& actions = inputs_.problem.snapshot->policy.actions;
  const Gang& claimant = inputs_.problem.gangs[gang];
  if (!actions.place || !fit::queue_exists(claimant) || !fit::may_start(claimant)) return false;
  claim_.claimant = gang;
  if (attempt({PreemptionMode::kSwap}, place)) return true;
  if (actions.consolidate && attempt({PreemptionMode::kConsolidate}, place)) return true;
  return claimant.preemption_policy != PreemptionPolicy::kNever && claim_by_evicting(place);
}

// Reclaim comes first: only a claimant that stays within its share may reclaim, and what it preempts within its queue
// is lost to that share.
std::vector<PreemptionPlanner::Method> PreemptionPlanner::methods_to_evict() const {
  const Actions& actions = inputs_.problem.snapshot->policy.actions;
  std::vector<Method> methods;
  for (const bool displaces : {false, true}) {
    if (displaces && !actions.consolidate) continue;
    if (actions.reclaim) methods.push_back({PreemptionMode::kReclaim, displaces});
    if (actions.preempt) methods.push_back({PreemptionMode::kPreempt, displaces});
  }
  return methods;
}

// Whether the attempt loses only work of the lowest priority beyond the shares.
bool PreemptionPlanner::loses_least() const {
  const VictimCost& lost = nominator_.lost();
  return lost.share == VictimLoss{} && lost.quota == VictimLoss{} &&
         lost.work.priority <= inputs_.problem.objective.priorities.back();
}

// Uses the first method that loses least, else the one with the best levels.
template <class Place>
bool PreemptionPlanner::claim_by_evicting(const Place& place) {
  const std::vector<Method> methods = methods_to_evict();
  std::optional<Method> best;
  std::vector<Work> best_levels;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    PreemptionAttempt::Before before;
    std::optional<std::vector<Work>> levels = try_once(methods[i], place, before);
    if (!levels) continue;
    const bool is_better = !best || *levels > best_levels;
    if (is_better && (loses_least() || i + 1 == methods.size())) {
      attempt_.keep(*std::move(levels));
      return true;
    }
    attempt_.undo(before);
    if (!is_better) continue;
    best = methods[i];
    best_levels = *std::move(levels);
  }
  return best && attempt(*best, place);
}

template <class Place>
bool PreemptionPlanner::attempt(Method method, const Place& place) {
  PreemptionAttempt::Before before;
  std::optional<std::vector<Work>> levels = try_once(method, place, before);
  if (!levels) return false;
  attempt_.keep(*std::move(levels));
  return true;
}

// The resulting levels, if they are better than before; otherwise nothing has changed.
template <class Place>
std::optional<std::vector<Work>> PreemptionPlanner::try_once(Method method, const Place& place,
                                                             PreemptionAttempt::Before& before) {
  if (!stop_.is_raised()) stop_.ask();
  if (stop_.is_raised()) return std::nullopt;
  claim_.mode = method.mode;
  claim_.stage = method.displaces ? ClaimStage::kDisplacing : ClaimStage::kPlain;
  if (eligibility_.is_hopeless()) return std::nullopt;
  if (!watch_.has_begun()) watch_.has_grown();
  if (ranks_.any_after(claim_.rank)) ranks_.protect_claimants(ledger_.evictions());
  before = attempt_.begin();
  if (claim_.mode != PreemptionMode::kSwap) ledger_.expect_evictions();
  if (nominator_.with_room(place)) {
    returns_.settle();
    returns_.place_again();
    if (rules_hold()) {
      std::vector<Work> levels = attempt_.levels_now();
      if (levels > attempt_.levels_before()) return levels;
    }
  }
  attempt_.undo(before);
  return std::nullopt;
}

void PreemptionPlanner::choose_victims_anew(int most_rounds) {
  VictimRechoice(inputs_, claim_, ledger_, exchange_attempt_, stop_).run(most_rounds);
}

void PreemptionPlanner::reprieve() {
  stop_.lower();  // claims may have had to stop sooner
  const bool is_first = !std::exchange(has_chosen_anew_, true);
  if (is_first && inputs_.problem.snapshot->policy.actions.consolidate) choose_victims_anew(1);
  returns_.reprieve();
  if (has_evicted() && rights_.settle()) returns_.reprieve();
}

void PreemptionPlanner::exchange_victims() {
  if (!inputs_.problem.snapshot->policy.actions.consolidate) return;
  choose_victims_anew(kTuning.heuristics.passes);
  VictimExchange(inputs_, claim_, ledger_, exchange_attempt_, stop_).run();
}

}  // namespace muster::preemption
