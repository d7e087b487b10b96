#include "model/reasons_need.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

namespace muster {
namespace {

struct Choice {
  std::vector<PodIndex> pods;
  Work work = 0;
  bool possible = true;
};

class MinimumChooser {
 public:
  MinimumChooser(const Problem& problem, const PodPredicate& has, const PodPredicate& may_use)
      : problem_(problem), has_(has), may_use_(may_use) {}

  // Groups of a gang lie parents first: from the back, children are known before their parents.
  Choice choose(const Gang& gang) const {
    std::unordered_map<GroupIndex, Choice> choices;
    for (auto at = gang.groups.rbegin(); at != gang.groups.rend(); ++at) {
      const Group& group = problem_.groups[*at];
      choices[*at] = group.is_leaf() ? choose_pods(group) : choose_children(group, choices);
    }
    return std::move(choices[gang.root]);
  }

 private:
  Choice choose_pods(const Group& group) const {
    Choice choice;
    std::int64_t missing = group.minimum - std::ranges::count_if(group.pods, has_);
    if (missing <= 0) return choice;
    std::vector<PodIndex> usable;
    std::ranges::copy_if(group.pods, std::back_inserter(usable),
                         [&](PodIndex pod) { return !has_(pod) && may_use_(pod); });
    std::ranges::stable_sort(usable, {}, [&](PodIndex pod) { return problem_.class_of(pod).work; });
    choice.possible = static_cast<std::int64_t>(usable.size()) >= missing;
    usable.resize(std::min(usable.size(), static_cast<std::size_t>(missing)));
    for (const PodIndex pod : usable) choice.work += problem_.class_of(pod).work;
    choice.pods = std::move(usable);
    return choice;
  }

  static Choice choose_children(const Group& group, std::unordered_map<GroupIndex, Choice>& choices) {
    std::vector<Choice> children;
    for (const GroupIndex child : group.children) children.push_back(std::move(choices[child]));
    std::ranges::stable_sort(children, [](const Choice& a, const Choice& b) {
      return std::pair(!a.possible, a.work) < std::pair(!b.possible, b.work);
    });
    Choice choice;
    const auto wanted = static_cast<std::size_t>(std::max(group.minimum, 0));
    for (std::size_t i = 0; i < std::min(wanted, children.size()); ++i) {
      choice.possible = choice.possible && children[i].possible;
      choice.work += children[i].work;
      choice.pods.insert(choice.pods.end(), children[i].pods.begin(), children[i].pods.end());
    }
    choice.possible = choice.possible && wanted <= children.size();
    return choice;
  }

