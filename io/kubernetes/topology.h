// Topology (kai.scheduler/v1alpha1) and the topology keys of PodGroups -> topology
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "io/kubernetes/node.h"
#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

class KubernetesTopologies {
 public:
  [[nodiscard]] bool import(KubernetesReading& reading, const KubernetesObject& object);
  // A level that a group of the Workload API names.
  void add_key(std::string_view label);

  // The node label of a level that is named by its label or its alias, of the topology `name`, or of any topology if
  // there is none of that name. Empty: there is no such level.
  std::string_view label_of(std::string_view name, std::string_view level) const;

  // All levels, coarse to fine: those of one topology in its order; of several, by the number of their domains.
  std::vector<std::string_view> levels(std::span<const KubernetesNode> nodes) const;

 private:
  struct Level {
    std::string_view label, alias;
  };
  struct Topology {
    std::string_view name;
    std::vector<Level> levels;
  };
  std::vector<Topology> topologies_;
};

}  // namespace muster::kubernetes
