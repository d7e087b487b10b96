#include "heuristics/placement/gang_placement.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "heuristics/state/groups.h"
#include "model/base/tuning.h"

namespace muster::placement {

namespace {

// Subgroups nested deeper than this are left waiting: the search descends by recursion.
constexpr int kDeepestGroup = 500;

}  // namespace

GangPlacer::GangPlacer(ClusterState& state, const QueueBounds& bounds, NodeChooser& chooser, PodOrder order)
    : state_(state), problem_(state.problem()), bounds_(bounds), chooser_(chooser), order_(order), regions_(problem_) {}

bool GangPlacer::may_place(GangIndex gang_index) const {
  const Gang& gang = problem_.gangs[gang_index];
  return problem_.snapshot->policy.actions.place && fit::queue_exists(gang) && fit::may_start(gang);
}

void GangPlacer::fill_up(const std::vector<GangIndex>& gangs, const std::function<bool()>& stop) {
  const auto goes_on = [&](GangIndex gang) { return !(stop && stop()) && may_place(gang); };
  for (const GangIndex gang : gangs)
    if (goes_on(gang)) place_minimum(gang);
  for (const GangIndex gang : gangs)
    while (goes_on(gang) && is_satisfied(state_, gang) && place_one_more(gang)) {
    }
}

bool GangPlacer::place_minimum(GangIndex gang) {
  const GroupIndex root = problem_.gangs[gang].root;
  if (is_satisfied(state_, root)) return true;
  const auto before = state_.checkpoint();
  if (place_group(root, DomainIndex::none(), 0)) return true;
  state_.rollback(before);
  return problem_.has_ordered_rules() && place_from_first(gang);
}

// The first pod of an affinity chooses the domain for all that follow it: one that has room for many of them.
bool GangPlacer::place_from_first(GangIndex gang) {
  const PodIndex first = first_of_affinity(gang);
  if (first == PodIndex::none()) return false;
  const PodClassIndex pod_class = problem_.pods[first].pod_class;
  const auto alike = std::ranges::count_if(problem_.gangs[gang].pods, [&](PodIndex pod) {
    return problem_.class_of(pod).affinity == problem_.pod_classes[pod_class].affinity && !state_.is_present(pod);
  });
  const std::vector<DomainIndex> within = regions_for_one_more(problem_.pods[first].group);
  for (std::vector<NodeIndex>& nodes : roomiest_domains(pod_class, alike)) {
    std::erase_if(nodes, [&](NodeIndex node) {
      return std::ranges::none_of(within, [&](DomainIndex region) { return regions_.holds(region, node); });
    });
    const auto before = state_.checkpoint();
    const NodeIndex node = nodes.empty() ? NodeIndex::none() : chooser_.choose(first, nodes);
    if (node.is_none()) continue;
    put(first, node);
    if (place_group(problem_.gangs[gang].root, DomainIndex::none(), 0)) return true;
    state_.rollback(before);
  }
  return false;
}

// None if none of the gang's waiting pods would be the first of its affinity.
PodIndex GangPlacer::first_of_affinity(GangIndex gang) const {
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    const PodClass& pod_class = problem_.class_of(pod);
    if (!fit::is_pending(problem_.pods[pod]) || state_.is_present(pod) || pod_class.affinity.is_none()) continue;
    const bool matches_itself = std::ranges::binary_search(pod_class.affinity_matched, pod_class.affinity);
    if (matches_itself && state_.inter_pod().affine_anywhere(pod_class.affinity) == 0) return pod;
  }
  return PodIndex::none();
}

// The nodes of each domain of the affinity's first term, those that hold most pods of the class first.
std::vector<std::vector<NodeIndex>> GangPlacer::roomiest_domains(PodClassIndex pod_class, std::int64_t wanted) const {
  const AntiAffinity& term = problem_.inter_pod.affinities[problem_.pod_classes[pod_class].affinity].terms.front();
  std::vector<std::pair<std::int64_t, std::vector<NodeIndex>>> domains(term.domain_count);
  for (const NodeIndex node : problem_.nodes.indices()) {
    const DomainIndex domain = term.domain_of[node];
    if (domain.is_none()) continue;
    auto& [holds, nodes] = domains[domain.value()];
    holds -= chooser_.copies(pod_class, node, wanted);
    nodes.push_back(node);
  }
  std::erase_if(domains, [](const auto& domain) { return domain.first == 0; });
  std::ranges::stable_sort(domains, {}, [&](const auto& domain) { return std::max(domain.first, -wanted); });
  std::vector<std::vector<NodeIndex>> result;
  for (auto& [holds, nodes] : domains) {
    if (result.size() < kTuning.heuristics.enough) result.push_back(std::move(nodes));
  }
  return result;
}

