#include "heuristics/greedy/present_work.h"

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include "heuristics/state/fit.h"
#include "model/base/require.h"
#include "model/objective/gang_units.h"

namespace muster::greedy {

namespace {

void count_plain_gang(const ClusterState& state, const WaitingGang& gang, PassAdmission& admission) {
  const std::int32_t present = state.members(gang.leaf);
  if (present == 0 || present < gang.needed) return;
  admission.count(gang.queue, gang.minimum);
  const WorkPair unit = work_pair(state.problem().pod_classes[gang.pod_class]);
  for (std::int32_t i = std::max(0, gang.needed); i < present; ++i) admission.count(gang.queue, unit);
}

void count_pods(const ClusterState& state, const WaitingGang& gang, PassAdmission& admission) {
  const Problem& problem = state.problem();
  std::vector<PodIndex> present;
  for (const PodIndex pod : problem.gangs[gang.gang].pods) {
    if (state.is_present(pod)) present.push_back(pod);
  }
  if (present.empty()) return;
  for (const WorkPair& unit : gang_units(problem, gang.gang, present)) admission.count(gang.queue, unit);
}

}  // namespace

void count_present_units(const ClusterState& state, const GangSequence& sequence, const GangSequence::Section& section,
                         PassAdmission& admission) {
  for (const Keyed& key : section.all) {
    const WaitingGang& gang = sequence.gangs().all()[key.position];
    gang.leaf.is_none() ? count_pods(state, gang, admission) : count_plain_gang(state, gang, admission);
  }
}

bool PresentSums::count(std::uint32_t rank, PassAdmission& admission) {
  read_changes();
  const auto first = sums_.lower_bound({std::exchange(uncounted_rank_, rank + 1), QueueIndex(0)});
  const auto last = sums_.lower_bound({rank + 1, QueueIndex(0)});
  return std::ranges::all_of(std::ranges::subrange(first, last),
                             [&](const auto& entry) { return admission.count_sum(entry.first.second, entry.second); });
}

void PresentSums::read_changes() {
  const auto& all = state_.changes().changed_gangs();
  if (counted_.empty() && !all.empty()) counted_.resize(problem_.gangs.size());
  for (; changes_read_ < all.size(); ++changes_read_) {
    const GangIndex gang = all[changes_read_];
    Counted& counted = counted_[gang];
    if (!counted.is_known) counted = {present_work(before_, gang), before_.version(gang), true};
    if (counted.version == state_.version(gang) || !fit::queue_exists(problem_.gangs[gang])) continue;
    recount(gang, problem_.gangs[gang].rank, problem_.gangs[gang].queue, present_work(state_, gang));
  }
}

void PresentSums::note_minimum(const WaitingGang& gang) {
  MUSTER_REQUIRE_SLOW(gang.shape >= 0);
  if (counted_.empty()) counted_.resize(problem_.gangs.size());
  recount(gang.gang, problem_.gangs[gang.gang].rank, gang.queue, gang.minimum);
}

void PresentSums::recount(GangIndex gang, std::uint32_t rank, QueueIndex queue, const WorkPair& now) {
  Counted& counted = counted_[gang];
  WorkPair& sum = sums_[{rank, queue}];
  for (std::size_t side = 0; side < 2; ++side) sum[side] += now[side] - counted.work[side];
  counted = {now, state_.version(gang), true};
}

}  // namespace muster::greedy
