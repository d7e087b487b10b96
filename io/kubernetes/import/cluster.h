// The part of a list that describes the cluster itself: nodes, topology, queues, priority classes, disruption budgets.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "io/kubernetes/grouping/kai.h"
#include "io/kubernetes/grouping/priorities.h"
#include "io/kubernetes/grouping/topology.h"
#include "io/kubernetes/import/named_objects.h"
#include "io/kubernetes/import/node.h"
#include "io/kubernetes/import/queues.h"
#include "io/kubernetes/kueue/flavors.h"
#include "io/kubernetes/pod/card_settling.h"

namespace muster::kubernetes {

class ImportedCluster {
 public:
  // Fills the nodes, the queues of KAI and Volcano, the priority classes and the disruption budgets of the snapshot.
  // Errors: those of the objects; UnknownQueue, of a parent. Cost: one pass over the objects.
  [[nodiscard]] bool read(ObjectVisitor& visitor);

  // What the keys of a Namespace, and of a PriorityClass, that are not read mean for their pods.
  known::Effect effect_of(KubernetesKind kind, std::string_view name) const {
    const auto found = effects_.find({kind, name});
    return found == effects_.end() ? known::Effect() : found->second;
  }
  bool has_effects() const { return !effects_.empty(); }
  bool has_node(std::string_view name) const { return node_names_.contains(name); }
  const KubernetesPriorities& priorities() const { return priorities_; }
  KubernetesQueues& queues() { return queues_; }
  const KueueFlavors& flavors() const { return flavors_; }
  const KaiNodePools& node_pools() const { return node_pools_; }
  // Groups and pods add the levels that they name.
  KubernetesTopologies& topologies() { return topologies_; }

  // The nodes whose cards pods share, and what became of them once pods were read.
  std::vector<CardNode> card_nodes();
  void change_cards(const CardChanges& changes) { changes_ = changes; }

  // The sections that other objects have a say in. Requires all groups and pods to be read.
  void add_topologies(Snapshot& out) const;
  // With changes of cards, the objects of nodes are read once more.
  [[nodiscard]] bool settle_nodes(ObjectVisitor& visitor);
  // The queues that are not there yet; after the pods, which may use a queue that no object has.
  [[nodiscard]] bool add_queues(muster_v1::SnapshotInput& out);

 private:
  [[nodiscard]] bool read_budgets(ObjectVisitor& visitor);
  [[nodiscard]] bool read_queues(ObjectVisitor& visitor);
  [[nodiscard]] bool read_kueue(ObjectVisitor& visitor);
  [[nodiscard]] bool read_nodes(ObjectVisitor& visitor);
  [[nodiscard]] bool check_parents(ObjectVisitor& visitor) const;
  void remark_on_pools(KubernetesRemarks& remarks) const;

  std::map<std::pair<KubernetesKind, std::string_view>, known::Effect> effects_;
  KubernetesPriorities priorities_;
  KubernetesQueues queues_;
  KueueFlavors flavors_;
  KaiNodePools node_pools_;
  KubernetesTopologies topologies_;
  KoordinatorDevices devices_;
  CardChanges changes_;
  std::vector<KubernetesNode> nodes_;  // in the order of the snapshot's
  std::unordered_set<std::string_view> node_names_;
};

}  // namespace muster::kubernetes
