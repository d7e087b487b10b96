// Reservations of EASY backfilling: when a gang that does not fit is expected to start, and what the gangs that start
// before it leave for it.
//
// Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995. There are several heads, one for each leaf queue, and
// two things to reserve: GPUs of quotas and limits, and devices of nodes. Only they are counted: cores, memory,
// topology and affinity are left to the fit test of the day on which the gang starts.
//
// Units: GPUs of queues in millionths, devices of nodes as whole ones (one for each share), instants in nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/problem/problem.h"

namespace muster::policies {

class Reservations {
 public:
  // All must outlive the object, which follows the state.
  Reservations(const Problem& problem, const ClusterState& state, const QueueBounds& bounds);

  // Makes the gang a head: it is to start at the first expected end of present gangs at which its minimum fits beside
  // what is there then and beside the earlier heads. False, and nothing is reserved: by these counts it fits now, or at
  // no expected end. Gangs without an expected duration are expected to run for ever. Cost: O(pods), and O(log ends x
  // pods of the gang x nodes).
  bool reserve(GangIndex gang);

  // Whether a pod on this node leaves the devices there that are reserved for heads which its gang outlasts. Cost: O(1)
  // if none are; else O(heads x pods on the node).
  bool admits(PodIndex pod, NodeIndex node) const;
  // The gang has taken so many more GPUs, on nodes that admit its pods. False, and nothing is counted: heads that it
  // outlasts need them of their quotas or limits. Cost: O(heads x depth of the queue).
  bool count(GangIndex gang, MicroGpu gpus);
  // The number of heads that are expected to start before the gang ends if it starts now.
  std::size_t outlasted(GangIndex gang) const;

 private:
  // What is left of a queue's bound at the start of the head, next to the head.
  struct Spare {
    QueueIndex queue;
    bool of_non_preemptible = false;  // of the quota; else of the limit
    MicroGpu gpus = 0;
  };
  struct NodePart {
    NodeIndex node;
    std::int32_t devices = 0;
  };
  struct Head {
    GangIndex gang;
    Nanoseconds start = 0;
    MicroGpu gpus = 0;
    std::vector<Spare> spares;
    std::vector<NodePart> nodes;
  };
  // What a gang holds of its queue, and until when.
  struct Holding {
    GangIndex gang;
    Nanoseconds end = 0;
    MicroGpu gpus = 0;
  };

  Nanoseconds end_of(GangIndex gang) const;
  std::vector<Holding> holdings() const;
  std::vector<PodIndex> missing_pods(GangIndex gang) const;
  std::vector<Spare> spares_at(Nanoseconds time, const Head& head, const std::vector<Holding>& holdings) const;
  bool find_nodes(Nanoseconds time, const std::vector<PodIndex>& pods, std::vector<NodePart>& nodes) const;
  std::int32_t free_devices(NodeIndex node, Nanoseconds time) const;
  std::int32_t reserved_by(NodeIndex node, Nanoseconds time) const;

  const Problem& problem_;
  const ClusterState& state_;
  const QueueBounds& bounds_;
  std::vector<Head> heads_;
  Indexed<NodeIndex, std::int32_t> reserved_;  // devices, for all heads
};

}  // namespace muster::policies
