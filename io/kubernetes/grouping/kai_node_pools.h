// Node pools of KAI: each SchedulingShard is a scheduler of its own, for the nodes, queues and groups with the value of
// its label; one without a value is for those without the label.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/kubernetes/object/node_terms.h"
#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

class KaiNodePools {
 public:
  // Errors: WrongType, InvalidValue.
  [[nodiscard]] bool add_shard(KubernetesReading& reading, const KubernetesObject& object);
  void add_node(json::JsonValue labels);
  void add_queue(std::string_view queue, std::string_view pool) { of_queue_[queue] = pool; }

  // The default of queues of the pool, a duration; absent: none.
  json::JsonValue preempt_min_runtime(std::string_view pool) const { return shard_of(pool).preempt_min_runtime; }
  json::JsonValue reclaim_min_runtime(std::string_view pool) const { return shard_of(pool).reclaim_min_runtime; }

  // Why no scheduler places a group of the pool in the queue; empty: one does. Without any shard in the list, there is
  // one for each pool.
  std::string objection(std::string_view pool, std::string_view queue) const;
  // What it asks of nodes; empty: nothing.
  NodeTerm nodes_of(std::string_view pool) const;
  // Whether nodes of several pools are in the list, so that what a queue is entitled to depends on the pool.
  bool divide_the_nodes() const { return pools_of_nodes_.size() > 1; }

 private:
  struct Shard {
    json::JsonValue preempt_min_runtime, reclaim_min_runtime;
  };
  Shard shard_of(std::string_view pool) const {
    const auto found = shards_.find(pool);
    return found == shards_.end() ? Shard() : found->second;
  }

  std::unordered_map<std::string_view, Shard> shards_;  // by value; "": without one
  std::unordered_map<std::string_view, std::string_view> of_queue_;
  std::set<std::string_view> pools_of_nodes_;
};

}  // namespace muster::kubernetes
