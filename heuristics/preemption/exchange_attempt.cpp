#include "heuristics/preemption/exchange_attempt.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/put_back.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/base/saturating.h"
#include "model/objective/levels.h"
#include "model/problem/eviction_loss.h"

namespace muster::preemption {

namespace {

// What counts in a level of evictions, with the sign reversed.
void subtract_loss(const Pod& pod, std::int32_t of_gang, const std::vector<std::int32_t>& priorities,
                   std::vector<Work>& values) {
  const Work loss = evicted_value(pod);
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    if (of_gang >= priorities[i]) values[i] = saturating_subtract(values[i], loss);
  }
}

}  // namespace

std::vector<Work> PreemptionAttempt::levels_now() {
  std::vector<Work> leading = leading_levels_.of(state_);
  const ObjectiveTerms& terms = problem_.objective;
  if (terms.preemptible.empty()) return leading;
  const auto ranks = static_cast<std::ptrdiff_t>(terms.priorities.size());
  PresenceValues values{.share = {leading.begin(), leading.begin() + ranks},
                        .quota = {leading.begin() + ranks, leading.begin() + 2 * ranks},
                        .work = {leading.begin() + 2 * ranks, leading.end()},
                        .preempted = std::vector<Work>(terms.preemptible.size(), 0),
                        .evicted_beyond = std::vector<Work>(terms.evictable.size(), 0)};
  for (const PlannedEviction& eviction : ledger_.records()) {
    if (state_.is_present(eviction.pod)) continue;
    const Pod& pod = problem_.pods[eviction.pod];
    if (eviction.reason == EvictionReason::kPreempt && !shares_.beyond[pod.gang])
      subtract_loss(pod, problem_.gangs[pod.gang].priority, terms.preemptible, values.preempted);
  }
  std::vector<Work> levels = in_order(problem_, values).values;
  constexpr std::ptrdiff_t kAfterWork = 3;  // `evicted`, `moved` and `seniority`, which are left at 0
  levels.resize(levels.size() - kAfterWork);
  return levels;
}

// A victim of earlier claims that could not come back or move then cannot do so now unless some node has more free
// capacity than it had.
void VictimReturn::settle() {
  const bool all = watch_.has_grown() || !ledger_.is_local();
  std::vector<PodIndex> pods = all ? ledger_.taken() : ledger_.taken_in_attempt();
  // A victim that comes back leaves the node to which it was moved, so others may follow.
  const bool may_move = problem_.snapshot->policy.actions.consolidate;
  for (bool again = true; again;) {
    for (const GangIndex gang : evicted_gangs(pods)) {
      if (!bring_back(gang)) bring_back_completed(gang);
    }
    again = bring_moved_back(pods);
    if (again) pods = ledger_.taken();
    if (again || !may_move) continue;
    for (const GangIndex gang : evicted_gangs(pods)) again = move_elsewhere(gang) || again;
  }
  watch_.has_grown();
}

void VictimReturn::place_again() {
  for (const GangIndex gang : std::vector<GangIndex>(ledger_.gave_way())) {
    const auto before = state_.checkpoint();
    const bool placed = is_satisfied(state_, gang) ? placer_.place_one_more(gang) : placer_.place_minimum(gang);
    if (placed && !check_.rules_hold()) state_.rollback(before);
  }
}

// Makes the change unless it fails or breaks a rule; then nothing has changed.
template <class Change>
bool VictimReturn::keep_if_legal(const Change& change) {
  const auto before = state_.checkpoint();
  if (change() && check_.rules_hold()) return true;
  state_.rollback(before);
  return false;
}

// Placements since the pod was evicted may have removed the obstacle to its return.
void VictimReturn::reprieve() {
  const std::vector<PodIndex> pods = ledger_.taken();
  for (bool again = !pods.empty(); again;) {
    again = keep_if_legal([&] { return bring_moved_back(pods); });
    for (const GangIndex gang : evicted_gangs(pods)) again = keep_if_legal([&] { return bring_back(gang); }) || again;
    // If not all pods of a gang may come back, each may do so by itself as long as the gang keeps its minimum.
    for (const PodIndex pod : pods) {
      const GangIndex gang = problem_.pods[pod].gang;
      if (state_.is_present(pod) || problem_.gangs[gang].pods.size() == 1 || !is_satisfied(state_, gang)) continue;
      again = keep_if_legal([&] { return put_back(state_, bounds_, pod); }) || again;
    }
  }
}

// Gangs with an evicted pod that is not placed again, the greatest loss first.
std::vector<GangIndex> VictimReturn::evicted_gangs(const std::vector<PodIndex>& pods) const {
  std::map<GangIndex, Work> lost;
  for (const PodIndex pod : pods) {
    if (state_.is_present(pod)) continue;
    Work& loss = lost[problem_.pods[pod].gang];
    loss = saturating_add(loss, evicted_value(problem_.pods[pod]));
  }
  std::vector<std::tuple<std::int32_t, Work, GangIndex>> ranked;
  for (const auto& [gang, work] : lost) ranked.emplace_back(problem_.gangs[gang].priority, work, gang);
  std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) {
    return std::pair(std::get<0>(a), std::get<1>(a)) > std::pair(std::get<0>(b), std::get<1>(b));
  });
  std::vector<GangIndex> gangs;
  for (const auto& entry : ranked) gangs.push_back(std::get<GangIndex>(entry));
  return gangs;
}

