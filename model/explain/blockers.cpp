#include "model/explain/blockers.h"

#include <algorithm>
#include <utility>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/explain/reason.h"
#include "model/explain/supply_sums.h"
#include "model/problem/exceeded.h"
#include "model/snapshot/filters.h"

namespace muster::explain {

namespace {

std::string words_of(FilterCode filter, const std::string& detail) {
  switch (filter) {
    case FilterCode::kUnschedulable:
      return "node(s) were unschedulable";
    case FilterCode::kUntoleratedTaint:
      return "node(s) had untolerated taint " + detail;
    case FilterCode::kNodeSelector:
    case FilterCode::kNodeAffinity:
      return "node(s) didn't match Pod's node affinity/selector";
    case FilterCode::kVolumeNodeAffinity:
      return "node(s) didn't match PersistentVolume's node affinity";
    case FilterCode::kPodAntiAffinity:
      return "node(s) didn't match pod anti-affinity rules";
    case FilterCode::kPodAffinity:
      return "node(s) didn't match pod affinity rules";
    case FilterCode::kTopologySpread:
      return "node(s) didn't match pod topology spread constraints";
    case FilterCode::kGpuModel:
      return "node(s) didn't match the GPU model";
    case FilterCode::kReserved:
      return "node(s) were held for another gang";
    case FilterCode::kHostPorts:
      return "node(s) didn't have free ports for the requested pod ports";
    case FilterCode::kInsufficientGpu:
      return "Insufficient gpu";
    case FilterCode::kInsufficientCpu:
      return "Insufficient cpu";
    case FilterCode::kInsufficientMemory:
      return "Insufficient memory";
    case FilterCode::kInsufficient:
      return "Insufficient " + detail;
    case FilterCode::kInsufficientPods:
      return "Too many pods";
    case FilterCode::kTopology:
      return "node(s) were outside the required topology domain";
    case FilterCode::kAvailable:
      break;
  }
  return "node(s) could take the pod";
}

const Taint* first_untolerated(const PodSpec& spec, const SnapshotNode& node) {
  const auto at = std::ranges::find_if(node.taints, [&](const Taint& taint) {
    return taint.effect != TaintEffect::kPreferNoSchedule && !tolerates(spec.tolerations, taint);
  });
  return at == node.taints.end() ? nullptr : &*at;
}

// The resource in which the node is short, host ports and GPUs first; none if it takes the pod.
FilterCode short_filter(const Problem& problem, const RemainingCapacity& remaining, const PodClass& pod_class,
                        NodeIndex node, ResourceIndex* other) {
  const std::span<const std::int64_t> free = remaining.free(node);
  const auto is_short = [&](ResourceIndex r) {
    const Amount request = pod_class.request[r.value()];
    return request > 0 && free[r.value()] < request;
  };
  const std::size_t first_port = problem.resource_count - problem.host_port_count();
  for (std::size_t r = first_port; r < problem.resource_count; ++r) {
    if (is_short(ResourceIndex(r))) return FilterCode::kHostPorts;
  }
  if (!remaining.takes_devices(pod_class, node)) return FilterCode::kInsufficientGpu;
  const ResourceIndex count = device_count_resource(problem);
  if (!count.is_none() && is_short(count)) return FilterCode::kInsufficientGpu;
  if (is_short(kCpu)) return FilterCode::kInsufficientCpu;
  if (is_short(kMemory)) return FilterCode::kInsufficientMemory;
  *other = first_other(problem, is_short);
  if (!other->is_none()) return FilterCode::kInsufficient;
  return is_short(kPods) ? FilterCode::kInsufficientPods : FilterCode::kAvailable;
}

// Of the rules between pods.
FilterCode rule_filter(const RemainingCapacity& remaining, const PodClass& pod_class, NodeIndex node) {
  if (remaining.conflicts(pod_class, node)) return FilterCode::kPodAntiAffinity;
  if (!remaining.lets_in_by_affinity(pod_class, node)) return FilterCode::kPodAffinity;
  return remaining.lets_in_by_spread(pod_class, node) ? FilterCode::kAvailable : FilterCode::kTopologySpread;
}

template <class IsOutside>
BlockerTally charge_groups(const Problem& problem, const RemainingCapacity& remaining, PodClassIndex pod_class_index,
                           const NodeGroups& nodes, const IsOutside& is_outside) {
  const PodClass& pod_class = problem.pod_classes[pod_class_index];
  const bool has_rules = pod_class.has_inter_pod_rules();
  BlockerTally tally;
  std::vector<std::int64_t> by_filter(static_cast<std::size_t>(FilterCode::kAvailable) + 1);
  std::vector<std::int64_t> by_resource(problem.resource_count);
  for (const NodeClassIndex index : problem.node_classes.indices()) {
    const NodeClass& node_class = problem.node_classes[index];
    if (node_class.nodes.empty()) continue;
    const bool is_held = is_closed_by_hold(problem, pod_class, index);
    if (!pod_class.allowed[index.value()] && !is_held) {
      const auto [filter, detail] = static_blocker(problem, pod_class, node_class);
      if (filter != FilterCode::kGpuModel) {
        tally.charge(filter, detail, std::ssize(node_class.nodes));
        continue;
      }
    }
    for (const AlikeNodes& alike : nodes[index]) {
      ResourceIndex other;
      FilterCode filter = has_rules ? rule_filter(remaining, pod_class, alike.node) : FilterCode::kAvailable;
      if (filter == FilterCode::kAvailable) {
        filter = is_held ? FilterCode::kReserved : FilterCode::kGpuModel;
        if (pod_class.allowed[index.value()]) {
          filter = short_filter(problem, remaining, pod_class, alike.node, &other);
          if (filter == FilterCode::kAvailable && is_outside(alike.node)) filter = FilterCode::kTopology;
        }
      }
      (filter == FilterCode::kInsufficient ? by_resource[other.value()]
                                           : by_filter[static_cast<std::size_t>(filter)]) += alike.nodes;
    }
  }
  for (std::size_t i = 0; i < by_filter.size(); ++i) tally.charge(static_cast<FilterCode>(i), "", by_filter[i]);
  for (std::size_t r = 0; r < problem.resource_count - problem.host_port_count(); ++r) {
    tally.charge(FilterCode::kInsufficient, std::string(problem.resource_name(ResourceIndex(r))), by_resource[r]);
  }
  return tally;
}

}  // namespace

void BlockerTally::charge(FilterCode filter, const std::string& detail, std::int64_t nodes) {
  if (nodes > 0) nodes_[{filter, detail}] += nodes;
}

std::int64_t BlockerTally::available() const {
  const auto at = nodes_.find({FilterCode::kAvailable, ""});
  return at == nodes_.end() ? 0 : at->second;
}

bool BlockerTally::charges(FilterCode filter) const {
  return std::ranges::any_of(nodes_, [&](const auto& charged) { return charged.first.first == filter; });
}

std::vector<Blocker> BlockerTally::blockers() const {
  std::vector<Blocker> list;
  for (const auto& [key, nodes] : nodes_) {
    Filter filter{key.first, key.first == FilterCode::kInsufficient ? key.second : std::string()};
    if (!list.empty() && filter_text(list.back().filter) == filter_text(filter)) {  // as of two taints
      list.back().nodes += nodes;
    } else {
      list.push_back({std::move(filter), nodes});
    }
  }
  return list;
}

std::vector<BlockerTally::Charge> BlockerTally::entries() const {
  std::vector<Charge> list;
  for (const auto& [key, nodes] : nodes_) list.push_back({key.first, key.second, nodes});
  return list;
}

std::string BlockerTally::text() const {
  std::int64_t total = 0;
  std::map<std::string, std::int64_t> by_words;
  for (const auto& [key, nodes] : nodes_) {
    total += nodes;
    if (key.first != FilterCode::kAvailable) by_words[words_of(key.first, key.second)] += nodes;
  }
  std::vector<std::string> parts;
  for (const auto& [words, nodes] : by_words) parts.push_back(std::to_string(nodes) + " " + words);
  std::ranges::sort(parts);
  std::string text = std::to_string(available()) + "/" + std::to_string(total) + " nodes are available";
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? ": " : ", ") + parts[i];
  return text + ".";
}