bool GangPlacer::place_one_more(GangIndex gang) {
  PodClassIndex last_failed = PodClassIndex::none();
  GroupIndex failed_in = GroupIndex::none();
  for (const GroupIndex group : problem_.gangs[gang].groups) {
    if (!problem_.groups[group].is_leaf()) continue;
    for (const PodIndex pod : waiting(group)) {
      const PodClassIndex pod_class = problem_.pods[pod].pod_class;
      if (pod_class == last_failed && group == failed_in) continue;
      if (place_pod(pod)) return true;
      last_failed = pod_class;
      failed_in = group;
    }
  }
  return false;
}

bool GangPlacer::place_pod(PodIndex pod) {
  const GroupIndex leaf = problem_.pods[pod].group;
  const std::vector<DomainIndex> regions = regions_for_one_more(leaf);
  // A preferred level is tried first, from the innermost group outwards; no victims are evicted for it.
  const Clear clear = std::exchange(clear_, nullptr);
  bool placed = false;
  for (GroupIndex group = leaf; !group.is_none() && !placed; group = problem_.groups[group].parent) {
    const TopologyLevelIndex level = problem_.groups[group].preferred_level;
    if (level.is_none()) continue;
    const Occupied occupied = occupied_domain(group, level);
    if (!occupied.any || occupied.is_split) continue;
    for (const DomainIndex region : regions) {
      const std::optional<DomainIndex> preferred = regions_.common(region, occupied.domain);
      placed = placed || (preferred && put_on_best_node(pod, *preferred));
    }
  }
  clear_ = clear;
  return placed || std::ranges::any_of(regions, [&](DomainIndex region) { return put_on_best_node(pod, region); });
}

std::vector<PodIndex> GangPlacer::waiting(GroupIndex group) const {
  std::vector<PodIndex> pods;
  find_waiting(group, pods);
  return pods;
}

void GangPlacer::find_waiting(GroupIndex group, std::vector<PodIndex>& pods) const {
  pods.clear();
  pods.reserve(problem_.groups[group].pods.size());
  bool are_alike = true;
  for (const PodIndex pod : problem_.groups[group].pods) {
    const Pod& p = problem_.pods[pod];
    if (!fit::is_pending(p) || state_.is_present(pod)) continue;
    are_alike = are_alike && (pods.empty() || p.pod_class == problem_.pods[pods.front()].pod_class);
    pods.push_back(pod);
  }
  if (are_alike || order_ == PodOrder::kAsGiven) return;
  const auto hardness = [&](PodIndex pod) {
    const PodClass& pod_class = problem_.class_of(pod);
    const std::int64_t cpu = pod_class.request[kCpu.value()];
    const std::int64_t memory = pod_class.request[kMemory.value()];
    return order_ == PodOrder::kBigFirst ? std::tuple(pod_class.work, cpu, memory)
                                         : std::tuple(cpu, memory, pod_class.work);
  };
  std::ranges::stable_sort(pods, [&](PodIndex a, PodIndex b) {
    const auto class_a = problem_.pods[a].pod_class, class_b = problem_.pods[b].pod_class;
    if (class_a == class_b) return false;
    const auto hard_a = hardness(a), hard_b = hardness(b);
    return hard_a != hard_b ? hard_a > hard_b : class_a < class_b;
  });
}

// --- Groups

bool GangPlacer::place_group(GroupIndex group_index, DomainIndex within, int depth) {
  if (depth > kDeepestGroup) return false;
  if (is_satisfied(state_, group_index)) return true;
  const Group& group = problem_.groups[group_index];
  const auto try_domains = [&](TopologyLevelIndex level, DomainIndex outer) {
    for (const DomainIndex domain : candidates(group_index, level, outer)) {
      const auto before = state_.checkpoint();
      if (place_within(group_index, domain, depth)) return true;
      state_.rollback(before);
    }
    return false;
  };
  if (group.required_level.is_none()) {
    if (!group.preferred_level.is_none() && try_domains(group.preferred_level, within)) return true;
    return place_within(group_index, within, depth);
  }
  if (!group.preferred_level.is_none() && !problem_.topology.covers(group.preferred_level, group.required_level)) {
    for (const DomainIndex domain : candidates(group_index, group.required_level, within)) {
      if (try_domains(group.preferred_level, domain)) return true;
    }
  }
  return try_domains(group.required_level, within);
}

