// Once all claims are settled: of a priority of which something was evicted, all victims are chosen anew at once.
//
// Claims choose their victims one after another, each those that are cheapest for itself. A gang that has run for a
// short time and stands on many nodes is too dear for any of them, though all of them together could use its room. Here
// those go who have run for the shortest time, as much as was evicted, and the others come back: where they ran, or
// where there is room, or where room is made by moves alone.
#include <algorithm>
#include <set>
#include <utility>

#include "heuristics/make_room.h"
#include "model/levels_parts.h"
#include "model/saturating.h"

namespace muster {

namespace {

constexpr std::size_t kGpuWork = 0;  // of WorkByKind

}  // namespace

// So many times over at most for each priority, as long as the levels gain by it.
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

// Whether that made the levels better; otherwise nothing has changed.
bool RoomSearch::choose_anew(std::int32_t priority) {
  if (is_out_of_time()) return false;
  const Examples examples = examples_of(priority);
  if (examples.empty()) return false;
  std::vector<Party> parties = parties_of(priority, examples);
  mark_leavers(priority, parties);
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

// First those who are to stay, then, while there is room, those who were to leave. Room only shrinks, so who is alike
// to others that found none is not tried.
void RoomSearch::bring_back_parties(const std::vector<Party>& parties) {
  std::map<PodClassIndex, std::size_t> too_many;  // alike pods of one party that found no room together
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

// Puts those of the pods that are not present back, or elsewhere: all or none.
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

// Of each queue an eviction of that priority: whoever else goes there goes for the same claim, in the same way; rather
// by preemption, which asks for nothing of the shares.
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

// Those of the priority who have gone or may go: gangs as a whole, and what has gone of others.
std::vector<RoomSearch::Party> RoomSearch::parties_of(std::int32_t priority, const Examples& examples) const {
  std::set<GangIndex> claimants;
  for (const PlannedEviction& eviction : reasons_.entries()) claimants.insert(eviction.for_gang);
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
    if (may_go) parties.push_back(described(std::move(here), gang));
    gone.is_gone = true;
    if (!gone.pods.empty()) parties.push_back(described(std::move(gone), gang));
  }
  return parties;
}

RoomSearch::Party RoomSearch::described(Party party, const Gang& gang) const {
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

// Marks who is to go: as much as has gone, those first whose going costs least; of no queue more than what it has
// beyond its share, unless there is no other way.
void RoomSearch::mark_leavers(std::int32_t priority, std::vector<Party>& parties) const {
  std::array<Work, 2> must_leave{};
  Indexed<QueueIndex, Work> gone(problem_.queues.size(), 0), spare(problem_.queues.size(), 0);  // with devices
  for (const Party& party : parties) {
    if (!party.is_gone) continue;
    must_leave[party.kind] += party.work;
    if (party.kind != kGpuWork) continue;
    for (const QueueIndex queue : problem_.queues[party.queue].ancestors) gone[queue] += party.work;
  }
  for (const QueueIndex leaf : problem_.queues.indices()) {
    for (const QueueIndex queue : problem_.queues[leaf].ancestors) {
      const Amount used = state_.usage_from(queue, priority)[kQueueGpu], share = shares_.share[queue][kQueueGpu];
      if (share != kUnlimited) spare[leaf] += std::max<Work>(0, (used - share) / 1'000 + gone[queue]);
    }
  }
  std::ranges::stable_sort(parties, [](const Party& a, const Party& b) { return a.costs_less_than(b); });
  const auto mark = [&](Party& party) {
    party.leaves = true;
    must_leave[party.kind] -= party.work;
    if (party.kind == kGpuWork) spare[party.queue] -= party.work;
  };
  for (const bool is_limited : {true, false}) {
    for (Party& party : parties) {
      const bool may_go = !is_limited || party.kind != kGpuWork || party.work <= spare[party.queue];
      if (!party.leaves && may_go && party.work <= must_leave[party.kind]) mark(party);
    }
    for (std::size_t kind = 0; kind < 2; ++kind) {
      Party* last = nullptr;
      for (Party& party : parties) {
        if (party.leaves || party.kind != kind || must_leave[kind] <= 0 || party.work < must_leave[kind]) continue;
        if (is_limited && kind == kGpuWork && party.work > spare[party.queue]) continue;
        if (last == nullptr || party.loss < last->loss) last = &party;
      }
      if (last != nullptr) mark(*last);
    }
  }
}

}  // namespace muster