std::pair<FilterCode, std::string> static_blocker(const Problem& problem, const PodClass& pod_class,
                                                  const NodeClass& node_class) {
  const PodSpec& spec = problem.snapshot->pod_specs[pod_class.spec];
  const SnapshotNode& node = problem.snapshot->nodes[node_class.nodes.front().value()];
  MUSTER_REQUIRE(!passes_filters(spec, node));
  if (node.unschedulable) return {FilterCode::kUnschedulable, ""};
  if (const Taint* taint = first_untolerated(spec, node)) {
    return {FilterCode::kUntoleratedTaint, "{" + std::string(taint->key) + ": " + std::string(taint->value) + "}"};
  }
  if (!node_selector_holds(spec, node)) return {FilterCode::kNodeSelector, ""};
  if (!required_affinity_holds(spec, node)) return {FilterCode::kNodeAffinity, ""};
  if (!volume_terms_hold(spec, node)) return {FilterCode::kVolumeNodeAffinity, ""};
  return {FilterCode::kGpuModel, ""};
}

FilterCode filter_on(const Problem& problem, const RemainingCapacity& remaining, const PodClass& pod_class,
                     NodeIndex node, ResourceIndex* other) {
  MUSTER_REQUIRE_SLOW(pod_class.allowed[problem.nodes[node].node_class.value()]);
  const FilterCode filter = rule_filter(remaining, pod_class, node);
  return filter == FilterCode::kAvailable ? short_filter(problem, remaining, pod_class, node, other) : filter;
}

