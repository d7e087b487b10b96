#include "model/objective/wholeness.h"

#include <algorithm>

#include <boost/container/small_vector.hpp>

#include "model/objective/level_values.h"
#include "model/problem/work.h"

namespace muster {
namespace {

constexpr std::size_t kFewNodes = 16;  // of a gang: no memory is asked for

bool offers_gpus(const Problem& problem, const NodeClass& node_class) {
  if (node_class.device_count > 0) return true;
  const auto& names = problem.snapshot->resource_names;
  return std::ranges::any_of(names.indices(), [&](ResourceIndex resource) {
    return node_class.capacity[resource.value()] > 0 && mig_slice_work(names[resource]) > 0;
  });
}

// With a single GPU the node is idle exactly if the GPU is.
bool can_be_broken(const Problem& problem, const NodeClass& node_class) {
  return node_class.device_count > 1 || (node_class.device_count == 0 && offers_gpus(problem, node_class));
}

// Different values beyond the first.
template <class Values>
std::int64_t beyond_one(Values& values) {
  std::ranges::sort(values);
  const auto different = std::ranges::unique(values).begin() - values.begin();
  return std::max<std::int64_t>(0, different - 1);
}

GangSpread spread_of_gangs(const Problem& problem, const Plan& plan, const EndState& end_state) {
  std::vector<GangIndex> gangs;
  for (const Placement& placement : plan.placements) {
    const GangIndex gang = problem.pods[placement.pod].gang;
    const bool is_last = !gangs.empty() && gangs.back() == gang;
    if (problem.gangs[gang].pods.size() > 1 && !is_last) gangs.push_back(gang);
  }
  std::ranges::sort(gangs);
  gangs.erase(std::ranges::unique(gangs).begin(), gangs.end());
  GangSpread sum;
  std::vector<GangNode> nodes;
  for (const GangIndex gang : gangs) {
    nodes.clear();
    for (const PodIndex pod : problem.gangs[gang].pods) {
      if (end_state.is_present(pod)) nodes.push_back({end_state.node_of[pod], problem.class_of(pod).gpu.devices > 0});
    }
    sum += spread_of_gang(problem, nodes);
  }
  return sum;
}

}  // namespace

WholeNodes::WholeNodes(const Problem& problem)
    : problem_(problem),
      counts_(problem.nodes.size(), 0),
      class_has_gpus_(problem.node_classes.size(), 0),
      may_avoid_gpus_(problem.pod_classes.size(), 0) {
  for (const NodeClassIndex index : problem.node_classes.indices()) {
    const NodeClass& node_class = problem.node_classes[index];
    class_has_gpus_[index] = offers_gpus(problem, node_class) ? 1 : 0;
    has_gpus_ = has_gpus_ || (has_gpus(index) && !node_class.cordoned);
  }
  for (const NodeIndex node : problem.nodes.indices()) {
    const NodeClass& node_class = problem.class_of(node);
    counts_[node] = !node_class.cordoned && (can_be_broken(problem, node_class) || !has_gpus_) ? 1 : 0;
  }
  for (const Pod& pod : problem.pods) {
    if (pod.status == PodStatus::kPending && !pod.nominated_node.is_none()) counts_[pod.nominated_node] = 0;
  }
  countable_ = std::ranges::count(counts_, 1);
  std::vector<NodeClassIndex> without_gpus;
  std::ranges::copy_if(problem.node_classes.indices(), std::back_inserter(without_gpus),
                       [&](NodeClassIndex node_class) { return !has_gpus(node_class); });
  for (const PodClassIndex index : problem.pod_classes.indices()) {
    const PodClass& pod_class = problem.pod_classes[index];
    if (pod_class.counts_as_gpu) continue;
    const bool may_avoid = std::ranges::any_of(
        without_gpus, [&](NodeClassIndex node_class) { return pod_class.allowed[node_class.value()]; });
    may_avoid_gpus_[index] = may_avoid ? 1 : 0;
  }
}

GangSpread& GangSpread::operator+=(const GangSpread& other) {
  nodes += other.nodes;
  domains += other.domains;
  models += other.models;
  return *this;
}

GangSpread spread_of_gang(const Problem& problem, std::vector<GangNode>& nodes) {
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  GangSpread spread;
  for (std::size_t i = 1; i < nodes.size(); ++i) spread.nodes += nodes[i].node != nodes[i - 1].node ? 1 : 0;
  if (spread.nodes == 0) return spread;
  boost::container::small_vector<ModelIndex, kFewNodes> models;
  for (const GangNode& at : nodes) {
    if (at.uses_devices) models.push_back(problem.class_of(at.node).model);
  }
  spread.models = beyond_one(models);
  for (const TopologyLevelIndex level : problem.topology.own_levels()) {
    boost::container::small_vector<DomainIndex, kFewNodes> domains;
    for (const GangNode& at : nodes) domains.push_back(problem.nodes[at.node].domains[level.value()]);
    spread.domains += beyond_one(domains);
  }
  return spread;
}

Indexed<NodeIndex, std::uint8_t> broken_nodes(const Problem& problem, const WholeNodes& whole_nodes,
                                              const EndState& end_state) {
  Indexed<NodeIndex, std::uint8_t> is_broken(problem.nodes.size(), 0);
  for (const PodIndex pod : problem.pods.indices()) {
    const NodeIndex node = end_state.node_of[pod];
    if (!node.is_none() && whole_nodes.breaks(pod, node)) is_broken[node] = 1;
  }
  return is_broken;
}

namespace {

std::int64_t count_whole(const Problem& problem, const WholeNodes& whole_nodes,
                         const Indexed<NodeIndex, std::uint8_t>& is_broken) {
  return std::ranges::count_if(problem.nodes.indices(),
                               [&](NodeIndex node) { return whole_nodes.counts(node) && is_broken[node] == 0; });
}

}  // namespace

WholeNodeCount whole_nodes_after(const Problem& problem, const Plan& plan) {
  const WholeNodes whole_nodes(problem);
  const Indexed<NodeIndex, std::uint8_t> is_broken = broken_nodes(problem, whole_nodes, end_state_of(problem, plan));
  return {count_whole(problem, whole_nodes, is_broken), whole_nodes.countable()};
}

std::int64_t whole_domains(const Problem& problem, const WholeNodes& whole_nodes,
                           const Indexed<NodeIndex, std::uint8_t>& is_broken) {
  return std::ranges::count_if(problem.topology.domains, [&](const TopologyDomain& domain) {
    bool any = false;
    if (!problem.topology.is_own(domain.level)) return false;
    for (const NodeIndex node : domain.nodes) {
      if (!whole_nodes.counts(node)) continue;
      if (is_broken[node] != 0) return false;
      any = true;
    }
    return any;
  });
}

WholenessValues wholeness_values(const Problem& problem, const Plan& plan, const EndState& end_state) {
  const WholeNodes whole_nodes(problem);
  const Indexed<NodeIndex, std::uint8_t> is_broken = broken_nodes(problem, whole_nodes, end_state);
  const std::int64_t whole = count_whole(problem, whole_nodes, is_broken);
  std::int64_t misplaced = 0;
  for (const Placement& placement : plan.placements)
    misplaced += whole_nodes.is_misplaced(placement.pod, placement.node) ? 1 : 0;
  const GangSpread spread = spread_of_gangs(problem, plan, end_state);
  const std::int64_t domains = whole_domains(problem, whole_nodes, is_broken);
  return {whole, domains, spread.nodes, spread.domains, spread.models, misplaced};
}

}  // namespace muster
