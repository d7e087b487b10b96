// Nodes of one kind have the same devices and resources, whatever their names and labels.
#pragma once

#include <string>

#include "model/snapshot/snapshot.h"

namespace muster::answers {

// Equal for nodes of one kind only.
inline std::string node_kind(const SnapshotNode& node) {
  std::string key =
      std::string(node.gpu_model) + '/' + std::to_string(node.gpu_count) + '/' + std::to_string(node.gpu_memory_mib);
  for (const ResourceAmount& amount : node.resources)
    key += '/' + std::to_string(amount.resource.value()) + ':' + std::to_string(amount.amount);
  return key;
}

}  // namespace muster::answers
