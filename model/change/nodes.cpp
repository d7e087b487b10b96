// Nodes that come, go and close.
#include <algorithm>
#include <string>
#include <unordered_set>

#include "model/change/change.h"
#include "model/change/merge.h"
#include "model/problem/next_snapshot.h"

namespace muster::change {
namespace {

SnapshotNode* find_node(Snapshot& snapshot, std::string_view name) {
  const auto found = std::ranges::find(snapshot.nodes, name, &SnapshotNode::name);
  return found == snapshot.nodes.end() ? nullptr : &*found;
}

// Names of new nodes, `prefix` with a number, that no node has.
class NewNames {
 public:
  NewNames(Snapshot& snapshot, std::string prefix) : text_(snapshot.text), prefix_(std::move(prefix)) {
    for (const SnapshotNode& node : snapshot.nodes) taken_.insert(node.name);
  }
  std::string_view next() {
    std::string name;
    do name = prefix_ + "+" + std::to_string(++number_);
    while (taken_.contains(name));
    return text_.store(name);
  }

 private:
  StringPool& text_;
  std::string prefix_;
  std::unordered_set<std::string_view> taken_;
  std::int64_t number_ = 0;
};

// The running pods of a node are pending again; those that are leaving are gone with the node, or go on leaving.
void send_away(Snapshot& snapshot, std::string_view node, bool is_gone) {
  for (SnapshotPod& pod : snapshot.pods) {
    if (pod.nominated_node == node) pod.nominated_node = {};
    if (pod.node == node && pod.status == PodStatus::kRunning) make_pending_again(pod, snapshot.time);
  }
  if (!is_gone) return;
  snapshot.pods.erase_if(
      [&](const SnapshotPod& pod) { return pod.node == node && pod.status == PodStatus::kReleasing; });
}

SnapshotNode node_of(const NodeShape& shape, Snapshot& snapshot) {
  SnapshotNode node;
  for (const auto& [name, amount] : shape.resources) {
    node.resources.push_back({resource_named(snapshot, name), amount});
  }
  const auto is_pods = [](const ResourceAmount& amount) { return amount.resource == kPods; };
  if (std::ranges::none_of(node.resources, is_pods)) node.resources.push_back({kPods, kDefaultNodePods});
  std::ranges::sort(node.resources, {}, &ResourceAmount::resource);
  node.gpu_count = shape.gpus;
  node.gpu_model = snapshot.text.store(shape.gpu_model);
  node.gpu_memory_mib = shape.gpu_memory_mib;
  for (const auto& [key, value] : shape.labels) {
    node.labels.emplace_back(snapshot.text.store(key), snapshot.text.store(value));
  }
  std::ranges::sort(node.labels);
  return node;
}

void add(const SnapshotNode& like, std::int64_t count, const std::string& prefix, Snapshot& snapshot) {
  NewNames names(snapshot, prefix);
  for (std::int64_t i = 0; i < count; ++i) {
    SnapshotNode& node = snapshot.nodes.emplace_back(like);
    node.name = names.next();
    for (auto& label : node.labels) {
      if (!like.name.empty() && label.second == like.name) label.second = node.name;
    }
  }
}

}  // namespace

void uncordon(SnapshotNode& node) {
  node.unschedulable = false;
  std::erase_if(node.taints, [](const Taint& taint) { return taint.key == "node.kubernetes.io/unschedulable"; });
}

void make_ready(SnapshotNode& node) {
  node.unschedulable = false;
  std::erase_if(node.taints, is_of_trouble);
}

bool is_of_trouble(const Taint& taint) { return taint.key.starts_with("node.kubernetes.io/"); }

Failure apply_one(const AddNodes& change, Snapshot& snapshot) {
  if (change.count < 1) return InputError{ErrorCode::kInvalidValue, "$", "the number of nodes to add is below 1"};
  const SnapshotNode* found = find_node(snapshot, change.like);
  if (!found) return unknown("node", change.like);
  SnapshotNode like = *found;
  make_ready(like);
  like.gpu_ids.clear();
  add(like, change.count, change.like, snapshot);
  return {};
}

Failure apply_one(const AddShapedNodes& change, Snapshot& snapshot) {
  if (change.count < 1) return InputError{ErrorCode::kInvalidValue, "$", "the number of nodes to add is below 1"};
  add(node_of(change.shape, snapshot), change.count, change.prefix, snapshot);
  return {};
}

Failure apply_one(const RemoveNode& change, Snapshot& snapshot) {
  const SnapshotNode* node = find_node(snapshot, change.node);
  if (!node) return unknown("node", change.node);
  send_away(snapshot, node->name, true);
  std::erase_if(snapshot.nodes, [&](const SnapshotNode& other) { return other.name == change.node; });
  return {};
}

Failure apply_one(const Cordon& change, Snapshot& snapshot) {
  SnapshotNode* node = find_node(snapshot, change.node);
  if (!node) return unknown("node", change.node);
  node->unschedulable = true;
  return {};
}

Failure apply_one(const Uncordon& change, Snapshot& snapshot) {
  SnapshotNode* node = find_node(snapshot, change.node);
  if (!node) return unknown("node", change.node);
  uncordon(*node);
  return {};
}

Failure apply_one(const Drain& change, Snapshot& snapshot) {
  SnapshotNode* node = find_node(snapshot, change.node);
  if (!node) return unknown("node", change.node);
  node->unschedulable = true;
  send_away(snapshot, node->name, false);
  return {};
}

}  // namespace muster::change
