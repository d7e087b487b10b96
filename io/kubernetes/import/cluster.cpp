#include "io/kubernetes/import/cluster.h"

#include "io/kubernetes/grouping/groups.h"
#include "io/kubernetes/import/disruption_budget.h"
#include "io/kubernetes/import/volcano_guarantees.h"
#include "io/kubernetes/object/attachments.h"
#include "io/snapshot_writer/records.h"

namespace muster::kubernetes {

bool ImportedCluster::read(ObjectVisitor& visitor) {
  KubernetesReading& in = visitor.reading();
  for (const KubernetesKind kind : {KubernetesKind::kNamespace, KubernetesKind::kPriorityClass}) {
    for (const KubernetesObject& object : visitor.items().of(kind))
      if (!object.hold.empty()) effects_.try_emplace({kind, object.name}, object.hold.always);
  }
  const bool is_read =
      visitor.each_written(KubernetesKind::kPriorityClass, classes_text_,
                           [&](const auto& object, auto& out) { return priorities_.import(in, object, out); }) &&
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

// A budget that cannot be read is included with its name and selector, and marked unclear.
bool ImportedCluster::read_budgets(ObjectVisitor& visitor) {
  KubernetesReading& in = visitor.reading();
  return visitor.each_kept(
      KubernetesKind::kDisruptionBudget, budgets_text_,
      [&](const auto& object, auto& out) { return import_disruption_budget(in, object, out); },
      [&](const auto& object, const auto& why, auto& out) { write_unclear_budget(in, object, why, out); });
}

bool ImportedCluster::read_queues(ObjectVisitor& visitor) {
  KubernetesReading& in = visitor.reading();
  const VolcanoGuarantees guarantees(in, visitor.items());
  return visitor.each_written(KubernetesKind::kKaiQueue, queues_text_, [&](const auto& object, auto& out) {
    queues_.heed(object);
    return queues_.import_kai(in, object, node_pools_, out);
  }) && visitor.each_written(KubernetesKind::kVolcanoQueue, queues_text_, [&](const auto& object, auto& out) {
    queues_.heed(object);
    return queues_.import_volcano(in, object, guarantees, out);
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

// A node that cannot be read is there by its name, and unclear.
bool ImportedCluster::read_nodes(ObjectVisitor& visitor) {
  nodes_text_.reserve(visitor.items().of(KubernetesKind::kNode).size() * 1024);
  return visitor.each_kept(
      KubernetesKind::kNode, nodes_text_,
      [&](const auto& object, auto& out) {
        node_names_.insert(object.name);
        node_pools_.add_node(member_of(object.metadata, "labels"));
        KubernetesNode& node = nodes_.emplace_back();
        node.object = &object;
        return import_node(visitor.reading(), devices_, out, node);
      },
      [&](const auto& object, const auto& why, auto& out) {
        nodes_.back().labels = {};
        nodes_.back().cards = {};
        json::JsonWriter(nodes_.back().unclear)
            .raw(R"({"name":)")
            .string(object.name)
            .raw(R"(,"unclear":)")
            .string(why);
        out.raw(nodes_.back().unclear.append("}"));
      });
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

void ImportedCluster::write_topology(json::JsonWriter& writer) const {
  snapshot_writer::write_topologies(writer, topologies_.written());
}

bool ImportedCluster::write_nodes(KubernetesReading& in, json::JsonWriter& writer) {
  writer.raw(R"(,"nodes":[)");
  bool first = true;
  if (!changes_.has_any()) writer.raw(nodes_text_);
  for (KubernetesNode& node : nodes_) {
    if (!changes_.has_any()) break;
    node.tells_plain_gpus = changes_.plain_gpus;
    if (!node.unclear.empty()) {
      writer.separate(first).raw(node.unclear);
    } else if (!write_node(in, writer.separate(first), node)) {
      return false;
    }
  }
  writer.raw("]");
  return true;
}

void ImportedCluster::write_priority_classes(json::JsonWriter& writer) const {
  writer.raw(R"(,"priorityClasses":[)").raw(classes_text_).raw("]");
}

// Without any queue there is `default`, as the format has it.
void ImportedCluster::write_queues(json::JsonWriter& writer) {
  if (queues_.empty()) return;
  bool first = queues_text_.empty();
  writer.raw(R"(,"queues":[)").raw(queues_text_);
  queues_.kueue().write(writer, first);
  if (queues_.uses_common_queue()) writer.separate(first).raw(R"({"name":)").string(queues_.common_queue()).raw("}");
  writer.raw("]");
}

void ImportedCluster::write_budgets(json::JsonWriter& writer) const {
  if (!budgets_text_.empty()) writer.raw(R"(,"disruptionBudgets":[)").raw(budgets_text_).raw("]");
}

}  // namespace muster::kubernetes
