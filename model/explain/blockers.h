// Which filter keeps a pod off each node: counts for programs, and the message in the wording of Kubernetes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/explain/codes.h"
#include "model/explain/reasons_need.h"
#include "model/explain/reasons_packing.h"
#include "model/explain/remaining_capacity.h"
#include "model/problem/problem.h"

namespace muster::explain {

// Nodes charged to the first filter that excludes them. The counts add up to the nodes that were charged.
class BlockerTally {
 public:
  // `detail`: the resource's name, or the taint as `{key: value}`; else empty.
  void charge(FilterCode filter, const std::string& detail, std::int64_t nodes);
  std::int64_t available() const;
  bool charges(FilterCode filter) const;  // some node
  // By code, in the order of the filters.
  std::vector<Blocker> blockers() const;
  // By code and detail; those that could take the pod, as kAvailable, last.
  struct Charge {
    FilterCode filter = FilterCode::kAvailable;
    std::string detail;
    std::int64_t nodes = 0;
  };
  std::vector<Charge> entries() const;
  // "0/4 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {test: blocked}." Kubernetes'
  // wording, and sorted as there: as strings.
  std::string text() const;

 private:
  std::map<std::pair<FilterCode, std::string>, std::int64_t> nodes_;
};

// The filter of `NodeMismatch` that keeps the class off nodes of the node class, and the detail to charge it to.
// Requires that one does.
std::pair<FilterCode, std::string> static_blocker(const Problem& problem, const PodClass& pod_class,
                                                  const NodeClass& node_class);

// The first filter that keeps one more pod of the class off the node, given the room; kAvailable: none does. `other`
// becomes the resource of kInsufficient. Required levels and filters of NodeMismatch are not examined: requires that
// the pod class may use the node. Cost: O(resources + devices).
FilterCode filter_on(const Problem& problem, const RemainingCapacity& remaining, const PodClass& pod_class,
                     NodeIndex node, ResourceIndex* other);

// Charges every node for one more pod of the class in the remaining `room`, without required levels. Nodes of one group
// must have equal free capacity, and the same anti-affinity. Cost: O(groups x (resources + devices)).
BlockerTally tally_blockers(const Problem& problem, const RemainingCapacity& remaining, PodClassIndex pod_class,
                            const NodeGroups& nodes);
// The same, node by node; `packing` names the domains chosen for the groups above `leaf`.
BlockerTally tally_blockers(const Problem& problem, const RemainingCapacity& remaining, PodClassIndex pod_class,
                            GroupIndex leaf, const Packing& packing);

// How many pods of each class fit into what is free after a plan, and what keeps further ones off the nodes.
//
// Counts each class once, when first asked for, as if no other pods came. Cost: O(nodes) for each class; nodes with
// equal free capacity are examined together unless rules relate the class to the pods on them.
class PodCensus {
 public:
  // `room` outlives the object; it is working memory, and restored.
  PodCensus(const Problem& problem, RemainingCapacity& remaining) : problem_(problem), remaining_(remaining) {}
  PodCensus(const PodCensus&) = delete;
  PodCensus& operator=(const PodCensus&) = delete;

  struct ClassCount {
    std::int64_t total = 0;             // pods that fit on all nodes together
    BlockerTally full;                  // of one more, once they are there
    std::optional<BlockerTally> fresh;  // of one, before
  };
  // All of these require that nothing is put into the room except what the snapshot and the plan have.
  const ClassCount& of(PodClassIndex pod_class);
  const BlockerTally& fresh_tally(PodClassIndex pod_class);
  bool has(PodClassIndex pod_class) const { return counts_.contains(pod_class); }

 private:
  const NodeGroups& groups_for(const PodClass& pod_class);

  const Problem& problem_;
  RemainingCapacity& remaining_;
  std::unordered_map<PodClassIndex, ClassCount> counts_;
  NodeGroups alike_, single_;  // made when first asked for
};

}  // namespace muster::explain