bool GangPlacer::place_within(GroupIndex group, DomainIndex within, int depth) {
  return problem_.groups[group].is_leaf() ? place_leaf(group, within) : place_children(group, within, depth);
}

bool GangPlacer::place_leaf(GroupIndex group_index, DomainIndex within) {
  const std::int32_t missing = problem_.groups[group_index].minimum - state_.members(group_index);
  if (missing <= 0) return true;
  std::vector<PodIndex> pods = std::exchange(spare_pods_, {});  // the preemption callback may re-enter this function
  find_waiting(group_index, pods);
  const bool is_placed = place_some(pods, missing, within);
  spare_pods_ = std::move(pods);
  return is_placed;
}

// Pods that depend on others being bound first are tried again once some are.
bool GangPlacer::place_some(const std::vector<PodIndex>& pods, std::int32_t missing, DomainIndex within) {
  const bool is_ordered = problem_.has_ordered_rules() && std::ranges::any_of(pods, [this](PodIndex pod) {
                            return problem_.class_of(pod).has_ordered_rules();
                          });
  if (!is_ordered) return place_some_once(pods, missing, within);
  std::vector<PodIndex> waiting = pods;
  for (bool again = true; again && missing > 0;) {
    const std::size_t before = waiting.size();
    std::erase_if(waiting, [&](PodIndex pod) { return missing > 0 && put_on_best_node(pod, within) && missing-- > 0; });
    again = waiting.size() < before;
  }
  return missing <= 0;
}

bool GangPlacer::place_some_once(const std::vector<PodIndex>& pods, std::int32_t missing, DomainIndex within) {
  auto left = static_cast<std::int32_t>(pods.size());
  PodClassIndex last_failed = PodClassIndex::none();
  for (const PodIndex pod : pods) {
    if (left < missing) return false;
    --left;
    const PodClassIndex pod_class = problem_.pods[pod].pod_class;
    if (pod_class == last_failed) continue;
    if (!put_on_best_node(pod, within)) {
      last_failed = pod_class;
    } else if (--missing == 0) {
      return true;
    }
  }
  return false;
}

bool GangPlacer::place_children(GroupIndex group_index, DomainIndex within, int depth) {
  const Group& group = problem_.groups[group_index];
  std::vector<std::pair<std::int32_t, GroupIndex>> open;  // those with most members first
  std::int32_t missing = group.minimum;
  for (const GroupIndex child : group.children) {
    if (is_satisfied(state_, child)) {
      --missing;
    } else {
      open.emplace_back(-members_below(state_, child), child);
    }
  }
  std::ranges::stable_sort(open, {}, &std::pair<std::int32_t, GroupIndex>::first);
  for (std::size_t i = 0; i < open.size() && missing > 0; ++i) {
    const auto before = state_.checkpoint();
    if (place_group(open[i].second, within, depth + 1)) {
      --missing;
    } else {
      state_.rollback(before);
    }
  }
  return missing <= 0;
}

bool GangPlacer::put_on_best_node(PodIndex pod, DomainIndex within) {
  const NodeIndex nominated = problem_.pods[pod].nominated_node;
  NodeIndex node = NodeIndex::none();
  if (!nominated.is_none() && can_place(state_, bounds_, pod, nominated) && regions_.holds(within, nominated)) {
    node = nominated;
  } else {
    node = chooser_.choose(pod, regions_.nodes_of(within));
  }
  if (node.is_none()) return clear_ && clear_(pod, regions_.nodes_of(within));
  put(pod, node);
  return true;
}

// --- Topology

GangPlacer::Occupied GangPlacer::occupied_domain(GroupIndex group, TopologyLevelIndex level) const {
  const GangIndex gang = problem_.groups[group].gang;
  if (!found_.empty() && problem_.groups[found_.front().group].gang != gang) found_.clear();
  auto at = std::ranges::find_if(found_, [&](const Found& f) { return f.group == group && f.level == level; });
  if (at == found_.end()) {
    at = found_.insert(at, {group, level, state_.version(gang), look_for_occupied(group, level)});
  } else if (at->version != state_.version(gang)) {
    *at = {group, level, state_.version(gang), look_for_occupied(group, level)};
  }
  return at->occupied;
}

