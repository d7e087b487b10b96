// What the nodes that a gang may use have in total, and what it asks for in total.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/explain/reasons_need.h"
#include "model/explain/remaining_capacity.h"
#include "model/problem/problem.h"

namespace muster::explain {

// The total supply of some nodes.
struct SupplySum {
  std::vector<Amount> amounts;  // by ResourceIndex
  MicroGpu gpu = 0;             // parts of devices, each rounded up
  std::int64_t memory_mib = 0;  // over devices whose memory is known
};

// The total demand of some pods: devices by the least part that a share takes on any node that it may use.
struct DemandSum {
  std::vector<Amount> amounts;  // by ResourceIndex
  MicroGpu gpu = 0;
  std::int64_t memory_mib = 0;
  bool memory_only = true;  // all that ask for devices ask for memory
};
DemandSum demand_of(const Problem& problem, const std::vector<NeedItem>& items);

// Of the resources other than cpu, memory, pods and host ports, the first by name for which `is_wanted` is true; none:
// it is true for none. Their order in the problem depends on what a kept state has had before.
template <class IsWanted>
ResourceIndex first_other(const Problem& problem, const IsWanted& is_wanted) {
  ResourceIndex first;
  for (std::size_t r = kPods.value() + 1; r < problem.resource_count - problem.host_port_count(); ++r) {
    const ResourceIndex other(r);
    if (is_wanted(other) && (first.is_none() || problem.resource_name(other) < problem.resource_name(first)))
      first = other;
  }
  return first;
}

// The first resource, GPUs, cpu and memory first, then others by name, pods last, that is insufficient; empty: none.
std::string first_short(const Problem& problem, const DemandSum& demand, const SupplySum& supply);

// Sums over the nodes of each class, made once: what is free after a plan, and the whole capacity. Cost: O(nodes x
// (resources + devices)) to make, O(node classes x resources) for each answer.
class SupplySums {
 public:
  SupplySums(const Problem& problem, const RemainingCapacity& remaining);

  // What is free on the nodes that some class of the list may use; of one class, it is kept.
  SupplySum free(const std::vector<PodClassIndex>& classes) const;
  const SupplySum& free_for(PodClassIndex pod_class);
  // The capacity of those nodes, held ones included, or of all nodes.
  SupplySum capacity(const std::vector<PodClassIndex>& classes, bool with_filters) const;

 private:
  SupplySum nothing() const { return {std::vector<Amount>(problem_.resource_count, 0), 0, 0}; }
  // Of the node classes for which `counts` is true.
  template <class Counts>
  SupplySum sum_of(const std::vector<SupplySum>& parts, const Counts& counts) const;

  const Problem& problem_;
  std::vector<SupplySum> free_by_class_, capacity_by_class_;  // by NodeClassIndex
  std::unordered_map<PodClassIndex, SupplySum> free_for_;
};

}  // namespace muster::explain
