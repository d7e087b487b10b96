// The quantities that most nodes lack if they cannot take a pod: a few contiguous numbers for each node, so that nodes
// that are too full cost next to nothing.
#pragma once

#include <cstdint>

#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::placement {

// An upper bound of what is free on a node, or what a pod requests.
struct NodeSummary {
  Amount cpu = 0, memory = 0;
  std::int64_t share = 0;  // of the device with the most free capacity, in millionths of it
  std::int32_t idle = 0;   // devices
  // Not requested: further input of the scores.
  std::int32_t stranded = 0;  // see TypicalRequest
  std::int32_t room = 0;      // on all devices together, in thousandths of one
  NodeClassIndex node_class;
};

// Quantities that the class does not request are below all that may be free.
NodeSummary requested_by(const PodClass& pod_class);

inline bool is_short(const NodeSummary& free, const NodeSummary& requested) {
  return requested.cpu > free.cpu || requested.memory > free.memory || requested.idle > free.idle ||
         requested.share > free.share;
}
inline bool has_equal_room(const NodeSummary& a, const NodeSummary& b) {
  return a.cpu == b.cpu && a.memory == b.memory && a.share == b.share && a.idle == b.idle;
}

// How much cpu and memory the pods that wait for GPUs request for each GPU.
class TypicalRequest {
 public:
  // `pending`: the number of pods that wait. Cost: O(pod classes).
  TypicalRequest(const Problem& problem, const Indexed<PodClassIndex, std::int64_t>& pending);

  // GPUs that would have no cpu left for a typical pod, in thousandths; 0 if no pod waits for GPUs.
  std::int32_t stranded(std::int64_t idle_devices, Amount free_cpu) const;
  // Of that much room on devices, in use or not, the part for which typical pods would lack cpu or memory; in
  // thousandths of a GPU.
  std::int64_t lacking(std::int64_t room, Amount free_cpu, Amount free_memory) const;

 private:
  Amount per_gpu_ = 0;                             // thousandths of a core; of sharers for a whole GPU each
  Amount cpu_per_room_ = 0, memory_per_room_ = 0;  // for what they take of a GPU
};

class NodeSummaries {
 public:
  // Both must outlive it. No node has a summary.
  NodeSummaries(const ClusterState& state, const TypicalRequest& typical) : state_(state), typical_(typical) {}

  // Of every node, as it is now. Cost: O(nodes x devices).
  void begin();
  // To be called for each node that has changed. Cost: O(devices).
  void renew(NodeIndex node) { summaries_[node] = summary_of(node); }

  const NodeSummary& operator[](NodeIndex node) const { return summaries_[node]; }
  void fetch(NodeIndex node) const { __builtin_prefetch(&summaries_[node]); }

 private:
  NodeSummary summary_of(NodeIndex node) const;

  const ClusterState& state_;
  const TypicalRequest& typical_;
  Indexed<NodeIndex, NodeSummary> summaries_;
};

}  // namespace muster::placement
