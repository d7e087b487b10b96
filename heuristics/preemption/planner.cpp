#include "heuristics/preemption/planner.h"

#include "heuristics/preemption/victims.h"
#include "heuristics/state/fit.h"
#include "model/base/tuning.h"

namespace muster::preemption {

bool PreemptionPlanner::may_claim(std::int32_t rank) const {
  const Actions& actions = context_.problem.snapshot->policy.actions;
  if (!actions.place) return false;
  if (context_.ranks.any_after(rank)) return true;
  return (actions.consolidate || actions.preempt || actions.reclaim) && !context_.rules.survey().runs_in.empty();
}

void PreemptionPlanner::adopt(const std::vector<PlannedEviction>& evictions) {
  context_.ledger.adopt(evictions);
  context_.watch.has_grown();
}

bool PreemptionPlanner::claim_minimum(GangIndex gang, std::int32_t rank) {
  return claim(gang, rank, [&] {
    if (!context_.min_resources_hold(gang) && !free_min_resources(context_, context_.claim)) return false;
    return context_.placer.place_minimum(gang);
  });
}

bool PreemptionPlanner::claim_pod(PodIndex pod, std::int32_t rank) {
  return claim(context_.problem.pods[pod].gang, rank, [&] { return context_.placer.place_pod(pod); });
}

template <class Place>
bool PreemptionPlanner::claim(GangIndex gang, std::int32_t rank, const Place& place) {
  const Actions& actions = context_.problem.snapshot->policy.actions;
  const Gang& claimant = context_.problem.gangs[gang];
  if (!actions.place || !fit::queue_exists(claimant) || !fit::may_start(claimant)) return false;
  context_.claim.claimant = gang;
  context_.claim.rank = rank;
  if (attempt({PreemptionMode::kSwap}, place)) return true;
  if (actions.consolidate && attempt({PreemptionMode::kConsolidate}, place)) return true;
  return claimant.preemption_policy != PreemptionPolicy::kNever && claim_by_evicting(place);
}

// Reclaim comes first: only a claimant that stays within its share may reclaim, and what it preempts within its queue
// is lost to that share.
std::vector<PreemptionPlanner::Method> PreemptionPlanner::methods_to_evict() const {
  const Actions& actions = context_.problem.snapshot->policy.actions;
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
         lost.work.priority <= context_.problem.objective.priorities.back();
}

// Uses the first method that loses least, else the one with the best levels.
template <class Place>
bool PreemptionPlanner::claim_by_evicting(const Place& place) {
  const std::vector<Method> methods = methods_to_evict();
  std::optional<Method> best;
  std::vector<Work> best_levels;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    std::optional<std::vector<Work>> levels = try_once(methods[i], place);
    if (!levels) continue;
    const bool is_better = !best || *levels > best_levels;
    if (is_better && (loses_least() || i + 1 == methods.size())) {
      context_.keep_attempt(*std::move(levels));
      return true;
    }
    context_.undo_attempt();
    if (!is_better) continue;
    best = methods[i];
    best_levels = *std::move(levels);
  }
  return best && attempt(*best, place);
}

template <class Place>
bool PreemptionPlanner::attempt(Method method, const Place& place) {
  std::optional<std::vector<Work>> levels = try_once(method, place);
  if (!levels) return false;
  context_.keep_attempt(*std::move(levels));
  return true;
}

// The resulting levels, if they are better than before; otherwise nothing has changed.
template <class Place>
std::optional<std::vector<Work>> PreemptionPlanner::try_once(Method method, const Place& place) {
  if (!context_.stop.is_raised()) context_.stop.ask();
  if (context_.stop.is_raised()) return std::nullopt;
  Claim& claim = context_.claim;
  claim.mode = method.mode;
  claim.stage = method.displaces ? ClaimStage::kDisplacing : ClaimStage::kPlain;
  if (is_hopeless(context_, claim)) return std::nullopt;
  if (!context_.watch.has_begun()) context_.watch.has_grown();
  if (context_.ranks.any_after(claim.rank)) context_.ranks.protect_claimants(context_.ledger.evictions());
  nominator_.begin_attempt();
  context_.begin_attempt();
  if (claim.mode != PreemptionMode::kSwap) context_.ledger.expect_evictions();
  if (nominator_.with_room(claim, place)) {
    settle_victims(context_);
    place_again(context_);
    if (context_.rules_hold()) {
      std::vector<Work> levels = context_.levels_now();
      if (levels > context_.levels_before()) return levels;
    }
  }
  context_.undo_attempt();
  return std::nullopt;
}

void PreemptionPlanner::reprieve() {
  context_.stop.lower();  // claims may have had to stop sooner
  const bool is_first = !std::exchange(has_chosen_anew_, true);
  if (is_first && context_.problem.snapshot->policy.actions.consolidate) choose_victims_anew(context_, nominator_, 1);
  bring_victims_back(context_);
  if (context_.ledger.has_evicted() && settle_rights(context_, {})) bring_victims_back(context_);
}

void PreemptionPlanner::exchange_victims() {
  if (!context_.problem.snapshot->policy.actions.consolidate) return;
  choose_victims_anew(context_, nominator_, kTuning.heuristics.passes);
  exchange_single_victims(context_, nominator_);
}

}  // namespace muster::preemption
