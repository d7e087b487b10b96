#include "io/kubernetes/import/cluster.h"

#include "io/kubernetes/grouping/groups.h"
#include "io/kubernetes/import/disruption_budget.h"
#include "io/kubernetes/import/volcano_guarantees.h"
#include "io/kubernetes/object/attachments.h"

namespace muster::kubernetes {

bool ImportedCluster::read(ObjectVisitor& visitor) {
  KubernetesReading& in = visitor.reading();
  Snapshot& out = visitor.out().snapshot;
  for (const KubernetesKind kind : {KubernetesKind::kNamespace, KubernetesKind::kPriorityClass}) {
    for (const KubernetesObject& object : visitor.items().of(kind))
      if (!object.hold.empty()) effects_.try_emplace({kind, object.name}, object.hold.always);
  }
  const bool is_read =
      visitor.each_added(
          KubernetesKind::kPriorityClass, out.definitions.priority_classes,
          [&](const auto& object, auto& entry) { return priorities_.import(in, object, out.text, entry); }) &&
      read_budgets(visitor) &&
      visitor.each(KubernetesKind::kCsiNode,
                   [&](const auto& object) { return read_attach_limits(in, object, in.attach_limits); }) &&
      visitor.each(KubernetesKind::kTopology, [&](const auto& object) { return topologies_.import(in, object); }) &&
      visitor.each(KubernetesKind::kKoordinatorDevice,
                   [&](const auto& object) { return devices_.import(in, object); }) &&
      visitor.each(KubernetesKind::kKaiShard, [&](const auto& object) { return node_pools_.add_shard(in, object); }) &&
      read_queues(visitor) && check_parents(visitor) && read_nodes(visitor);
  remark_on_pools(in.remarks);
  return is_read;
}

void ImportedCluster::remark_on_pools(KubernetesRemarks& remarks) const {
  if (!node_pools_.divide_the_nodes() || !queues_.has_any_of_kai()) return;
  remarks.add("fair shares are those of all nodes, not of each node pool as KAI has them: others may be reclaimed from",
              std::string(kKaiPoolLabel));
}

// A budget that cannot be read is there with its name and, as far as that can be read, its selector.
bool ImportedCluster::read_budgets(ObjectVisitor& visitor) {
  KubernetesReading& in = visitor.reading();
  muster_v1::SnapshotInput& out = visitor.out();
  return visitor.each_kept(
      KubernetesKind::kDisruptionBudget, out.snapshot.disruption_budgets,
      {"disruptionBudget", "no pod that it may select can be evicted"},
      [&](const auto& object, auto& entry) { return import_disruption_budget(in, object, out, entry); },
      [&](const auto& object, auto& entry) { set_unclear_budget(in, object, out, entry); });
}

bool ImportedCluster::read_queues(ObjectVisitor& visitor) {
  KubernetesReading& in = visitor.reading();
  const VolcanoGuarantees guarantees(in, visitor.items());
  muster_v1::SnapshotInput& out = visitor.out();
  std::vector<SnapshotQueue>& queues = out.snapshot.queues;
  return visitor.each_added(KubernetesKind::kKaiQueue, queues, [&](const auto& object, auto& queue) {
    queues_.heed(object);
    return queues_.import_kai(in, object, node_pools_, out, queue);
  }) && visitor.each_added(KubernetesKind::kVolcanoQueue, queues, [&](const auto& object, auto& queue) {
    queues_.heed(object);
    return queues_.import_volcano(in, object, guarantees, out, queue);
  }) && read_kueue(visitor);
}

bool ImportedCluster::read_kueue(ObjectVisitor& visitor) {
  KubernetesReading& in = visitor.reading();
  KueueQueues& kueue = queues_.kueue();
  const bool are_read = visitor.each(KubernetesKind::kLocalQueue, [&](const auto& object) {
    queues_.heed(object);
    return kueue.add_local(in, object);
  }) && visitor.each(KubernetesKind::kCohort, [&](const auto& object) {
    return kueue.add_cohort(in, object);
  }) && visitor.each(KubernetesKind::kResourceFlavor, [&](const auto& object) {
    return flavors_.add(in, object);
  }) && visitor.each(KubernetesKind::kClusterQueue, [&](const auto& object) {
    queues_.heed(object);
    return kueue.add_cluster(in, object);
  });
  if (are_read) kueue.settle_trees(in.remarks);
  return are_read;
}

namespace {

constexpr ObjectVisitor::Unclear kUnclearNode{"node", "nothing new is placed there"};

// A node that cannot be read is there by its name, with the pods that run there.
void set_unclear_node(const KubernetesObject& object, muster_v1::SnapshotInput& out, KubernetesNode& node,
                      SnapshotNode& entry) {
  node.labels = {};
  node.cards = {};
  node.is_unclear = true;
  entry.name = out.keep(object.name);
  entry.resources = {{kPods, kDefaultNodePods}};
  entry.unschedulable = true;
}

}  // namespace

bool ImportedCluster::read_nodes(ObjectVisitor& visitor) {
  muster_v1::SnapshotInput& out = visitor.out();
  const std::size_t nodes = visitor.items().of(KubernetesKind::kNode).size();
  nodes_.reserve(nodes);
  out.snapshot.nodes.reserve(nodes);
  return visitor.each_kept(
      KubernetesKind::kNode, out.snapshot.nodes, kUnclearNode,
      [&](const auto& object, auto& entry) {
        node_names_.insert(object.name);
        node_pools_.add_node(member_of(object.metadata, "labels"));
        KubernetesNode& node = nodes_.emplace_back();
        node.object = &object;
        return import_node(visitor.reading(), devices_, out, node, entry);
      },
      [&](const auto& object, auto& entry) { set_unclear_node(object, out, nodes_.back(), entry); });
}

bool ImportedCluster::check_parents(ObjectVisitor& visitor) const {
  KubernetesReading& in = visitor.reading();
  const std::string_view orphan = in.strict ? queues_.without_parent() : std::string_view();
  if (orphan.empty()) return true;
  static_cast<void>(in.fail({}, ErrorCode::kUnknownQueue, "its parent queue is not in the input"));
  return visitor.fail("Queue " + std::string(orphan));
}

std::vector<CardNode> ImportedCluster::card_nodes() {
  std::vector<CardNode> found;
  for (KubernetesNode& node : nodes_) {
    if (node.cards.dialect != nullptr) found.push_back({node.name, &node.cards});
  }
  return found;
}

void ImportedCluster::add_topologies(Snapshot& out) const {
  for (SnapshotTopology topology : topologies_.written()) {
    topology.name = out.text.store(topology.name);
    for (std::string_view& level : topology.levels) level = out.text.store(level);
    out.definitions.topologies.push_back(std::move(topology));
  }
}

bool ImportedCluster::settle_nodes(ObjectVisitor& visitor) {
  if (!changes_.has_any()) return true;
  muster_v1::SnapshotInput& out = visitor.out();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].is_unclear) continue;
    SnapshotNode& entry = out.snapshot.nodes[i] = {};
    const KubernetesObject& object = *nodes_[i].object;
    nodes_[i].tells_plain_gpus = changes_.plain_gpus;
    if (read_node(visitor.reading(), out, nodes_[i], entry)) continue;
    if (visitor.reading().strict) return visitor.fail(object.title());
    visitor.warn(object, kUnclearNode);
    set_unclear_node(object, out, nodes_[i], entry = {});
  }
  return true;
}

// Without any queue there is `default`, as the format has it; but if none of them can be read, no gang has one.
bool ImportedCluster::add_queues(muster_v1::SnapshotInput& out) {
  std::vector<SnapshotQueue>& queues = out.snapshot.queues;
  if (queues_.empty()) return true;
  if (!queues_.kueue().add_to(out)) return false;
  if (queues_.uses_common_queue()) queues.emplace_back().name = out.keep(queues_.common_queue());
  if (queues.empty()) queues.emplace_back().name = "(none of the queues can be read)";
  return true;
}

}  // namespace muster::kubernetes