// Whether the total of the resources that the claimant asks for is available. True if nothing has been claimed yet.
bool VictimReturn::claimant_fits() const {
  return claim_.claimant.is_none() || check_.min_resources_hold(claim_.claimant);
}

// Puts as many of the gang's evicted pods back as fit where they were: enough for its minimum, or all, or none.
bool VictimReturn::bring_back(GangIndex gang) {
  const auto before = state_.checkpoint();
  bool any = false, all = true;
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (!ledger_.was_taken(pod) || state_.is_present(pod)) continue;
    const bool is_back = put_back(state_, bounds_, pod);
    any = any || is_back;
    all = all && is_back;
  }
  if (any && (all || is_satisfied(state_, gang)) && claimant_fits()) return true;
  state_.rollback(before);
  return false;
}

// Puts back the evicted pods of the gang that its minimum needs and lets waiting pods complete it, then puts back the
// others that still fit; or changes nothing.
bool VictimReturn::bring_back_completed(GangIndex gang) {
  if (!placer_.may_place(gang) || is_satisfied(state_, gang) || !has_waiting_pod(state_, gang)) return false;
  const auto before = state_.checkpoint();
  bool any = false;
  for (const bool is_surplus : {false, true}) {
    for (const GroupIndex leaf : problem_.gangs[gang].groups) {
      for (const PodIndex pod : problem_.groups[leaf].pods) {
        if (!is_surplus && state_.members(leaf) >= problem_.groups[leaf].minimum) break;
        any = (ledger_.was_taken(pod) && !state_.is_present(pod) && put_back(state_, bounds_, pod)) || any;
      }
    }
    if (!is_surplus && !(any && placer_.place_minimum(gang))) break;
  }
  if (any && is_satisfied(state_, gang) && claimant_fits()) {
    ledger_.note_gave_way(gang);
    return true;
  }
  state_.rollback(before);
  return false;
}

bool VictimReturn::bring_moved_back(const std::vector<PodIndex>& pods) {
  bool any = false;
  for (const PodIndex pod : pods) {
    if (!state_.is_present(pod) || is_home(state_, pod)) continue;
    const auto before = state_.checkpoint();
    state_.take(pod);
    if (put_back(state_, bounds_, pod) && claimant_fits()) {
      any = true;
    } else {
      state_.rollback(before);
    }
  }
  return any;
}

// Moves the gang's evicted pods to other nodes, except those that fit where they were: as many as it needs to keep its
// minimum, or none.
bool VictimReturn::move_elsewhere(GangIndex gang) {
  if (!fit::may_start(problem_.gangs[gang]) || !fit::queue_exists(problem_.gangs[gang])) return false;
  const auto before = state_.checkpoint();
  bool any = false;
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (!ledger_.was_taken(pod) || state_.is_present(pod)) continue;
    const bool may_fit = fits_total(state_, problem_.class_of(pod)) && ledger_.may_move_more(1);
    any = put_back(state_, bounds_, pod) || (may_fit && placer_.place_pod(pod)) || any;
  }
  if (any && is_satisfied(state_, gang)) return true;
  state_.rollback(before);
  return false;
}

ExchangeAttempt::Before ExchangeAttempt::begin(const ExchangeLimit& limit) {
  claim_.stage = ClaimStage::kPlain;
  claim_.rank = ranks_.latest();
  claim_.exchange = limit;
  return {attempt_.begin(), ledger_.evicted_loss()};
}

void ExchangeAttempt::evict_like(const PlannedEviction& eviction) {
  claim_.claimant = eviction.for_gang;
  claim_.mode = eviction.reason == EvictionReason::kPreempt ? PreemptionMode::kPreempt : PreemptionMode::kReclaim;
}

bool ExchangeAttempt::bring(const std::vector<PodIndex>& pods) {
  const auto before = ledger_.checkpoint();
  const bool placed = nominator_.with_room([&] {
    return std::ranges::all_of(pods, [&](PodIndex pod) {
      return state_.is_present(pod) || put_back(state_, bounds_, pod) || placer_.place_pod(pod);
    });
  });
  if (!placed) ledger_.rollback(before);
  return placed;
}

bool ExchangeAttempt::end(const Before& before) {
  returns_.settle();
  if (check_.rules_hold()) {
    std::vector<Work> levels = attempt_.levels_now();
    if (levels > attempt_.levels_before() ||
        (levels == attempt_.levels_before() && ledger_.evicted_loss() < before.evicted_loss)) {
      attempt_.keep(std::move(levels));
      return true;
    }
  }
  undo(before);
  return false;
}

}  // namespace muster::preemption
