// The free capacity once a plan is carried out: plain counting for reasons and blockers, independent of the engines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/problem/inter_pod_counts.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::explain {

// The cluster as the plan leaves it: evicted and releasing pods are gone, placed ones are there.
struct AfterPlan {
  Indexed<PodIndex, NodeIndex> node;                         // none: does not run
  Indexed<PodIndex, std::span<const std::int32_t>> devices;  // of the plan or the problem, which outlive this
  Indexed<QueueIndex, QueueAmounts> usage, non_preemptible_usage;
  Indexed<QueueIndex, QueueAmounts> usage_before;            // as the snapshot has it
  Indexed<OtherLimitIndex, Amount> limited, limited_before;  // the same of what counts against limits on others
  bool is_present(PodIndex pod) const { return !node[pod].is_none(); }
};
AfterPlan after_plan(const Problem& problem, const Plan& plan);

// Free amounts and device units of every node, with undo. Filters are not examined here; anti-affinity is, by
// conflicts().
class RemainingCapacity {
 public:
  static RemainingCapacity empty_cluster(const Problem& problem);
  static RemainingCapacity after(const Problem& problem, const AfterPlan& end);

  std::span<const NodeIndex> nodes() const { return nodes_; }  // all of them
  std::span<const std::int64_t> free(NodeIndex node) const {
    return {cells_.data() + begin_[node.value()], resource_count_};
  }
  std::span<const std::int64_t> devices(NodeIndex node) const {
    const std::size_t begin = begin_[node.value()] + resource_count_;
    return {cells_.data() + begin, begin_[node.value() + 1] - begin};
  }
  // How many more pods of the class the node takes, at most `limit`. Cost: O(resources + devices).
  std::int64_t count(const PodClass& pod_class, NodeIndex node, std::int64_t limit) const;
  // Whether the node's devices take one pod of the class, whatever else it asks for.
  bool takes_devices(const PodClass& pod_class, NodeIndex node) const {
    return pod_class.gpu.kind == GpuRequestKind::kNone || device_count(pod_class, node, 1) > 0;
  }
  // Whether a pod that is present, or was put there, keeps the class off the node by anti-affinity.
  bool conflicts(const PodClass& pod_class, NodeIndex node) const {
    const bool has_terms = !pod_class.anti_affinity_owned.empty() || !pod_class.anti_affinity_matched.empty();
    return has_terms && conflicts_by_terms(pod_class, node);
  }
  // Whether affinity and spread admit one pod of the class, given the pods after the plan. Pods put there since do not
  // count. True for an empty cluster.
  bool lets_in_by_affinity(const PodClass& pod_class, NodeIndex node) const {
    return !inter_pod_ || pod_class.affinity.is_none() || meets_affinity(*inter_pod_, *problem_, pod_class, node);
  }
  bool lets_in_by_spread(const PodClass& pod_class, NodeIndex node) const {
    return !inter_pod_ || pod_class.spread_owned.empty() || meets_spread(*inter_pod_, *problem_, pod_class, node);
  }

  // Adds pods; requires count(...) >= pods. Pods that use whole devices take the first idle ones. Sharers take the
  // fullest device that fits or, if a pod needs several, the emptiest ones: this fits the most pods of one shape.
  void put(const PodClass& pod_class, NodeIndex node, std::int64_t pods);
  // The same where only more pods of this class are asked about until it is rolled back: of anti-affinity, only the
  // terms count by which pods of the class repel each other.
  void put_alone(const PodClass& pod_class, NodeIndex node, std::int64_t pods);
  // The same for one pod, on these devices.
  void put_on(const PodClass& pod_class, NodeIndex node, std::span<const std::size_t> devices);
  // Every choice of devices for one pod, one of those that leave the same free capacity; for a pod without devices the
  // empty one.
  std::vector<std::vector<std::size_t>> device_choices(const PodClass& pod_class, NodeIndex node) const;
  // Takes away a pod that is there.
  void take(PodIndex pod, NodeIndex node, std::span<const std::int32_t> devices);

  std::size_t mark() const { return log_.size(); }
  void roll_back(std::size_t mark);

 private:
  explicit RemainingCapacity(const Problem& problem);
  void change(std::size_t cell, std::int64_t delta);
  void change_anti_affinity(const PodClass& pod_class, NodeIndex node, std::int64_t delta);
  void change_term(AntiAffinityIndex term, NodeIndex node, bool owners, std::int64_t delta);
  std::int64_t device_count(const PodClass& pod_class, NodeIndex node, std::int64_t limit) const;
  bool conflicts_by_terms(const PodClass& pod_class, NodeIndex node) const;
  std::vector<std::size_t> fitting_devices(NodeIndex node, DeviceUnits units) const;
  void put_on_fullest(const PodClass& pod_class, NodeIndex node, std::int64_t pods);  // of a class that asks for one
  void put_on_emptiest(const PodClass& pod_class, NodeIndex node);                    // one pod
  void put_amounts(const PodClass& pod_class, NodeIndex node, std::int64_t pods);     // of devices and resources
  void put_resources(const PodClass& pod_class, NodeIndex node, std::int64_t pods);
  std::size_t anti_affinity_cell(AntiAffinityIndex term, DomainIndex domain, bool owners);

  struct Undo {
    std::size_t cell = 0;
    std::int64_t delta = 0;
  };
  const Problem* problem_;
  std::size_t resource_count_;
  std::vector<NodeIndex> nodes_;
  std::vector<std::size_t> begin_;   // by node, one more than there are
  std::vector<std::int64_t> cells_;  // by node: free amounts by resource, then free units by device; then anti-affinity
  std::unordered_map<std::uint64_t, std::size_t> anti_affinity_cells_;  // (term, domain, owners or matched) -> cell
  std::vector<bool> has_cells_;  // by term, matched and owners: most terms of many are those of pods that wait
  std::vector<Undo> log_;
  std::shared_ptr<const InterPodCounts> inter_pod_;  // none if no pod has such rules
};

// Nodes of one class with equal room, whichever of their devices it is on; `node` is the first of them.
struct AlikeNodes {
  NodeIndex node;
  std::int64_t nodes = 1;
};
using NodeGroups = Indexed<NodeClassIndex, std::vector<AlikeNodes>>;
// Every node is in one group. Cost: O(nodes x (resources + devices)).
NodeGroups alike_nodes(const Problem& problem, const RemainingCapacity& remaining);
// Each node is a group by itself, since anti-affinity distinguishes nodes with equal free capacity.
NodeGroups single_nodes(const Problem& problem);

}  // namespace muster::explain
