#include "heuristics/local_search/seniority_exchange.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "heuristics/state/fit.h"

namespace muster::local_search {

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
