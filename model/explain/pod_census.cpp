#include "model/explain/pod_census.h"

#include "model/base/saturating.h"

namespace muster::explain {

const PodCensus::ClassCount& PodCensus::of(PodClassIndex index) {
  const auto [at, is_new] = counts_.try_emplace(index);
  if (!is_new) return at->second;
  ClassCount& counted = at->second;
  const PodClass& pod_class = problem_.pod_classes[index];
  const std::size_t mark = room_.mark();
  const NodeGroups& groups = groups_for(pod_class);
  for (const NodeClassIndex node_class : problem_.node_classes.indices()) {
    if (!pod_class.allowed[node_class.value()]) continue;
    for (const AlikeNodes& alike : groups[node_class]) {
      const std::int64_t pods = room_.count(pod_class, alike.node, kLargest);
      if (pods == 0) continue;
      counted.total = saturating_add(counted.total, saturating_multiply(pods, alike.nodes));
      if (pods < kLargest) room_.put_alone(pod_class, alike.node, pods);
    }
  }
  counted.full = tally_blockers(problem_, room_, index, groups);
  room_.roll_back(mark);
  return counted;
}

const BlockerTally& PodCensus::fresh_tally(PodClassIndex index) {
  of(index);
  std::optional<BlockerTally>& fresh = counts_[index].fresh;
  if (!fresh) fresh = tally_blockers(problem_, room_, index, groups_for(problem_.pod_classes[index]));
  return *fresh;
}

const NodeGroups& PodCensus::groups_for(const PodClass& pod_class) {
  const bool is_plain = !pod_class.has_inter_pod_rules();
  NodeGroups& groups = is_plain ? alike_ : single_;
  if (groups.size() == 0) groups = is_plain ? alike_nodes(problem_, room_) : single_nodes(problem_);
  return groups;
}

}  // namespace muster::explain
