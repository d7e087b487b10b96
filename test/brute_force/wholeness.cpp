#include "test/brute_force/wholeness.h"

#include <algorithm>
#include <string_view>

namespace muster::brute_force {
namespace {

bool offers_gpus(const Problem& problem, const NodeClass& node_class) {
  bool any = node_class.device_count > 0;
  for (const ResourceIndex resource : problem.snapshot->resource_names.indices()) {
    const std::string_view name = problem.snapshot->resource_names[resource];
    any = any || (name.starts_with("nvidia.com/mig-") && mig_slice_work(name) > 0 &&
                  node_class.capacity[resource.value()] > 0);
  }
  return any;
}

}  // namespace

Wholeness::Wholeness(const Problem& problem, const std::vector<PodKind>& kinds) : problem_(problem), kinds_(kinds) {
  count_nodes();
  for (const PodKind& kind : kinds) {
    const PodClass& pod_class = problem.pod_classes[kind.pod_class];
    bool may_avoid = false;
    for (const NodeIndex node : problem.nodes.indices()) {
      const bool is_allowed = pod_class.allowed[problem.nodes[node].node_class.value()];
      may_avoid = may_avoid || (has_gpus_[node.value()] == 0 && is_allowed);
    }
    may_avoid_.push_back(may_avoid && !pod_class.counts_as_gpu ? 1 : 0);
  }
  for (const DomainIndex domain : problem.topology.domains.indices()) {
    last_nodes_.push_back(
        problem.topology.domains[domain].nodes.empty() ? 0 : problem.topology.domains[domain].nodes.back().value());
    bool any = false, is_broken = false;
    if (!problem.topology.is_own(problem.topology.domains[domain].level)) continue;
    for (const NodeIndex node : problem.topology.domains[domain].nodes) {
      if (counts_[node.value()] == 0) continue;
      any = true;
      is_broken = is_broken || is_broken_before(node);
    }
    domains_to_break_ += any && !is_broken ? 1 : 0;
  }
  for (const NodeClass& node_class : problem.node_classes) {
    if (!node_class.model.is_none()) models_ = std::max<std::size_t>(models_, node_class.model.value() + 1);
  }
  ++models_;  // an unknown one
  for (const PodKind& kind : kinds) {
    const auto known = std::ranges::find(gangs_, kind.gang, &GangFlags::gang);
    const bool is_single = problem.gangs[kind.gang].pods.size() < 2;
    gang_of_kind_.push_back(is_single ? -1 : known - gangs_.begin());
    if (!is_single && known == gangs_.end()) add_gang(kind.gang);
  }
}

void Wholeness::count_nodes() {
  bool any_gpus = false;
  for (const NodeIndex node : problem_.nodes.indices()) {
    has_gpus_.push_back(offers_gpus(problem_, problem_.class_of(node)) ? 1 : 0);
    any_gpus = any_gpus || (has_gpus_.back() != 0 && !problem_.class_of(node).cordoned);
  }
  for (const NodeIndex node : problem_.nodes.indices()) {
    bool is_broken = false, is_nominated = false;
    for (const Pod& pod : problem_.pods) {
      const bool runs_here = pod.status == PodStatus::kRunning && pod.node == node;
      is_broken = is_broken || (runs_here && (!any_gpus || problem_.pod_classes[pod.pod_class].counts_as_gpu));
      is_nominated = is_nominated || (pod.status == PodStatus::kPending && pod.nominated_node == node);
    }
    const bool qualifies = (has_gpus_[node.value()] != 0 && problem_.class_of(node).device_count != 1) || !any_gpus;
    counts_.push_back(qualifies && !is_nominated && !problem_.class_of(node).cordoned ? 1 : 0);
    broken_before_.push_back(is_broken ? 1 : 0);
  }
}

void Wholeness::add_gang(GangIndex index) {
  GangFlags gang;
  gang.gang = index;
  gang.first_domain = last_nodes_.size();
  const std::size_t domains =
      problem_.topology.domains.size() + problem_.topology.levels.size();  // and outside of each level
  const auto end = static_cast<std::uint32_t>(problem_.nodes.size());
  last_nodes_.resize(last_nodes_.size() + domains, end);
  gang.first_model = last_nodes_.size();
  last_nodes_.resize(last_nodes_.size() + models_, end);
  gang.runs_on.assign(problem_.nodes.size(), 0);
  gangs_.push_back(std::move(gang));
  GangFlags& added = gangs_.back();
  std::vector<std::int64_t> flags(last_nodes_.size(), 0);
  start(flags.data());
  const auto count = [&](std::size_t first, std::size_t size) {
    return std::count(flags.begin() + static_cast<std::ptrdiff_t>(first),
                      flags.begin() + static_cast<std::ptrdiff_t>(first + size), 1);
  };
  added.domains = count(added.first_domain, domains);
  added.models = count(added.first_model, models_);
  for (const PodIndex pod : problem_.gangs[index].pods) {
    if (problem_.pods[pod].status == PodStatus::kRunning) added.runs_on[problem_.pods[pod].node.value()] = 1;
  }
  added.nodes = std::ranges::count(added.runs_on, 1);
}

namespace {

std::size_t domain_flag(const Problem& problem, NodeIndex node, TopologyLevelIndex level) {
  const DomainIndex domain = problem.nodes[node].domains[level.value()];
  return domain.is_none() ? problem.topology.domains.size() + level.value() : domain.value();
}
std::size_t model_flag(const Problem& problem, NodeIndex node, std::size_t models) {
  const ModelIndex model = problem.class_of(node).model;
  return model.is_none() ? models - 1 : model.value();
}

}  // namespace

void Wholeness::start(std::int64_t* flags) const {
  for (const NodeIndex node : problem_.nodes.indices()) {
    if (counts_[node.value()] == 0 || !is_broken_before(node)) continue;
    for (const TopologyLevelIndex level : problem_.topology.own_levels()) {
      const DomainIndex domain = problem_.nodes[node].domains[level.value()];
      if (!domain.is_none()) flags[domain.value()] = 1;
    }
  }
  for (const GangFlags& gang : gangs_) {
    for (const PodIndex pod : problem_.gangs[gang.gang].pods) {
      if (problem_.pods[pod].status != PodStatus::kRunning) continue;
      const NodeIndex node = problem_.pods[pod].node;
      for (const TopologyLevelIndex level : problem_.topology.own_levels())
        flags[gang.first_domain + domain_flag(problem_, node, level)] = 1;
      if (problem_.class_of(pod).gpu.devices > 0) flags[gang.first_model + model_flag(problem_, node, models_)] = 1;
    }
  }
}

WholenessSums Wholeness::add(const NodeContent& content, NodeIndex node, std::int64_t* flags) const {
  WholenessSums sums{};
  const bool is_broken = !content.pods.empty() || is_broken_before(node);
  if (counts_[node.value()] != 0) {
    sums[0] += is_broken ? 0 : 1;
    for (const TopologyLevelIndex level : problem_.topology.own_levels()) {
      const DomainIndex domain = problem_.nodes[node].domains[level.value()];
      if (is_broken && !domain.is_none() && set(flags[domain.value()])) --sums[1];
    }
  }
  std::vector<std::int64_t> here;
  for (const PutPod& pod : content.pods) {
    if (has_gpus_[node.value()] != 0 && may_avoid_[pod.kind] != 0) ++sums[5];
    if (gang_of_kind_[pod.kind] < 0) continue;
    const GangFlags& gang = gangs_[static_cast<std::size_t>(gang_of_kind_[pod.kind])];
    if (gang.runs_on[node.value()] == 0 && std::ranges::find(here, gang_of_kind_[pod.kind]) == here.end()) ++sums[2];
    here.push_back(gang_of_kind_[pod.kind]);
    for (const TopologyLevelIndex level : problem_.topology.own_levels()) {
      if (set(flags[gang.first_domain + domain_flag(problem_, node, level)])) ++sums[3];
    }
    const bool uses_devices = problem_.pod_classes[kinds_[pod.kind].pod_class].gpu.devices > 0;
    if (uses_devices && set(flags[gang.first_model + model_flag(problem_, node, models_)])) ++sums[4];
  }
  return sums;
}

WholenessSums Wholeness::rest(Counts counts) const {
  WholenessSums sums{};
  sums[1] = domains_to_break_;
  for (const GangFlags& gang : gangs_) {
    bool is_placed = false, uses_devices = gang.models > 0;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      if (kinds_[k].gang != gang.gang || counts[k] == 0) continue;
      is_placed = true;
      uses_devices = uses_devices || problem_.pod_classes[kinds_[k].pod_class].gpu.devices > 0;
    }
    if (!is_placed) continue;
    sums[2] += gang.nodes - 1;
    sums[3] += gang.domains - static_cast<std::int64_t>(problem_.topology.own_level_count);
    sums[4] += gang.models - (uses_devices ? 1 : 0);
  }
  return sums;
}

}  // namespace muster::brute_force
