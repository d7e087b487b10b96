#include "io/kubernetes/grouping/kai_node_pools.h"

#include "io/kubernetes/grouping/metadata.h"
#include "io/kubernetes/groups.h"

namespace muster::kubernetes {

namespace {

std::string words_of(std::string_view pool) {
  return pool.empty() ? "without the label " + std::string(kKaiPoolLabel) : "\"" + std::string(pool) + "\"";
}

}  // namespace

bool KaiNodePools::add_shard(KubernetesReading& in, const KubernetesObject& object) {
  static constexpr std::array<std::string_view, 2> kSpec = {"minRuntime", "partitionLabelValue"};
  static constexpr std::array<std::string_view, 2> kRuntimes = {"preemptMinRuntime", "reclaimMinRuntime"};
  std::array<json::JsonValue, 2> spec;
  std::array<json::JsonValue, 2> runtimes;
  std::string_view pool;
  if (!in.take(object.spec, kSpec, spec) || !in.text(spec[1], pool) || !in.take(spec[0], kRuntimes, runtimes))
    return false;
  for (const json::JsonValue runtime : runtimes) {
    Nanoseconds duration = 0;
    if (runtime && !in.read_duration(runtime, duration)) return false;
  }
  shards_.emplace(pool, Shard{runtimes[0], runtimes[1]});
  return true;
}

void KaiNodePools::add_node(json::JsonValue labels) { pools_of_nodes_.insert(text_at(labels, kKaiPoolLabel)); }

std::string KaiNodePools::objection(std::string_view pool, std::string_view queue) const {
  if (!shards_.empty() && !shards_.contains(pool))
    return "no SchedulingShard in the input schedules the node pool " + words_of(pool);
  const auto of_queue = of_queue_.find(queue);
  if (of_queue == of_queue_.end() || of_queue->second == pool) return {};
  return "it belongs to the node pool " + words_of(pool) + ", its queue to the node pool " + words_of(of_queue->second);
}

NodeTerm KaiNodePools::nodes_of(std::string_view pool) const {
  if (!pool.empty()) return label_term(kKaiPoolLabel, {pool});
  const bool has_others = pools_of_nodes_.size() > (pools_of_nodes_.contains("") ? 1U : 0U);
  if (!has_others) return {};
  return {{kKaiPoolLabel, "DoesNotExist", {}, false}};
}

}  // namespace muster::kubernetes
