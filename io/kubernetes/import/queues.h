// Queue of KAI (scheduling.run.ai/v2) and of Volcano (scheduling.volcano.sh/v1beta1) -> queues[]
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/kubernetes/grouping/kai.h"
#include "io/kubernetes/import/volcano_guarantees.h"
#include "io/kubernetes/kueue/queues.h"
#include "io/kubernetes/object/node_terms.h"
#include "io/kubernetes/object/object.h"
#include "io/muster_v1/snapshot_input.h"

namespace muster::kubernetes {

class KubernetesQueues {
 public:
  // Errors: DuplicateName if the other system has a queue of that name; those of the values themselves.
  // The shards of `pools` have been added to it; it learns of the queue.
  [[nodiscard]] bool import_kai(KubernetesReading& reading, const KubernetesObject& object, KaiNodePools& pools,
                                muster_v1::SnapshotInput& out, SnapshotQueue& queue);
  [[nodiscard]] bool import_volcano(KubernetesReading& reading, const KubernetesObject& object,
                                    const VolcanoGuarantees& guarantees, muster_v1::SnapshotInput& out,
                                    SnapshotQueue& queue);

  // Whether a Queue of the list has no such parent; its name, else "".
  std::string_view without_parent() const;
  // The queue of objects that name none: `default`, or `kubernetes` if a Queue of the list is called so.
  const std::string& common_queue();
  // Why its gangs are held; empty: they are not.
  std::string_view held(std::string_view queue) const {
    const auto found = held_.find(queue);
    return found == held_.end() ? std::string_view() : found->second;
  }
  // Volcano: what the queue, or the nearest one above it, asks of nodes; empty: nothing.
  NodeTerm nodes_of(std::string_view queue) const;
  // Keeps what the keys of a queue of any system mean that are not read.
  void heed(const KubernetesObject& queue);
  // The same for what is in a queue or in one below it: by its written name; by what pods of a namespace name.
  known::Effect hold_of(std::string_view queue) const;
  known::Effect hold_of_local(std::string_view namespace_name, std::string_view queue) const;
  bool has(std::string_view queue) const { return systems_.contains(queue); }
  bool is_of_kai(std::string_view queue) const;
  bool has_any_of_kai() const;
  bool empty() const { return systems_.empty() && kueue_.empty(); }
  // Kueue's, and their names next to those of the others, once all that pods name are known.
  KueueQueues& kueue() { return kueue_; }
  void settle_kueue_names() {
    kueue_.settle_names([this](std::string_view name) { return has(name); });
  }
  // Whether any object has used the common queue.
  bool uses_common_queue() const { return !common_.empty(); }

 private:
  enum class System : std::uint8_t { kKai, kVolcano };
  [[nodiscard]] bool add(KubernetesReading& reading, const KubernetesObject& object, System system,
                         std::string_view parent);
  [[nodiscard]] bool read_node_groups(KubernetesReading& reading, const KubernetesObject& object,
                                      json::JsonValue affinity);
  std::string_view parent_of(std::string_view queue) const;

  std::unordered_map<std::string_view, System> systems_;  // by name of the queue
  std::vector<std::pair<std::string_view, std::string_view>> parents_;
  std::unordered_map<std::string_view, std::string_view> held_;  // why, by name of the queue
  std::unordered_map<std::string_view, NodeTerm> node_groups_;   // of Volcano
  std::map<std::string, known::Effect, std::less<>> holds_;      // by full name
  std::string common_;
  KueueQueues kueue_;
};

}  // namespace muster::kubernetes
