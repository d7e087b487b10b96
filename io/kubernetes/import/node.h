// Node -> nodes[]
#pragma once

#include <string>
#include <string_view>

#include "io/kubernetes/object/object.h"
#include "io/kubernetes/pod/node_cards.h"

namespace muster::kubernetes {

// What the other objects ask of a node.
struct KubernetesNode {
  const KubernetesObject* object = nullptr;
  std::string_view name;
  json::JsonValue labels;         // an object, or absent
  std::string unclear;            // what is written of a node that cannot be read; empty: it can
  bool is_known = false;          // what there is to say about it has been said
  bool tells_plain_gpus = false;  // as CardChanges::plain_gpus
  NodeCards cards;                // those that a system shares between pods
};

// Writes one entry of nodes[] for `node.object`, and sets what to remember of it.
[[nodiscard]] bool import_node(KubernetesReading& reading, const KoordinatorDevices& koordinator,
                               json::JsonWriter& writer, KubernetesNode& node);
// The entry once more, with what has become known since.
[[nodiscard]] bool write_node(KubernetesReading& reading, json::JsonWriter& writer, KubernetesNode& node);

}  // namespace muster::kubernetes
