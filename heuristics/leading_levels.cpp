#include "heuristics/leading_levels.h"

#include <algorithm>

#include "model/levels.h"
#include "model/levels_parts.h"

namespace muster {

LeadingLevels::LeadingLevels(const Problem& problem, const FairShares& shares)
    : problem_(problem),
      shares_(shares),
      units_(problem.queues.size()),
      unweighted_(problem.priorities.size(),
                  Indexed<QueueIndex, std::array<Wide, 2>>(problem.queues.size(), std::array<Wide, 2>{})),
      weighted_(problem.priorities.size(), 0) {}

std::vector<Work> LeadingLevels::of(const ClusterState& state) {
  if (!is_counted_) {
    gangs_.resize(problem_.gangs.size());
    versions_.resize(problem_.gangs.size());
    for (const GangIndex gang : problem_.gangs.indices()) {
      versions_[gang] = state.version(gang);
      recount(state, gang);
    }
  } else {
    const auto& all = state.changed_gangs();
    for (; read_ < all.size(); ++read_) {
      const GangIndex gang = all[read_];
      if (std::exchange(versions_[gang], state.version(gang)) != state.version(gang)) recount(state, gang);
    }
  }
  is_counted_ = true;
  read_ = state.changed_gangs().size();

  QueueItems items(problem_.queues.size());
  QueueWork work{std::vector(weighted_.size(), Indexed<QueueIndex, WorkByKind>(problem_.queues.size(), WorkByKind{}))};
  for (const QueueIndex queue : problem_.queues.indices()) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      for (const auto& [unit, count] : units_[queue][kind])
        items[queue][kind].push_back({unit.first, {unit.second, count}});
      for (std::size_t rank = 0; rank < weighted_.size(); ++rank)
        work.of_rank[rank][queue][kind] = saturate(unweighted_[rank][queue][kind]);
    }
  }
  std::vector<Work> values = share_values(problem_, shares_, std::move(items));
  const std::vector<Work> quota = quota_values(problem_, shares_, work);
  values.insert(values.end(), quota.begin(), quota.end());
  Work sum = 0;
  for (const Wide weighted : weighted_) values.push_back(sum = saturating_add(sum, saturate(weighted)));
  return values;
}

void LeadingLevels::recount(const ClusterState& state, GangIndex index) {
  const Gang& gang = problem_.gangs[index];
  if (!gang.queue_is_leaf || priority_rank(problem_, gang.priority) == weighted_.size()) return;
  GangWork work = work_of(state, index);
  add(index, gangs_[index], -1);
  add(index, work, +1);
  gangs_[index] = std::move(work);
}

void LeadingLevels::add(GangIndex index, const GangWork& work, std::int64_t times) {
  const Gang& gang = problem_.gangs[index];
  const std::size_t rank = priority_rank(problem_, gang.priority);
  for (std::size_t kind = 0; kind < 2; ++kind) {
    Units& units = units_[gang.queue][kind];
    for (const std::array<Work, 2>& unit : work.units) {
      if (unit[kind] <= 0) continue;
      const auto at = units.try_emplace({rank, unit[kind]}, 0).first;
      at->second += times;
      if (at->second == 0) units.erase(at);
    }
    unweighted_[rank][gang.queue][kind] += Wide{times} * work.unweighted[kind];
  }
  weighted_[rank] += Wide{times} * work.weighted;
}

LeadingLevels::GangWork LeadingLevels::work_of(const ClusterState& state, GangIndex index) const {
  GangWork work;
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
  return work;
}

}  // namespace muster
