// Node -> nodes[]
#pragma once

#include <string_view>

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

// What the other objects ask of a node.
struct KubernetesNode {
  std::string_view name;
  json::JsonValue labels;  // an object, or absent
};

// Writes one entry of nodes[] and returns what to remember of it.
[[nodiscard]] bool import_node(KubernetesReading& reading, const KubernetesObject& object, json::JsonWriter& writer,
                               KubernetesNode& out);

}  // namespace muster::kubernetes
