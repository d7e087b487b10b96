// Topology of KAI (kai.scheduler/v1alpha1) and of Kueue (kueue.x-k8s.io), and the topology keys of pod groups and pods
// -> topologies
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/kubernetes/object/object.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

// Each object is one topology, and so is each key that stands for itself; those with the same levels are written once.
// Views that it returns hold as long as it does.
class KubernetesTopologies {
 public:
  // The name of a Topology that groups of KAI find by any name: of a cluster whose topology has none.
  static constexpr std::string_view kAnyName = "*";

  [[nodiscard]] bool import(KubernetesReading& reading, const KubernetesObject& object);
  // A node label whose values are the domains, whatever other labels a node has. The name of its topology.
  std::string_view add_key(std::string_view label);
  // A level that a pod of Kueue names: if no Topology has it, it is a key.
  void add_kueue_level(std::string_view label);

  // Whether KAI has a Topology of this name; if it is empty, any.
  bool has_kai(std::string_view name) const;
  // The request of a group of KAI, with levels by their label or alias: node labels, and the name of the topology as it
  // is written; of the Topology `name`, or of the first one that has the level, if the group names none. A level that
  // is unknown is empty.
  TopologyRequest of_kai(std::string_view name, std::string_view required, std::string_view preferred) const;
  // Where a level is that pods of Kueue name: the topology's name as it is written, if just one Topology of Kueue has
  // it. `of_flavors`: the names of those that the flavors of their queue name; if some of them have the level, only
  // these count. Empty: all that have the level.
  std::string_view of_kueue(std::string_view label, std::span<const std::string_view> of_flavors) const;

  // As in a snapshot.
  std::vector<SnapshotTopology> written() const;

 private:
  enum class System : std::uint8_t { kKai, kKueue, kKey };
  struct Level {
    std::string_view label, alias;
  };
  struct Topology {
    std::string_view name;
    System system = System::kKai;
    std::vector<Level> levels;
    std::string written_name;
    bool is_written = true;  // no earlier one has its levels
  };
  [[nodiscard]] bool read_levels(KubernetesReading& reading, json::JsonValue list, Topology& topology) const;
  Topology& add(Topology topology);
  static std::string_view label_of(const Topology& topology, std::string_view level);

  std::deque<Topology> topologies_;
};

}  // namespace muster::kubernetes
