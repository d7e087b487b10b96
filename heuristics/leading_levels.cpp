#include "heuristics/leading_levels.h"

#include <utility>

#include "model/levels.h"
#include "model/levels_parts.h"
#include "model/saturating.h"

namespace muster {

LeadingLevels::LeadingLevels(const Problem& problem, const FairShares& shares)
    : problem_(problem), shares_(shares), gangs_(problem.gangs.size()) {}

std::vector<Work> LeadingLevels::of(const ClusterState& state) {
  const std::size_t ranks = problem_.priorities.size();
  QueueItems units(problem_.queues.size());
  QueueWork unweighted{std::vector(ranks, Indexed<QueueIndex, WorkByKind>(problem_.queues.size(), WorkByKind{}))};
  std::vector<Work> weighted(ranks, 0);
  for (const GangIndex index : problem_.gangs.indices()) {
    const Gang& gang = problem_.gangs[index];
    const std::size_t rank = priority_rank(problem_, gang.priority);
    if (!gang.queue_is_leaf || rank == ranks) continue;
    GangWork& work = gangs_[index];
    if (!work.is_counted || work.version != state.version(index)) count(state, index, work);
    for (std::size_t kind = 0; kind < 2; ++kind) {
      for (const std::array<Work, 2>& unit : work.units) {
        if (unit[kind] > 0) units[gang.queue][kind].push_back({rank, {unit[kind], 1}});
      }
      Work& sum = unweighted.of_rank[rank][gang.queue][kind];
      sum = saturating_add(sum, work.unweighted[kind]);
    }
    weighted[rank] = saturating_add(weighted[rank], work.weighted);
  }
  std::vector<Work> values = share_values(problem_, shares_, std::move(units));
  const std::vector<Work> quota = quota_values(problem_, shares_, unweighted);
  values.insert(values.end(), quota.begin(), quota.end());
  Work sum = 0;
  for (const Work work : weighted) values.push_back(sum = saturating_add(sum, work));
  return values;
}

void LeadingLevels::count(const ClusterState& state, GangIndex index, GangWork& work) const {
  work = {state.version(index), true, {}, {}, 0};
  std::vector<PodIndex> present;
  for (const PodIndex pod : problem_.gangs[index].pods) {
    if (!state.is_present(pod)) continue;
    present.push_back(pod);
    const PodClass& pod_class = problem_.class_of(pod);
    Work& sum = work.unweighted[kind_of(pod_class)];
    sum = saturating_add(sum, pod_class.work);
    work.weighted = saturating_add(work.weighted, problem_.pods[pod].weighted_work);
  }
  if (!present.empty()) work.units = gang_units(problem_, index, present);
}

}  // namespace muster