  const Problem& problem_;
  const PodPredicate& has_;
  const PodPredicate& may_use_;
};

}  // namespace

bool requires_level(const Problem& problem, const Gang& gang) {
  return std::ranges::any_of(gang.groups,
                             [&](GroupIndex group) { return !problem.groups[group].required_level.is_none(); });
}

GangNeed need_of_pods(const Problem& problem, std::vector<PodIndex> pods) {
  std::ranges::sort(pods);
  std::map<std::pair<PodClassIndex, GroupIndex>, std::vector<PodIndex>> by_class;
  for (const PodIndex pod : pods) {
    const Gang& gang = problem.gangs[problem.pods[pod].gang];
    const GroupIndex group = requires_level(problem, gang) ? problem.pods[pod].group : gang.root;
    by_class[{problem.pods[pod].pod_class, group}].push_back(pod);
  }
  GangNeed need;
  need.possible = true;
  need.pods = static_cast<std::int64_t>(pods.size());
  for (auto& [key, members] : by_class) need.items.push_back({key.first, key.second, std::move(members)});
  std::ranges::stable_sort(need.items, [&](const NeedItem& a, const NeedItem& b) {
    const PodClass& left = problem.pod_classes[a.pod_class];
    const PodClass& right = problem.pod_classes[b.pod_class];
    return std::tuple(-left.gpu.devices, -left.work, -left.request[kCpu.value()]) <
           std::tuple(-right.gpu.devices, -right.work, -right.request[kCpu.value()]);
  });
  return need;
}

GangNeed need_of_minimum(const Problem& problem, GangIndex gang, const PodPredicate& has, const PodPredicate& may_use) {
  Choice choice = MinimumChooser(problem, has, may_use).choose(problem.gangs[gang]);
  GangNeed need = need_of_pods(problem, std::move(choice.pods));
  need.possible = choice.possible;
  return need;
}

Packer::Packer(const Problem& problem, const AfterPlan* end, RemainingRoom& room, PackingRules rules)
    : problem_(problem), end_(end), room_(room), rules_(rules) {}

Packing Packer::pack(const GangNeed& need, GroupIndex root) {
  need_ = &need;
  if (depth_of(root) > kMostDepth) rules_.topology = false;
  Packing packing;
  packing.left = need.pods;
  packing.put.assign(need.items.size(), 0);
  pack_group(root, room_.nodes(), packing);
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

// Groups with a level of their own first: they are the choosier ones.
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
    const std::size_t mark = room_.mark();
    Packing attempt = packing;
    pack_within(group, problem_.domains[domain].nodes, attempt);
    room_.roll_back(mark);
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
  if (!best.is_none()) pack_within(group, problem_.domains[best].nodes, packing);
}

// Domains of the group's level inside `nodes`, or the one where its pods are.
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
      if (rules_.filters && !pod_class.allowed[problem_.nodes[node].node_class.value()]) continue;
      std::int64_t taken = 0;
      do {
        if (one_by_one && room_.conflicts(pod_class, node)) break;
        taken = room_.count(pod_class, node, one_by_one ? 1 : missing);
        if (taken > 0) room_.put(pod_class, node, taken);
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
  FitSearch(const Problem& problem, const GangNeed& need, RemainingRoom& room, PackingRules rules, std::int64_t steps)
      : problem_(problem), need_(need), room_(room), rules_(rules), steps_(steps) {
    for (const NeedItem& item : need.items) {
      const PodClass& pod_class = problem.pod_classes[item.pod_class];
      if (pod_class.gpu.kind != GpuRequestKind::kNone) ++gpu_items_;
      if (pod_class.gpu.kind == GpuRequestKind::kFraction || pod_class.gpu.kind == GpuRequestKind::kMemory)
        shares_ = true;
    }
  }

  Fits run() {
    if (place(0, 0, NodeIndex(0))) return Fits::kYes;
    // Devices are chosen by best fit, not searched: with sharers beside other GPU pods a failure proves nothing.
    return steps_ > 0 && !(shares_ && gpu_items_ > 1) ? Fits::kNo : Fits::kUnknown;
  }

 private:
  // Pods of one item go to nodes in ascending order: equal pods are exchangeable.
  bool place(std::size_t item, std::int64_t done, NodeIndex first) {
    if (item == need_.items.size()) return true;
    if (done == std::ssize(need_.items[item].pods)) return place(item + 1, 0, NodeIndex(0));
    const PodClass& pod_class = problem_.pod_classes[need_.items[item].pod_class];
    for (NodeIndex node = first; node.value() < problem_.nodes.size(); ++node) {
      if (--steps_ <= 0) return false;
      if (rules_.filters && !pod_class.allowed[problem_.nodes[node].node_class.value()]) continue;
      if ((rules_.anti_affinity && room_.conflicts(pod_class, node)) || room_.count(pod_class, node, 1) == 0) continue;
      const std::size_t mark = room_.mark();
      room_.put(pod_class, node, 1);
      const bool found = place(item, done + 1, node);
      room_.roll_back(mark);
      if (found) return true;
    }
    return false;
  }

  const Problem& problem_;
  const GangNeed& need_;
  RemainingRoom& room_;
  PackingRules rules_;
  std::int64_t steps_;
  std::size_t gpu_items_ = 0;
  bool shares_ = false;
};

}  // namespace

Fits search_fit(const Problem& problem, const GangNeed& need, RemainingRoom& room, PackingRules rules,
                std::int64_t steps) {
  return FitSearch(problem, need, room, rules, steps).run();
}

}  // namespace muster
