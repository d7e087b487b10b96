#include "heuristics/local_search/step_acceptance.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"

namespace muster::local_search {

StepAcceptance::StepAcceptance(const preemption::EvictionRules& rules, PlanState& plan)
    : problem_(plan.state.problem()),
      plan_(plan),
      rules_(rules),
      leading_(problem_, rules.shares()),
      values_(leading_.of(plan.state)),
      usage_(plan.state.queues().usage()),
      victims_queues_(queues_of_victims()),
      reclaims_(reclaims_by_right()) {
  for (const PlannedEviction& eviction : plan_.evictions) noted_.insert(eviction.pod);
}

std::set<QueueIndex> StepAcceptance::queues_of_victims() const {
  std::set<QueueIndex> queues;
  for (const PlannedEviction& eviction : plan_.evictions) {
    if (plan_.state.is_present(eviction.pod)) continue;
    const QueueIndex leaf = problem_.gangs[problem_.pods[eviction.pod].gang].queue;
    if (!leaf.is_none()) queues.insert(problem_.queues[leaf].ancestors.begin(), problem_.queues[leaf].ancestors.end());
  }
  return queues;
}

// One for each kind of claimant on a node that pods left, and each queue of these.
std::vector<StepAcceptance::Reclaim> StepAcceptance::reclaims_by_right() const {
  std::map<std::pair<std::uint64_t, QueueIndex>, Reclaim> kinds;
  for (const PlannedEviction& eviction : plan_.evictions) {
    const GangIndex victim = problem_.pods[eviction.pod].gang;
    for (const PodIndex pod : plan_.state.pods_on(problem_.pods[eviction.pod].node)) {
      const GangIndex claimant = problem_.pods[pod].gang;
      if (fit::is_pending(problem_.pods[pod]))
        kinds.try_emplace({rules_.claimant_kind(claimant), problem_.gangs[victim].queue}, Reclaim{claimant, victim});
    }
  }
  std::vector<Reclaim> reclaims;
  for (const auto& [kind, reclaim] : kinds) {
    if (rules_.has_reclaimed_by_right(plan_.state, reclaim.claimant, reclaim.victim)) reclaims.push_back(reclaim);
  }
  return reclaims;
}

bool StepAcceptance::take_over(const std::vector<std::vector<Step>>& found, const StopRequest& stop) {
  std::vector<const Step*> steps;
  for (const std::vector<Step>& of_part : found) {
    for (const Step& step : of_part) steps.push_back(&step);
  }
  const auto before = plan_.state.checkpoint();
  const std::optional<Gain> gain = carry_out(steps);
  if (plan_.state.checkpoint() == before) return false;
  if (gain && accepts(*gain)) return true;
  plan_.state.rollback(before);
  bool any = false;
  for (const Step* const& step : steps) {
    if (stop && stop()) return any;
    any = take_over_alone(step) || any;
  }
  return any;
}

bool StepAcceptance::take_over_alone(const Step* const& step) {
  const auto before = plan_.state.checkpoint();
  const std::optional<Gain> gain = carry_out({&step, 1});
  if (gain && accepts(*gain)) return true;
  plan_.state.rollback(before);
  return false;
}

// The gain of the steps together, with what the state tells about preferred terms. None: one of them cannot be carried
// out; a part of them may have been.
std::optional<Gain> StepAcceptance::carry_out(std::span<const Step* const> steps) {
  const std::int64_t preferred_terms = plan_.state.preferred_terms().value();
  Gain gain;
  for (const Step* step : steps) {
    if (!carry_out(*step)) return std::nullopt;
    gain += step->gain;
  }
  gain.preference += plan_.state.preferred_terms().value() - preferred_terms - gain.preferred_terms;
  return gain;
}

bool StepAcceptance::accepts(const Gain& gain) {
  if (!plan_.evictions.empty() &&
      (!rules_.hold(plan_.state, plan_.evictions) || !keeps_victims_out() || !keeps_rights()))
    return false;
  std::vector<Work> values = leading_.of(plan_.state);
  if (values < values_) return false;
  if (values == values_) {
    Gain later = gain;
    later.worth = 0;
    return later > Gain{};
  }
  values_ = std::move(values);
  return true;
}

// No queue with evicted pods uses less than before: else the victim might have stayed.
bool StepAcceptance::keeps_victims_out() const {
  return std::ranges::all_of(victims_queues_, [&](QueueIndex queue) {
    return std::ranges::equal(usage_[queue], plan_.state.queues().usage()[queue], std::ranges::less_equal{});
  });
}

// Claimants that may reclaim still may: a queue above its share may not, and what left for it would have left in vain.
bool StepAcceptance::keeps_rights() const {
  return std::ranges::all_of(reclaims_, [&](const Reclaim& reclaim) {
    return rules_.has_reclaimed_by_right(plan_.state, reclaim.claimant, reclaim.victim);
  });
}

// False: it cannot be carried out; a part of it may have been.
bool StepAcceptance::carry_out(const Step& step) {
  ClusterState& state = plan_.state;
  for (const Change& change : step.changes) {
    if (change.from.node.is_none()) continue;
    if (!state.is_present(change.pod) || !(state.place_of(change.pod) == change.from)) return false;
    state.take(change.pod);
  }
  for (const Change& change : step.changes) {
    if (change.to.node.is_none()) continue;
    if (state.is_present(change.pod) || !fits(change.pod, change.to)) return false;
    state.put(change.pod, change.to.node, change.to.devices);
    note_move(change.pod);
  }
  return std::ranges::all_of(step.changes, [&](const Change& change) {
    const GangIndex gang = problem_.pods[change.pod].gang;
    return is_satisfied(state, gang) || !is_anything_present(state, gang);
  });
}

// Once for each running pod: if it is at home in the end, it has not moved. Which gang it makes room for is found then.
void StepAcceptance::note_move(PodIndex pod) {
  if (problem_.pods[pod].status == PodStatus::kRunning && noted_.insert(pod).second)
    plan_.evictions.push_back({pod, EvictionReason::kConsolidate, GangIndex::none()});
}

bool StepAcceptance::fits(PodIndex pod, const Place& place) const {
  return can_place(plan_.state, plan_.bounds, pod, place.node) &&
         fit::devices_at(room_of(plan_.state, place.node), problem_, problem_.class_of(pod), place.node, place.devices);
}

namespace {

using Key = std::tuple<QueueIndex, std::int32_t, bool, PodClassIndex, std::size_t, std::int32_t, Work>;

// All its pods are pending, of one class, and free to be anywhere as far as the gang is concerned.
bool is_of_free_equals(const SearchScope& scope, const Gang& gang) {
  const Problem& problem = scope.problem();
  const PodClassIndex pod_class = problem.pods[gang.pods.front()].pod_class;
  return std::ranges::all_of(
      gang.pods, [&](PodIndex pod) { return problem.pods[pod].pod_class == pod_class && scope.may_move(pod); });
}

Key key_of(const Problem& problem, const Gang& gang) {
  const Pod& pod = problem.pods[gang.pods.front()];
  return {gang.queue,       gang.priority,    gang.preemptible,
          pod.pod_class,    gang.pods.size(), problem.groups[gang.root].minimum,
          pod.weighted_work};
}

}  // namespace

SeniorityExchange::SeniorityExchange(const SearchScope& scope) : scope_(scope) {
  const Problem& problem = scope.problem();
  std::map<Key, std::vector<GangIndex>> lists;
  for (const GangIndex index : problem.gangs.indices()) {
    const Gang& gang = problem.gangs[index];
    if (gang.pods.empty() || !scope.may_drop(index) || !scope.may_add(index) || !is_of_free_equals(scope, gang))
      continue;
    lists[key_of(problem, gang)].push_back(index);
  }
  for (auto& [key, alike] : lists) {
    if (alike.size() < 2) continue;
    std::ranges::stable_sort(alike, std::ranges::greater{},
                             [&](GangIndex gang) { return problem.gangs[gang].times.seniority; });
    lists_.push_back(std::move(alike));
  }
}

void SeniorityExchange::run(ClusterState& state) const {
  const Problem& problem = scope_.problem();
  const auto waited = [&](GangIndex gang) { return problem.gangs[gang].times.seniority; };
  const auto present = [&](GangIndex gang) { return state.members(problem.gangs[gang].root); };
  const auto is_open = [&](PodIndex pod) { return !state.is_present(pod) || scope_.is_open(state.node_of(pod)); };
  for (const std::vector<GangIndex>& alike : lists_) {
    std::size_t oldest = 0, youngest = alike.size();  // the next that waits; one beyond the next that is placed
    while (true) {
      while (oldest < youngest && present(alike[oldest]) > 0) ++oldest;
      while (oldest < youngest && (present(alike[youngest - 1]) == 0 ||
                                   !std::ranges::all_of(problem.gangs[alike[youngest - 1]].pods, is_open)))
        --youngest;
      if (oldest >= youngest || waited(alike[oldest]) <= waited(alike[youngest - 1])) break;
      exchange(state, alike[youngest - 1], alike[oldest]);
    }
  }
}

void SeniorityExchange::exchange(ClusterState& state, GangIndex from, GangIndex to) const {
  const Problem& problem = scope_.problem();
  auto next = problem.gangs[to].pods.begin();
  for (const PodIndex pod : problem.gangs[from].pods) {
    if (!state.is_present(pod)) continue;
    const Place place = state.place_of(pod);
    state.take(pod);
    state.put(*next++, place.node, place.devices);
  }
}

}  // namespace muster::local_search