GangPlacer::Occupied GangPlacer::look_for_occupied(GroupIndex group, TopologyLevelIndex level) const {
  Occupied found;
  for_each_pod(problem_, group, [&](PodIndex pod) {
    if (state_.is_present(pod)) add_to(found, state_.node_of(pod), level);
  });
  return found;
}

void GangPlacer::add_to(Occupied& occupied, NodeIndex node, TopologyLevelIndex level) const {
  const DomainIndex domain = problem_.nodes[node].domains[level.value()];
  occupied.is_split = occupied.is_split || domain.is_none() || (occupied.any && domain != occupied.domain);
  occupied.domain = domain;
  occupied.any = true;
}

void GangPlacer::put(PodIndex pod, NodeIndex node) {
  const GangIndex gang = problem_.pods[pod].gang;
  const std::uint32_t before = state_.version(gang);
  state_.put(pod, node, chooser_.devices_for(pod, node));
  if (found_.empty() || problem_.groups[found_.front().group].gang != gang) return;
  for (Found& found : found_) {
    if (found.version != before) continue;
    found.version = state_.version(gang);
    for (GroupIndex group = problem_.pods[pod].group; !group.is_none(); group = problem_.groups[group].parent) {
      if (group == found.group) add_to(found.occupied, node, found.level);
    }
  }
}

std::vector<DomainIndex> GangPlacer::regions_for_one_more(GroupIndex leaf) {
  std::vector<GroupIndex> path;  // from the root down
  for (GroupIndex group = leaf; !group.is_none(); group = problem_.groups[group].parent) path.push_back(group);
  std::ranges::reverse(path);
  std::vector<DomainIndex> regions{DomainIndex::none()};
  for (const GroupIndex group : path) {
    const TopologyLevelIndex level = problem_.groups[group].required_level;
    if (level.is_none()) continue;
    std::vector<DomainIndex> inner;
    for (const DomainIndex outer : regions) {
      const auto found = candidates(group, level, outer);
      inner.insert(inner.end(), found.begin(), found.end());
    }
    regions = std::move(inner);
  }
  return regions;
}

std::vector<DomainIndex> GangPlacer::candidates(GroupIndex group, TopologyLevelIndex level, DomainIndex within) {
  const Occupied occupied = occupied_domain(group, level);
  if (occupied.any) {
    const auto region = occupied.is_split ? std::nullopt : regions_.common(within, occupied.domain);
    return region ? std::vector{*region} : std::vector<DomainIndex>();
  }
  std::vector<std::int64_t> waiting_of_class(problem_.pod_classes.size(), 0);
  std::vector<PodClassIndex> classes;
  std::int64_t all = 0;
  for_each_pod(problem_, group, [&](PodIndex pod) {
    if (!fit::is_pending(problem_.pods[pod]) || state_.is_present(pod)) return;
    const PodClassIndex pod_class = problem_.pods[pod].pod_class;
    if (waiting_of_class[pod_class.value()]++ == 0) classes.push_back(pod_class);
    ++all;
  });
  // First the domains that could hold all of the group, the tightest first; then those that hold most.
  using Rank = std::tuple<std::int64_t, std::int64_t, DomainIndex>;
  std::vector<Rank> ranked;
  for (const DomainIndex domain : regions_.domains_of(level)) {
    const std::optional<DomainIndex> region = regions_.common(within, domain);
    if (!region) continue;
    const Nodes nodes = regions_.nodes_of(*region);
    std::int64_t holds = 0, idle = 0;
    for (const PodClassIndex pod_class : classes) {
      std::int64_t copies = 0;
      const std::int64_t wanted = waiting_of_class[pod_class.value()];
      for (const NodeIndex node : nodes) {
        if (copies >= wanted) break;
        copies += chooser_.copies(pod_class, node, wanted - copies);
      }
      holds += copies;
    }
    if (holds == 0 && !clear_) continue;
    for (const NodeIndex node : nodes) {
      idle += 1'000'000 * std::int64_t{state_.idle_devices(node)} + state_.free(node)[kCpu.value()] / 1000;
    }
    ranked.emplace_back(-holds, idle, *region);
  }
  const Group& g = problem_.groups[group];
  if (g.is_leaf() && !clear_) {
    const std::int64_t missing = std::max(0, g.minimum - state_.members(group));
    std::erase_if(ranked, [&](const Rank& rank) { return -std::get<0>(rank) < missing; });
  }
  std::ranges::sort(ranked);
  std::vector<DomainIndex> result;
  for (const Rank& rank : ranked) result.push_back(std::get<2>(rank));
  return result;
}

}  // namespace muster::placement
