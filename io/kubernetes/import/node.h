// Node -> nodes[]
#pragma once

#include <string_view>

#include "io/kubernetes/object/object.h"
#include "io/kubernetes/pod/node_cards.h"
#include "io/muster_v1/snapshot_input.h"

namespace muster::kubernetes {

// What the other objects ask of a node.
struct KubernetesNode {
  const KubernetesObject* object = nullptr;
  std::string_view name;
  json::JsonValue labels;         // an object, or absent
  bool is_unclear = false;        // it cannot be read
  bool is_known = false;          // what there is to say about it has been said
  bool tells_plain_gpus = false;  // as CardChanges::plain_gpus
  NodeCards cards;                // those that a system shares between pods
};

// Fills one entry of nodes[] for `node.object`, and sets what to remember of it. Errors are those of `reading` or
// `out`.
[[nodiscard]] bool import_node(KubernetesReading& reading, const KoordinatorDevices& koordinator,
                               muster_v1::SnapshotInput& out, KubernetesNode& node, SnapshotNode& entry);
// The entry once more, with what has become known since.
[[nodiscard]] bool read_node(KubernetesReading& reading, muster_v1::SnapshotInput& out, KubernetesNode& node,
                             SnapshotNode& entry);

}  // namespace muster::kubernetes
