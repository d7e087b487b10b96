// Whole nodes, and gangs that stay together: what the levels `wholeNodes` to `cpuOnGpuNodes` count.
//
// A node counts if it is not cordoned, no pending pod is nominated for it, and it has two or more GPUs, or MIG slices;
// in a cluster without GPUs, every such node counts. It is whole if the plan puts nothing new on it and no pod there
// uses a GPU (in a cluster without GPUs: no pod is there at all). Pods without GPUs that run there already, such as
// those of DaemonSets, leave it whole.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/problem/next_snapshot.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster {

class WholeNodes {
 public:
  // The problem must outlive it. Cost: O(pods + nodes).
  explicit WholeNodes(const Problem& problem);

  bool counts(NodeIndex node) const { return counts_[node] != 0; }
  std::int64_t countable() const { return countable_; }
  // Whether the node is not whole with this pod on it.
  bool breaks(PodIndex pod, NodeIndex node) const {
    return !has_gpus_ || problem_.class_of(pod).counts_as_gpu || is_new(pod, node);
  }
  // Whether the pod has no GPU, is on a node with GPUs, and could be on a node without.
  bool is_misplaced(PodIndex pod, NodeIndex node) const { return is_misplaced(problem_.pods[pod].pod_class, node); }
  bool is_misplaced(PodClassIndex pod_class, NodeIndex node) const {
    return may_avoid_gpus_[pod_class] != 0 && has_gpus(problem_.nodes[node].node_class);
  }
  bool may_avoid_gpus(PodClassIndex pod_class) const { return may_avoid_gpus_[pod_class] != 0; }
  bool has_gpus(NodeClassIndex node_class) const { return class_has_gpus_[node_class] != 0; }

 private:
  bool is_new(PodIndex pod, NodeIndex node) const {
    return problem_.pods[pod].status != PodStatus::kRunning || problem_.pods[pod].node != node;
  }

  const Problem& problem_;
  bool has_gpus_ = false;
  Indexed<NodeIndex, std::uint8_t> counts_;
  std::int64_t countable_ = 0;
  Indexed<NodeClassIndex, std::uint8_t> class_has_gpus_;
  Indexed<PodClassIndex, std::uint8_t> may_avoid_gpus_;
};

// How far a gang is spread beyond one node, one domain of each topology level, and one GPU model.
struct GangSpread {
  std::int64_t nodes = 0, domains = 0, models = 0;
  GangSpread& operator+=(const GangSpread& other);
  friend bool operator==(const GangSpread&, const GangSpread&) = default;
};

// A node with a pod of the gang.
struct GangNode {
  NodeIndex node;
  bool uses_devices = false;
  friend auto operator<=>(const GangNode&, const GangNode&) = default;
};
// `nodes`: one entry for each pod of the gang that is present; they are sorted. Cost: O(pods log pods x levels).
GangSpread spread_of_gang(const Problem& problem, std::vector<GangNode>& nodes);

// Domains that count (those with a node that counts) of all topology levels, and how many of them are whole.
std::int64_t whole_domains(const Problem& problem, const WholeNodes& whole_nodes,
                           const Indexed<NodeIndex, std::uint8_t>& is_broken);

// By node: whether it is not whole once the plan is carried out. Includes nodes that do not count.
Indexed<NodeIndex, std::uint8_t> broken_nodes(const Problem& problem, const WholeNodes& whole_nodes,
                                              const EndState& end_state);

// Nodes that count, and how many of them are whole. Reported whatever the policy compares.
struct WholeNodeCount {
  std::int64_t whole = 0, of = 0;
};
// Once the plan is carried out. Cost: O(pods + nodes).
WholeNodeCount whole_nodes_after(const Problem& problem, const Plan& plan);

inline constexpr std::size_t kWholenessLevels = 6;
// In the order of the levels.
using WholenessValues = std::array<std::int64_t, kWholenessLevels>;
WholenessValues wholeness_values(const Problem& problem, const Plan& plan, const EndState& end_state);

}  // namespace muster
