// LocalQueue, ClusterQueue and Cohort of Kueue (kueue.x-k8s.io) -> queues[]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/kubernetes/kueue/quota_tree.h"
#include "io/kubernetes/pod/requests.h"
#include "io/muster_v1/snapshot_input.h"

namespace muster::kubernetes {

// `spec.preemption` of a ClusterQueue, as it is written; an absent policy is `Never`.
struct KueuePolicy {
  std::string_view within_queue = "Never", reclaim = "Never";
  bool evicts_nothing() const { return within_queue == "Never" && reclaim == "Never"; }
};

// A ClusterQueue or a Cohort.
struct KueueQueue {
  std::string name;  // as it is written; empty: not yet
  bool is_known = false, is_cohort = false;
  std::string_view held;    // why it admits nothing; empty: it does
  std::string_view parent;  // cohort; empty: none
  KueueQuotas quotas;
  std::optional<KueuePolicy> policy;  // none: the object has no spec.preemption, which an API server always writes
  std::optional<double> weight;       // none: not set
  json::JsonValue namespaces;         // spec.namespaceSelector; absent: none
  std::size_t node = 0;               // in the tree of quotas
  std::set<std::string_view> asked;   // resources that its pods ask for
};

class KueueQueues {
 public:
  [[nodiscard]] bool add_local(KubernetesReading& reading, const KubernetesObject& object);
  [[nodiscard]] bool add_cluster(KubernetesReading& reading, const KubernetesObject& object);
  [[nodiscard]] bool add_cohort(KubernetesReading& reading, const KubernetesObject& object);
  // Once all objects are added: trees of cohorts, and remarks about what Muster does not do as Kueue does it.
  void settle_trees(KubernetesRemarks& remarks);

  // A pod of a namespace names this queue and asks for these resources. Requires settle_trees.
  void use(std::string_view namespace_name, std::string_view queue, const RequestedAmounts& requests);
  // A LocalQueue of the namespace that leads to the ClusterQueue; empty: none.
  std::string_view local_queue_to(std::string_view namespace_name, std::string_view cluster_queue) const;

  // The names of all queues, including those that pods name. If `is_taken`, a queue gets `@kueue.x-k8s.io`.
  template <class IsTaken>
  void settle_names(IsTaken is_taken) {
    for (auto& [name, queue] : queues_) settle_name(queue, name, is_taken);
    for (auto& [name, cohort] : cohorts_) {
      settle_name(cohort, name, [&](std::string_view wanted) { return is_taken(wanted) || queues_.contains(wanted); });
    }
  }
  // The ClusterQueue of a LocalQueue; of one that is not in the list, its own name.
  std::string_view cluster_queue(std::string_view namespace_name, std::string_view queue) const;
  // Requires settle_names, and the queue to be in use.
  std::string_view name_of(std::string_view namespace_name, std::string_view queue) const;
  // Why its queue, or the cluster's, admits nothing now; empty: it does.
  std::string_view held(std::string_view namespace_name, std::string_view queue) const;
  // None: it is not in the list.
  const KueueQueue* find(std::string_view namespace_name, std::string_view queue) const;
  const KueueQuotaTree& tree() const { return tree_; }

  bool empty() const { return queues_.empty(); }
  bool has(std::string_view written_name) const { return written_.contains(written_name); }
  // Appends them to the snapshot. Unless it is strict, a queue with an error is left out. Errors are those of `out`:
  // TooLarge.
  [[nodiscard]] bool add_to(muster_v1::SnapshotInput& out) const;

 private:
  using Queues = std::map<std::string_view, KueueQueue, std::less<>>;
  template <class IsTaken>
  void settle_name(KueueQueue& queue, std::string_view name, IsTaken is_taken) {
    queue.name = name;
    while (is_taken(queue.name) || written_.contains(queue.name)) queue.name += "@kueue.x-k8s.io";
    written_.insert(queue.name);
  }
  [[nodiscard]] bool read_weight(KubernetesReading& reading, json::JsonValue spec, json::JsonValue status,
                                 KueueQueue& out);
  void remark_on(const KueueQueue& queue, const std::string& title, KubernetesRemarks& remarks) const;
  double weight_of(const KueueQueue& queue, std::string_view resource) const;
  QueueResource gpus_of(const KueueQueue& queue) const;
  QueueResource resource_of(const KueueQueue& queue, std::string_view resource) const;
  [[nodiscard]] bool add_others(const KueueQueue& queue, muster_v1::SnapshotInput& out, SnapshotQueue& entry) const;

  struct Local {
    std::string_view cluster_queue;
    bool is_stopped = false;
  };
  std::map<std::pair<std::string_view, std::string_view>, Local> locals_;
  Queues queues_, cohorts_;
  KueueQuotaTree tree_;
  std::set<std::string, std::less<>> written_;
  bool shares_fairly_ = false;  // fair sharing is on, as an object tells
  bool is_settled_ = false;     // no object comes after that
};

}  // namespace muster::kubernetes
