#include "heuristics/local_search/part/waiting_pods.h"

#include <algorithm>

namespace muster::local_search {

void WaitingPods::insert(PodIndex pod) {
  std::vector<PodIndex>& pods = group_of(pod).pods;
  const auto less = [&](PodIndex a, PodIndex b) { return waits_less(a, b); };
  pods.insert(std::ranges::upper_bound(pods, pod, less), pod);
}

void WaitingPods::withdraw(PodIndex pod) { std::erase(group_of(pod).pods, pod); }

WaitingPods::Group& WaitingPods::group_of(PodIndex pod) {
  const std::pair key{problem_.pods[pod].pod_class, scope_.worth(pod)};
  const auto [at, is_new] = positions_.try_emplace(key, groups_.size());
  if (is_new) groups_.push_back({key.first, coarse_request(problem_.pod_classes[key.first]), key.second, {}});
  return groups_[at->second];
}

bool WaitingPods::waits_less(PodIndex a, PodIndex b) const {
  const std::int64_t wait_a = problem_.gangs[problem_.pods[a].gang].times.seniority;
  const std::int64_t wait_b = problem_.gangs[problem_.pods[b].gang].times.seniority;
  return wait_a != wait_b ? wait_a < wait_b : a > b;
}

}  // namespace muster::local_search
