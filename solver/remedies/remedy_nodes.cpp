// Remedies that concern nodes: more of them, cordoned ones, tainted ones, other domains.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "model/change/change.h"
#include "model/snapshot/filters.h"
#include "solver/answers/node_kind.h"
#include "solver/remedies/remedy_search.h"

namespace muster::answers {
namespace {

SnapshotNode made_ready(const SnapshotNode& node) {
  SnapshotNode ready = node;
  change::make_ready(ready);
  return ready;
}

// How many pods of the need's classes an empty node takes, of the class that it takes most of.
std::int64_t pods_on_empty(const WaitingGang& gang, const explain::RemainingCapacity& empty, NodeIndex node) {
  std::int64_t most = 0;
  for (const explain::NeedItem& item : gang.need().items) {
    most = std::max(most, empty.count(gang.problem().pod_classes[item.pod_class], node, std::ssize(item.pods)));
  }
  return most;
}

// Nodes of which more could be bought: by what they have, one for each domain of the levels that the gang requires.
struct KindOfNode {
  NodeIndex like;
  std::int64_t pods = 0;  // of the gang on an empty one
};

std::vector<TopologyLevelIndex> required_levels(const WaitingGang& gang) {
  std::vector<TopologyLevelIndex> levels;
  for (const GroupIndex group : gang.gang().groups) {
    const TopologyLevelIndex level = gang.problem().groups[group].required_level;
    if (!level.is_none()) levels.push_back(level);
  }
  return levels;
}

std::vector<KindOfNode> kinds_of_nodes(const WaitingGang& gang) {
  const Problem& problem = gang.problem();
  const std::vector<TopologyLevelIndex> levels = required_levels(gang);
  const explain::RemainingCapacity empty = explain::RemainingCapacity::empty_cluster(problem);
  std::set<std::string> seen;
  std::vector<KindOfNode> kinds;
  for (const NodeClass& node_class : problem.node_classes) {
    if (node_class.nodes.empty()) continue;
    const NodeIndex like = node_class.nodes.front();
    const SnapshotNode& node = gang.snapshot().nodes[like.value()];
    std::string key = node_kind(node);
    for (const TopologyLevelIndex level : levels) {
      key += '@' + std::to_string(problem.nodes[like].domains[level.value()].value());
    }
    if (seen.contains(key) || !gang.some_pod_may_use(made_ready(node))) continue;
    const std::int64_t pods = pods_on_empty(gang, empty, like);
    if (pods == 0) continue;
    seen.insert(std::move(key));
    kinds.push_back({like, pods});
  }
  // Those of which fewest are needed first.
  std::ranges::stable_sort(kinds, std::greater<>(), &KindOfNode::pods);
  return kinds;
}

std::int64_t waiting_pods(const Snapshot& snapshot) {
  return std::ranges::count_if(snapshot.pods, [](const SnapshotPod& pod) { return pod.status == PodStatus::kPending; });
}

// GPUs that the gangs lack which wait and come before this one.
std::int64_t whole_gpus_ahead(const WaitingGang& gang) {
  const Problem& problem = gang.problem();
  MicroGpu sum = 0;
  for (const explain::GangReport& report : gang.run().solution.report.gangs) {
    const Gang& other = problem.gangs[report.gang];
    if (report.phase != explain::GangPhase::kUnschedulable || rank_of(other) <= rank_of(gang.gang())) continue;
    for (const PodIndex pod : other.pods) {
      if (!gang.end().is_present(pod) && problem.pods[pod].status == PodStatus::kPending)
        sum += problem.class_of(pod).smallest_gpu_usage;
    }
  }
  return sum / 1'000'000;
}

template <class Item, class ChangeOf>
Remedies fewest_of(RemedyKind kind, const std::vector<Item>& items, Admission& admission, const ChangeOf& change_of) {
  const auto found = least_set(kind, std::vector<std::int64_t>(items.size(), 1), 1, admission,
                               [&](const std::vector<std::size_t>& chosen) {
                                 Changes changes;
                                 for (const std::size_t item : chosen) changes.push_back(change_of(items[item]));
                                 return changes;
                               });
  return found ? Remedies{*found} : Remedies();
}

}  // namespace

Remedies add_nodes(const WaitingGang& gang, Admission& admission) {
  Remedies found;
  const std::int64_t short_of = gang.pods_without_room(), all = waiting_pods(gang.snapshot());
  const std::int64_t gpus_ahead = whole_gpus_ahead(gang);
  const std::vector<KindOfNode> kinds = kinds_of_nodes(gang);
  for (const KindOfNode& kind : kinds) {
    const std::string like(gang.snapshot().nodes[kind.like.value()].name);
    // Gangs that come before it take new nodes first.
    const std::int64_t gpus = gang.snapshot().nodes[kind.like.value()].gpu_count;
    const std::int64_t own = (short_of + kind.pods - 1) / kind.pods;
    const std::int64_t guess = std::min(own + (gpus == 0 ? 0 : gpus_ahead / gpus), std::max(own, all));
    const auto least =
        least_count(RemedyKind::kAddNodes, {1, guess, std::max(own, all)}, admission, [&](std::int64_t count) {
          return Changes{change::AddNodes{like, count}};
        });
    if (least) found.push_back(*least);
  }
  return found;
}

Remedies uncordon(const WaitingGang& gang, Admission& admission) {
  const explain::RemainingCapacity room = explain::RemainingCapacity::after(gang.problem(), gang.end());
  std::vector<std::pair<std::int64_t, std::string>> nodes;
  for (const NodeIndex index : room.nodes()) {
    const SnapshotNode& node = gang.snapshot().nodes[index.value()];
    SnapshotNode open = node;
    change::uncordon(open);
    const bool is_cordoned = node.unschedulable || open.taints.size() != node.taints.size();
    if (!is_cordoned || !gang.some_pod_may_use(open)) continue;
    const std::int64_t pods = pods_on_empty(gang, room, index);
    if (pods > 0) nodes.emplace_back(-pods, std::string(node.name));
  }
  std::ranges::sort(nodes);
  return fewest_of(RemedyKind::kUncordon, nodes, admission,
                   [](const auto& node) { return change::Uncordon{node.second}; });
}

Remedies tolerate(const WaitingGang& gang, Admission& admission) {
  std::map<std::tuple<std::string_view, std::string_view, TaintEffect>, std::int64_t> nodes_with;
  for (const SnapshotNode& node : gang.snapshot().nodes) {
    if (gang.some_pod_may_use(node)) continue;
    SnapshotNode open = node;
    open.taints.clear();
    if (!gang.some_pod_may_use(open)) continue;
    for (const Taint& taint : node.taints) {
      const bool is_for_others = !change::is_of_trouble(taint) && taint.effect != TaintEffect::kPreferNoSchedule;
      open.taints = {taint};
      if (is_for_others && !gang.some_pod_may_use(open)) ++nodes_with[{taint.key, taint.value, taint.effect}];
    }
  }
  std::vector<std::pair<std::int64_t, change::TaintText>> taints;
  for (const auto& [taint, nodes] : nodes_with)
    taints.emplace_back(
        nodes, change::TaintText{std::string(std::get<0>(taint)), std::string(std::get<1>(taint)), std::get<2>(taint)});
  std::ranges::stable_sort(taints, std::greater<>(), [](const auto& taint) { return taint.first; });
  return fewest_of(RemedyKind::kTolerate, taints, admission, [&](const auto& taint) {
    return change::Tolerate{gang.name(), taint.second};
  });
}

// One group at a time; the finest level of its topology that is coarse enough.
Remedies relax_levels(const WaitingGang& gang, Admission& admission) {
  Remedies found;
  const SnapshotGang* entry = gang.entry();
  if (!entry) return found;
  const SnapshotDefinitions& definitions = gang.snapshot().definitions;
  const auto relax = [&](const std::string& subgroup, const TopologyRequest& request) {
    const std::vector<LevelPlace> places = places_of_level(definitions, request.required, request.topology);
    if (places.empty()) return;
    const std::vector<std::string_view>& levels = definitions.topologies[places.front().topology].levels;
    const auto at = static_cast<std::int64_t>(places.front().level);
    const auto changes = [&](std::int64_t steps) {
      const std::string level = steps > at ? "" : std::string(levels[static_cast<std::size_t>(at - steps)]);
      return Changes{change::SetRequiredLevel{gang.name(), subgroup, level}};
    };
    if (const auto least = least_count(RemedyKind::kRelaxLevel, {1, 1, at + 1}, admission, changes))
      found.push_back(*least);
  };
  relax("", entry->topology);
  for (const SnapshotSubgroup& subgroup : entry->subgroups) relax(std::string(subgroup.name), subgroup.topology);
  return found;
}

}  // namespace muster::answers
