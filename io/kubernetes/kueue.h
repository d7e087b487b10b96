// LocalQueue and ClusterQueue of Kueue (kueue.x-k8s.io) -> queues[]
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

class KueueQueues {
 public:
  [[nodiscard]] bool add_local(KubernetesReading& reading, const KubernetesObject& object);
  [[nodiscard]] bool add_cluster(KubernetesReading& reading, const KubernetesObject& object);

  // Pods of a namespace name this queue. Requires all objects to be added.
  void use(std::string_view namespace_name, std::string_view queue);

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
  // Whether its queue, or the cluster's, admits nothing now.
  bool is_stopped(std::string_view namespace_name, std::string_view queue) const;

  bool empty() const { return queues_.empty(); }
  bool has(std::string_view written_name) const { return written_.contains(written_name); }
  void write(json::JsonWriter& writer, bool& first) const;

 private:
  struct Amounts {
    std::int64_t nominal = 0;
    std::optional<std::int64_t> limit = 0;  // none: whatever the cohort lends
  };
  struct Queue {
    std::string name;  // as it is written
    bool is_known = false, is_stopped = false;
    std::string_view cohort;
    std::array<Amounts, 3> amounts;  // gpu, cpu, memory
    double weight = 1;
  };
  template <class IsTaken>
  void settle_name(Queue& queue, std::string_view name, IsTaken is_taken) {
    queue.name = name;
    while (is_taken(queue.name) || written_.contains(queue.name)) queue.name += "@kueue.x-k8s.io";
    written_.insert(queue.name);
  }
  [[nodiscard]] bool read_groups(KubernetesReading& reading, json::JsonValue groups, Queue& out) const;
  [[nodiscard]] bool read_flavor(KubernetesReading& reading, json::JsonValue flavor, Queue& out) const;

  struct Local {
    std::string_view cluster_queue;
    bool is_stopped = false;
  };
  std::map<std::pair<std::string_view, std::string_view>, Local> locals_;
  std::map<std::string_view, Queue, std::less<>> queues_, cohorts_;
  std::set<std::string, std::less<>> written_;
  bool is_used_ = false;  // no object comes after that
};

}  // namespace muster::kubernetes
