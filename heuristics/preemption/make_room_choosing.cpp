// Once all claims are settled: for each priority with evictions, all victims are chosen anew together.
//
// Claims choose their victims one after another, each the cheapest for itself. A gang that has run for a short time and
// occupies many nodes is too expensive for any single claim, though all claims together could use its resources. This
// step evicts the gangs that have run for the shortest time, as much work as was evicted before, and the others come
// back: on their old nodes, on free nodes, or where moves alone make room.
#include <algorithm>
#include <set>
#include <utility>

#include "heuristics/preemption/make_room.h"
#include "model/base/saturating.h"
#include "model/objective/level_values.h"

namespace muster {

namespace {

constexpr std::size_t kGpuWork = 0;  // of WorkByKind

}  // namespace

// At most this many rounds for each priority, as long as the levels improve.
void RoomSearch::choose_victims_anew(int most_rounds) {
  if (!problem_.snapshot->policy.actions.consolidate) return;
  std::set<std::int32_t> priorities;
  for (const PlannedEviction& eviction : reasons_.entries()) {
    if (!state_.is_present(eviction.pod)) priorities.insert(problem_.gangs[problem_.pods[eviction.pod].gang].priority);
  }
  for (const std::int32_t priority : priorities) {
    for (int round = 0; round < most_rounds && choose_anew(priority);) ++round;
  }
  exchange_.reset();
}

// Whether that improved the levels; otherwise nothing has changed. Tries the amounts that the shares allow, then as
// much of each queue as has been evicted from it.
bool RoomSearch::choose_anew(std::int32_t priority) {
  return choose_anew(priority, false) || choose_anew(priority, true);
}

bool RoomSearch::choose_anew(std::int32_t priority, bool each_its_own) {
  if (is_out_of_time()) return false;
  const Examples examples = examples_of(priority);
  if (examples.empty()) return false;
  std::vector<Party> parties = parties_of(priority, examples);
  choose_leavers(parties, room_of_queues(priority, parties, each_its_own));
  spare_for_budgets(parties);
  if (std::ranges::all_of(parties, [](const Party& party) { return party.leaves == party.is_gone; })) return false;
  const Before before = begin_exchange({QueueIndex::none(), priority, -1});
  const std::int64_t loss_before = evicted_loss();
  for (const Party& party : parties) {
    if (!party.leaves || party.is_gone) continue;
    go_like(examples.at(party.queue));
    take(party.pods);
  }
  go_like(examples.begin()->second);
  means_ = Means::kConsolidate;
  std::ranges::stable_sort(parties, [](const Party& a, const Party& b) {
    return a.largest != b.largest ? a.largest > b.largest : b.costs_less_than(a);
  });
  bring_back_parties(parties);
  settle();
  return end_exchange(before, loss_before);
}

// Of the chosen ones, as many as disruption budgets allow, those first whose eviction costs least. All parties together
// are counted anew, since evicted ones may come back.
void RoomSearch::spare_for_budgets(std::vector<Party>& parties) const {
  if (state_.budgets_left().empty()) return;
  auto left = state_.budgets_left();
  const auto count = [&](const Party& party, std::int64_t sign) {
    for (const PodIndex pod : party.pods) {
      for (const DisruptionBudgetIndex budget : problem_.disruption_budgets.of(pod)) left[budget] += sign;
    }
  };
  for (const Party& party : parties) {
    if (party.is_gone) count(party, 1);
  }
  for (Party& party : parties) {
    party.leaves = party.leaves && problem_.disruption_budgets.allow(party.pods, left);
    if (party.leaves) count(party, -1);
  }
}

// First those that are to stay, then, while there is room, those that were to leave. Free capacity only shrinks, so a
// party equivalent to one that found none is not tried.
void RoomSearch::bring_back_parties(const std::vector<Party>& parties) {
  std::map<PodClassIndex, std::size_t> too_many;  // equivalent pods of one party that did not fit together
  for (const bool of_leavers : {false, true}) {
    for (const Party& party : parties) {
      if (party.leaves != of_leavers || is_out_of_time()) continue;
      const auto known = too_many.find(problem_.pods[party.pods.front()].pod_class);
      if (known != too_many.end() && party.pods.size() >= known->second) continue;
      if (bring(party.pods)) continue;
      const auto is_alike = [&](PodIndex pod) {
        return problem_.pods[pod].pod_class == problem_.pods[party.pods.front()].pod_class;
      };
      if (std::ranges::all_of(party.pods, is_alike))
        too_many[problem_.pods[party.pods.front()].pod_class] = party.pods.size();
    }
  }
}

// Puts the pods that are not present back, or elsewhere: all or none.
bool RoomSearch::bring(const std::vector<PodIndex>& pods) {
  const auto before = state_.checkpoint();
  const auto reasons_before = reasons_.checkpoint();
  placer_.exchange_clear([this](PodIndex pod, std::span<const NodeIndex> nodes) { return clear_for(pod, nodes); });
  const bool placed = std::ranges::all_of(
      pods, [&](PodIndex pod) { return state_.is_present(pod) || put_back(pod) || placer_.place_pod(pod); });
  placer_.exchange_clear(nullptr);
  if (!placed) {
    state_.rollback(before);
    reasons_.rollback(reasons_before);
  }
  return placed;
}

// Of each queue an eviction of that priority: any further victim there leaves for the same claim, in the same way.
// Preemption is preferred, since it has no condition on the shares.
RoomSearch::Examples RoomSearch::examples_of(std::int32_t priority) const {
  Examples examples;
  for (const PlannedEviction& eviction : reasons_.entries()) {
    const Gang& gang = problem_.gangs[problem_.pods[eviction.pod].gang];
    if (gang.priority != priority || state_.is_present(eviction.pod) || eviction.for_gang.is_none()) continue;
    PlannedEviction& example = examples.try_emplace(gang.queue, eviction).first->second;
    if (eviction.reason == EvictionReason::kPreempt && example.reason != EvictionReason::kPreempt) example = eviction;
  }
  return examples;
}

// The parties of the priority that have left or may leave: gangs as a whole, and the evicted part of others.
std::vector<Party> RoomSearch::parties_of(std::int32_t priority, const Examples& examples) const {
  std::set<GangIndex> claimants;
  std::vector<bool> is_reclaimed(problem_.gangs.size(), false);
  for (const PlannedEviction& eviction : reasons_.entries()) {
    claimants.insert(eviction.for_gang);
    if (eviction.reason == EvictionReason::kReclaim) is_reclaimed[problem_.pods[eviction.pod].gang.value()] = true;
  }
  std::vector<Party> parties;
  for (const GangIndex index : problem_.gangs.indices()) {
    const Gang& gang = problem_.gangs[index];
    if (gang.priority != priority || !rules_.may_evict(index) || !fit::timeout(gang) || !fit::queue_exists(gang))
      continue;
    const auto example = examples.find(gang.queue);
    if (example == examples.end()) continue;
    Party here, gone;
    bool any_fresh = false;
    for (const PodIndex pod : gang.pods) {
      if (state_.is_present(pod)) {
        any_fresh = any_fresh || is_fresh(pod);
        here.pods.push_back(pod);
      } else if (reasons_.contains(pod)) {
        gone.pods.push_back(pod);
      }
    }
    const PlannedEviction& like = example->second;
    const bool may_go = gone.pods.empty() && !here.pods.empty() && !any_fresh && !claimants.contains(index) &&
                        rules_.has_run_enough(state_, like.for_gang, index, like.reason);
    here.is_reclaimed = like.reason == EvictionReason::kReclaim;
    if (may_go) parties.push_back(described(std::move(here), gang));
    gone.is_gone = true;
    gone.is_reclaimed = is_reclaimed[index.value()];
    if (!gone.pods.empty()) parties.push_back(described(std::move(gone), gang));
  }
  return parties;
}

Party RoomSearch::described(Party party, const Gang& gang) const {
  party.queue = gang.queue;
  party.kind = muster::kind_of(problem_.class_of(party.pods.front()));
  for (const PodIndex pod : party.pods) {
    const Work work = problem_.class_of(pod).work;
    party.work = saturating_add(party.work, work);
    party.largest = std::max(party.largest, work);
    const Pod& p = problem_.pods[pod];
    party.loss = saturating_add(party.loss, saturating_multiply(p.weighted_work, p.run_seconds));
  }
  return party;
}

// The amount of each queue beyond its share, over running and evicted work of the priority or higher ones.
QueueRoom RoomSearch::room_of_queues(std::int32_t priority, const std::vector<Party>& parties,
                                     bool each_its_own) const {
  Indexed<QueueIndex, Work> gone(problem_.queues.size(), 0);
  for (const Party& party : parties) {
    if (!party.is_gone || party.kind != kGpuWork) continue;
    for (const QueueIndex queue : problem_.queues[party.queue].ancestors) gone[queue] += party.work;
  }
  const auto beyond = [&](QueueIndex queue) -> Work {
    const Amount share = shares_.share[queue][kQueueGpu];
    return share == kUnlimited ? 0 : (state_.usage_from(queue, priority)[kQueueGpu] - share) / 1'000 + gone[queue];
  };
  QueueRoom room{Indexed<QueueIndex, Work>(problem_.queues.size(), 0), gone, each_its_own};
  for (const QueueIndex leaf : problem_.queues.indices()) {
    room.beyond_share[leaf] = beyond(leaf);
    for (const QueueIndex queue : problem_.queues[leaf].ancestors) room.spare[leaf] += std::max<Work>(0, beyond(queue));
  }
  if (each_its_own) room.spare = std::move(gone);
  return room;
}

}  // namespace muster
