#include "model/explain/reasons_packing.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/problem/exceeded.h"

namespace muster::explain {
namespace {

bool may_use(const Problem& problem, const PodClass& pod_class, NodeIndex node, const PackingRules& rules) {
  const NodeClassIndex node_class = problem.nodes[node].node_class;
  if (!rules.filters) return true;
  return rules.holds ? pod_class.allowed[node_class.value()] : passes_unless_held(problem, pod_class, node_class);
}

}  // namespace

Packer::Packer(const Problem& problem, const AfterPlan* end, RemainingCapacity& remaining, PackingRules rules)
    : problem_(problem), end_(end), remaining_(remaining), rules_(rules) {}

Packing Packer::pack(const GangNeed& need, GroupIndex root) {
  need_ = &need;
  if (depth_of(root) > kMostDepth) rules_.topology = false;
  Packing packing;
  packing.left = need.pods;
  packing.put.assign(need.items.size(), 0);
  pack_group(root, remaining_.nodes(), packing);
  return packing;
}

void Packer::pack_group(GroupIndex group, std::span<const NodeIndex> nodes, Packing& packing) {
  if (rules_.topology && !problem_.groups[group].required_level.is_none()) {
    pack_in_best_domain(group, nodes, packing);
  } else {
    pack_within(group, nodes, packing);
  }
}

std::size_t Packer::depth_of(GroupIndex root) const {
  std::unordered_map<GroupIndex, std::size_t> depth;
  std::size_t deepest = 0;
  for (const GroupIndex group : problem_.gangs[problem_.groups[root].gang].groups) {
    depth[group] = group == root ? 0 : depth[problem_.groups[group].parent] + 1;
    deepest = std::max(deepest, depth[group]);
  }
  return deepest;
}

// Groups with a level of their own first: they have the fewest choices.
void Packer::pack_within(GroupIndex group, std::span<const NodeIndex> nodes, Packing& packing) {
  const auto descend = [&](const auto& self, GroupIndex at) -> void {
    for (const GroupIndex child : problem_.groups[at].children) {
      if (!problem_.groups[child].required_level.is_none()) {
        pack_in_best_domain(child, nodes, packing);
      } else {
        self(self, child);
      }
    }
  };
  if (rules_.topology) descend(descend, group);
  pack_items(group, nodes, packing);
}

void Packer::pack_in_best_domain(GroupIndex group, std::span<const NodeIndex> nodes, Packing& packing) {
  DomainIndex best = DomainIndex::none();
  std::int64_t best_left = packing.left + 1;
  for (const DomainIndex domain : candidates(group, nodes)) {
    const std::size_t mark = remaining_.mark();
    Packing attempt = packing;
    pack_within(group, common_nodes(nodes, domain), attempt);
    remaining_.roll_back(mark);
    if (attempt.left >= best_left) continue;
    best = domain;
    best_left = attempt.left;
    const auto in_group = [&](const NeedItem& item) { return is_below(item.leaf, group); };
    bool complete = true;
    for (std::size_t i = 0; i < need_->items.size(); ++i) {
      complete = complete && (!in_group(need_->items[i]) || attempt.put[i] == std::ssize(need_->items[i].pods));
    }
    if (complete) break;
  }
  packing.domains.emplace_back(group, best);
  if (!best.is_none()) pack_within(group, common_nodes(nodes, best), packing);
}

// A subgroup may ask for a coarser level than the group above it, so its domain can be larger than the domain left to
// it.
std::vector<NodeIndex> Packer::common_nodes(std::span<const NodeIndex> nodes, DomainIndex domain) const {
  const std::vector<NodeIndex>& members = problem_.topology.domains[domain].nodes;
  if (nodes.size() == problem_.nodes.size()) return members;
  std::vector<NodeIndex> common;
  std::ranges::set_intersection(nodes, members, std::back_inserter(common));
  return common;
}

// Domains of the group's level inside `nodes`, or the one that holds its pods.
std::vector<DomainIndex> Packer::candidates(GroupIndex group, std::span<const NodeIndex> nodes) const {
  const TopologyLevelIndex level = problem_.groups[group].required_level;
  std::vector<DomainIndex> found;
  const auto add = [&](NodeIndex node) {
    const DomainIndex domain = problem_.nodes[node].domains[level.value()];
    if (!domain.is_none()) found.push_back(domain);
  };
  if (end_ != nullptr) {
    for (const PodIndex pod : problem_.gangs[problem_.groups[group].gang].pods) {
      if (end_->is_present(pod) && is_below(problem_.pods[pod].group, group)) add(end_->node[pod]);
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (!found.empty()) return found;
  }
  for (const NodeIndex node : nodes) add(node);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void Packer::pack_items(GroupIndex group, std::span<const NodeIndex> nodes, Packing& packing) {
  for (std::size_t i = 0; i < need_->items.size(); ++i) {
    const NeedItem& item = need_->items[i];
    if (!is_below(item.leaf, group) || has_own_level(item.leaf, group)) continue;
    const PodClass& pod_class = problem_.pod_classes[item.pod_class];
    const bool one_by_one =
        rules_.anti_affinity && (!pod_class.anti_affinity_owned.empty() || !pod_class.anti_affinity_matched.empty());
    std::int64_t missing = std::ssize(item.pods) - packing.put[i];
    for (const NodeIndex node : nodes) {
      if (missing == 0) break;
      ++visits_;
      if (!may_use(problem_, pod_class, node, rules_)) continue;
      std::int64_t taken = 0;
      do {
        if (one_by_one && remaining_.conflicts(pod_class, node)) break;
        taken = remaining_.count(pod_class, node, one_by_one ? 1 : missing);
        if (taken > 0) remaining_.put(pod_class, node, taken);
        missing -= taken;
        packing.put[i] += taken;
        packing.left -= taken;
      } while (one_by_one && taken > 0 && missing > 0);
    }
  }
}

bool Packer::is_below(GroupIndex group, GroupIndex ancestor) const {
  while (!group.is_none() && group != ancestor) group = problem_.groups[group].parent;
  return !group.is_none();
}

bool Packer::has_own_level(GroupIndex leaf, GroupIndex below) const {
  if (!rules_.topology) return false;
  for (; leaf != below; leaf = problem_.groups[leaf].parent) {
    if (!problem_.groups[leaf].required_level.is_none()) return true;
  }
  return false;
}

namespace {

class FitSearch {
 public:
  FitSearch(const Problem& problem, const GangNeed& need, const AfterPlan* end, RemainingCapacity& remaining,
            PackingRules rules)
      : problem_(problem), need_(need), remaining_(remaining), rules_(rules) {
    if (end == nullptr || need.items.empty() || !rules.topology) return;
    const GangIndex gang = problem.groups[need.items.front().leaf].gang;
    for (const PodIndex pod : problem.gangs[gang].pods) {
      if (end->is_present(pod)) settle(problem.pods[pod].group, end->node[pod]);
    }
  }

  Fits run(std::int64_t steps) {
    steps_ = steps;
    if (place(0, 0, NodeIndex(0))) return Fits::kYes;
    return steps_ > 0 ? Fits::kNo : Fits::kUnknown;
  }

 private:
  using Domains = std::vector<std::pair<GroupIndex, DomainIndex>>;  // of groups that have a pod somewhere

  // From now on the groups above the leaf lie in the domains of the node; false: some of them lies elsewhere, or the
  // node is in none.
  bool settle(GroupIndex leaf, NodeIndex node) {
    for (GroupIndex group = leaf; !group.is_none(); group = problem_.groups[group].parent) {
      const TopologyLevelIndex level = problem_.groups[group].required_level;
      if (level.is_none()) continue;
      const DomainIndex domain = problem_.nodes[node].domains[level.value()];
      const auto at = std::ranges::find(domains_, group, &Domains::value_type::first);
      if (domain.is_none() || (at != domains_.end() && at->second != domain)) return false;
      if (at == domains_.end()) domains_.emplace_back(group, domain);
    }
    return true;
  }

  // Pods of one item are placed on nodes in ascending order: equal pods are interchangeable.
  bool place(std::size_t item, std::int64_t done, NodeIndex first) {
    if (item == need_.items.size()) return true;
    if (done == std::ssize(need_.items[item].pods)) return place(item + 1, 0, NodeIndex(0));
    for (NodeIndex node = first; node.value() < problem_.nodes.size(); ++node) {
      if (--steps_ <= 0) return false;
      const std::size_t settled = domains_.size();
      if (takes(item, node) && (!rules_.topology || settle(need_.items[item].leaf, node)) && place_on(item, done, node))
        return true;
      domains_.resize(settled);
    }
    return false;
  }

  bool takes(std::size_t item, NodeIndex node) const {
    const PodClass& pod_class = problem_.pod_classes[need_.items[item].pod_class];
    if (!may_use(problem_, pod_class, node, rules_)) return false;
    return !(rules_.anti_affinity && remaining_.conflicts(pod_class, node)) && remaining_.count(pod_class, node, 1) > 0;
  }

  bool place_on(std::size_t item, std::int64_t done, NodeIndex node) {
    const PodClass& pod_class = problem_.pod_classes[need_.items[item].pod_class];
    for (const std::vector<std::size_t>& devices : remaining_.device_choices(pod_class, node)) {
      if (--steps_ <= 0) return false;
      const std::size_t mark = remaining_.mark();
      remaining_.put_on(pod_class, node, devices);
      const bool found = place(item, done + 1, node);
      remaining_.roll_back(mark);
      if (found) return true;
    }
    return false;
  }

  const Problem& problem_;
  const GangNeed& need_;
  RemainingCapacity& remaining_;
  PackingRules rules_;
  Domains domains_;
  std::int64_t steps_ = 0;
};

}  // namespace

Fits search_fit(const Problem& problem, const GangNeed& need, const AfterPlan* end, RemainingCapacity& remaining,
                PackingRules rules, std::int64_t steps) {
  return FitSearch(problem, need, end, remaining, rules).run(steps);
}

bool FitTrial::packs(const GangNeed& need, GroupIndex root, PackingRules rules) {
  const std::size_t mark = remaining_.mark();
  Packer packer(problem_, end_, remaining_, rules);
  const std::int64_t left = packer.pack(need, root).left;
  remaining_.roll_back(mark);
  budget_.spend(packer.visits());
  return left == 0;
}

Fits FitTrial::fits(const GangNeed& need, GroupIndex root, PackingRules rules) {
  if (packs(need, root, rules)) return Fits::kYes;
  if (need.pods > kSearchPods) return Fits::kUnknown;
  budget_.spend(kSearchSteps / 4);
  return search_fit(problem_, need, end_, remaining_, rules, kSearchSteps);
}

}  // namespace muster::explain