BlockerTally tally_blockers(const Problem& problem, const RemainingCapacity& remaining, PodClassIndex pod_class,
                            const NodeGroups& nodes) {
  return charge_groups(problem, remaining, pod_class, nodes, [](NodeIndex) { return false; });
}

BlockerTally tally_blockers(const Problem& problem, const RemainingCapacity& remaining, PodClassIndex pod_class,
                            GroupIndex leaf, const Packing& packing) {
  std::vector<std::pair<TopologyLevelIndex, DomainIndex>> domains;
  for (const auto& [group, domain] : packing.domains) {
    GroupIndex at = leaf;
    while (!at.is_none() && at != group) at = problem.groups[at].parent;
    if (!at.is_none()) domains.emplace_back(problem.groups[group].required_level, domain);
  }
  const auto is_outside = [&](NodeIndex node) {
    return std::ranges::any_of(domains, [&](const auto& chosen) {
      return chosen.second.is_none() || problem.nodes[node].domains[chosen.first.value()] != chosen.second;
    });
  };
  return charge_groups(problem, remaining, pod_class, single_nodes(problem), is_outside);
}

const PodCensus::ClassCount& PodCensus::of(PodClassIndex index) {
  const auto [at, is_new] = counts_.try_emplace(index);
  if (!is_new) return at->second;
  ClassCount& counted = at->second;
  const PodClass& pod_class = problem_.pod_classes[index];
  const std::size_t mark = remaining_.mark();
  const NodeGroups& groups = groups_for(pod_class);
  for (const NodeClassIndex node_class : problem_.node_classes.indices()) {
    if (!pod_class.allowed[node_class.value()]) continue;
    for (const AlikeNodes& alike : groups[node_class]) {
      const std::int64_t pods = remaining_.count(pod_class, alike.node, kLargest);
      if (pods == 0) continue;
      counted.total = saturating_add(counted.total, saturating_multiply(pods, alike.nodes));
      if (pods < kLargest) remaining_.put_alone(pod_class, alike.node, pods);
    }
  }
  counted.full = tally_blockers(problem_, remaining_, index, groups);
  remaining_.roll_back(mark);
  return counted;
}

const BlockerTally& PodCensus::fresh_tally(PodClassIndex index) {
  of(index);
  std::optional<BlockerTally>& fresh = counts_[index].fresh;
  if (!fresh) fresh = tally_blockers(problem_, remaining_, index, groups_for(problem_.pod_classes[index]));
  return *fresh;
}

const NodeGroups& PodCensus::groups_for(const PodClass& pod_class) {
  const bool is_plain = !pod_class.has_inter_pod_rules();
  NodeGroups& groups = is_plain ? alike_ : single_;
  if (groups.size() == 0) groups = is_plain ? alike_nodes(problem_, remaining_) : single_nodes(problem_);
  return groups;
}

}  // namespace muster::explain
