#include "heuristics/state/leading_levels.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "model/objective/gang_units.h"
#include "model/objective/level_values.h"

namespace muster {

LeadingLevels::LeadingLevels(const Problem& problem, const FairShares& shares)
    : problem_(problem),
      shares_(shares),
      units_(problem.queues.size()),
      unweighted_(problem.objective.priorities.size(),
                  Indexed<QueueIndex, std::array<Wide, 2>>(problem.queues.size(), std::array<Wide, 2>{})),
      weighted_(problem.objective.priorities.size(), 0) {}

std::vector<Work> LeadingLevels::of(const ClusterState& state) {
  if (!first_) {
    count_all(state);
  } else {
    const auto& all = state.changes().changed_gangs();
    for (; read_ < all.size(); ++read_) recount(state, all[read_]);
  }
  read_ = state.changes().changed_gangs().size();

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

bool LeadingLevels::is_told(GangIndex index) const {
  const Gang& gang = problem_.gangs[index];
  return gang.queue_is_leaf && gang.rank != weighted_.size();
}

void LeadingLevels::count_all(const ClusterState& state) {
  auto counted = std::make_shared<Indexed<GangIndex, GangWork>>(problem_.gangs.size());
  for (const GangIndex gang : problem_.gangs.indices()) {
    (*counted)[gang].version = state.version(gang);
    if (!is_told(gang)) continue;
    (*counted)[gang] = work_of(state, gang);
    add(gang, (*counted)[gang], +1);
  }
  first_ = std::move(counted);
  changed_at_.assign(problem_.gangs.size(), kUnchanged);
}

void LeadingLevels::recount(const ClusterState& state, GangIndex index) {
  std::uint32_t& at = changed_at_[index];
  const GangWork& known = at == kUnchanged ? (*first_)[index] : changed_[at];
  if (known.version == state.version(index) || !is_told(index)) return;
  GangWork work = work_of(state, index);
  add(index, known, -1);
  add(index, work, +1);
  if (at == kUnchanged) {
    at = static_cast<std::uint32_t>(changed_.size());
    changed_.push_back(std::move(work));
  } else {
    changed_[at] = std::move(work);
  }
}

void LeadingLevels::add(GangIndex index, const GangWork& work, std::int64_t times) {
  const Gang& gang = problem_.gangs[index];
  const std::size_t rank = gang.rank;
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
  work.version = state.version(index);
  const std::span<const PodIndex> pods = problem_.gangs[index].pods;
  std::vector<PodIndex> some;
  const bool are_all_present = std::ranges::all_of(pods, [&](PodIndex pod) { return state.is_present(pod); });
  if (!are_all_present)
    std::ranges::copy_if(pods, std::back_inserter(some), [&](PodIndex pod) { return state.is_present(pod); });
  const std::span<const PodIndex> present = are_all_present ? pods : some;
  for (const PodIndex pod : present) {
    const PodClass& pod_class = problem_.class_of(pod);
    Work& sum = work.unweighted[kind_of(pod_class)];
    sum = saturating_add(sum, pod_class.work);
    work.weighted = saturating_add(work.weighted, problem_.pods[pod].weighted_work);
  }
  if (!present.empty()) work.units = gang_units(problem_, index, present);
  return work;
}

}  // namespace muster
