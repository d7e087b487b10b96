#include "solver/answers/remedies/rivals.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "model/problem/next_snapshot.h"

namespace muster::answers {
namespace {

using Names = std::unordered_set<std::string_view>;

std::string_view gang_of(const SnapshotPod& pod) { return pod.gang.empty() ? pod.name : pod.gang; }

Snapshot with_rivals(const WaitingGang& gang) {
  Snapshot snapshot = next_snapshot(Snapshot(gang.snapshot()), gang.problem(), gang.run().solution.plan, 0);
  Names behind;
  for (const Gang& other : gang.problem().gangs) {
    if (rank_of(other) < rank_of(gang.gang())) behind.insert(other.name);
  }
  snapshot.pods.erase_if(
      [&](const SnapshotPod& pod) { return pod.status == PodStatus::kPending && behind.contains(gang_of(pod)); });
  return snapshot;
}

bool has_room(const WaitingGang& gang, const explain::RemainingRoom& room, NodeIndex node) {
  return std::ranges::any_of(gang.need().items, [&](const explain::NeedItem& item) {
    return room.count(gang.problem().pod_classes[item.pod_class], node, 1) > 0;
  });
}

}  // namespace

Rivals::Rivals(const WaitingGang& gang) : gang_(gang), all_(with_rivals(gang)) {}

Snapshot Rivals::on_open_nodes(const std::vector<GangIndex>& gangs) const {
  Names nodes, gangs_kept;
  const Problem& problem = gang_.problem();
  const explain::RemainingRoom room = explain::RemainingRoom::after(problem, gang_.end());
  for (const NodeIndex node : room.nodes())
    if (has_room(gang_, room, node)) nodes.insert(all_.nodes[node.value()].name);
  for (const NodeClass& node_class : problem.node_classes)
    if (!node_class.nodes.empty()) nodes.insert(all_.nodes[node_class.nodes.front().value()].name);
  for (const GangIndex gang : gangs) gangs_kept.insert(problem.gangs[gang].name);
  for (const SnapshotPod& pod : all_.pods)
    if (pod.status == PodStatus::kPending) gangs_kept.insert(gang_of(pod));
  for (const SnapshotPod& pod : all_.pods)
    if (!pod.node.empty() && gangs_kept.contains(gang_of(pod))) nodes.insert(pod.node);

  Snapshot snapshot(all_);
  std::erase_if(snapshot.nodes, [&](const SnapshotNode& node) { return !nodes.contains(node.name); });
  snapshot.pods.erase_if([&](const SnapshotPod& pod) { return !pod.node.empty() && !nodes.contains(pod.node); });
  for (SnapshotGang& gang : snapshot.gangs) {
    if (!gangs_kept.contains(gang.name)) gang.staleness_grace_period = kNever;  // it may run elsewhere, too
  }
  return snapshot;
}

}  // namespace muster::answers
