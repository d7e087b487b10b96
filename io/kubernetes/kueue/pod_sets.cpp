#include "io/kubernetes/kueue/pod_sets.h"

#include <algorithm>

namespace muster::kubernetes {

std::string_view KueuePodSets::add(const KubernetesPod& pod) {
  const GroupLabels& labels = pod.membership.labels;
  const PodStatus status = pod.state.status;
  const std::string_view name = labels.kueue_pod_set.empty() ? kNoSubgroup : labels.kueue_pod_set;
  const auto [at, is_new] = positions_.try_emplace(name, sets_.size());
  PodSet& set = is_new ? sets_.emplace_back() : sets_[at->second];
  set.name = name;
  const bool has_started = status == PodStatus::kRunning || status == PodStatus::kSucceeded;
  if (has_started) ++set.started;
  if (has_started || pod.state.waits()) ++set.there;
  keep_first(labels.kueue_required, set.topology.required);
  keep_first(labels.kueue_preferred, set.topology.preferred);
  return name;
}

void KueuePodSets::settle(KubernetesGroup& group) const {
  const auto has_topology = [](const PodSet& set) {
    return !set.topology.required.empty() || !set.topology.preferred.empty();
  };
  std::int64_t started = 0, there = 0;
  for (const PodSet& set : sets_) {
    started += set.started;
    there += set.there;
  }
  if (sets_.size() == 1 || std::ranges::none_of(sets_, has_topology)) {
    if (sets_.size() == 1) group.topology = sets_.front().topology;
    if (started > 0) group.minimum.members = static_cast<std::int32_t>(started);
    return;
  }
  for (const PodSet& set : sets_) {
    SnapshotSubgroup& subgroup = group.subgroups.emplace_back();
    subgroup.name = set.name;
    subgroup.min_member = static_cast<std::int32_t>(started > 0 ? set.started : set.there);
    subgroup.topology = set.topology;
  }
  if (started == 0 && group.minimum.members && *group.minimum.members > there && group.held.empty())
    group.held = "its group has fewer pods than it announces";
  group.minimum.members.reset();
}

}  // namespace muster::kubernetes
