// The order in which nodes are worth a search for victims, by sums of devices (or of cpu) alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/preemption/candidate_builder.h"
#include "heuristics/preemption/cost.h"
#include "heuristics/preemption/eligibility.h"
#include "heuristics/preemption/inputs.h"
#include "model/base/index.h"
#include "model/base/require.h"
#include "model/problem/problem.h"

namespace muster::preemption {

class CandidateOrder {
 public:
  // All must outlive it.
  CandidateOrder(const PreemptionInputs& inputs, const Claim& claim, VictimEligibility& eligibility,
                 const LeastLosses& losses);

  // The nodes (empty: all) that the pod may run on, in ascending order of the likely loss and moves. For a displaced
  // pod only nodes where enough may be evicted. Reads the losses as last found, in the scan of `eligibility`. Requires
  // that the claim evicts. Cost: O(nodes log nodes + pods on nodes that have changed).
  std::vector<NodeIndex> by_promise(PodIndex pod, std::span<const NodeIndex> nodes);
  // A lower bound of the work on the node that has to be moved for the pod to fit, in weighted work: that on the
  // devices that lack least. Cost: O(devices), once for all pods of a class until the node changes.
  Work least_moved(PodIndex pod, NodeIndex node);

 private:
  // On a node, the amounts of the pods whose eviction costs least.
  struct LeavingSums {
    std::uint32_t node_version = static_cast<std::uint32_t>(-1);
    DeviceUnits devices = 0;
    Amount cpu = 0;
  };
  struct LeastMoved {
    bool is_known = false;
    std::uint32_t node_version = 0;
    Work work = 0;
  };

  Amount lacking_on(const PodClass& pod_class, NodeIndex node);
  Amount leaving_on(const PodClass& pod_class, NodeIndex node);
  void find_leaving_sums();

  const Problem& problem_;
  const ClusterState& state_;
  const EvictionRules& rules_;
  const Claim& claim_;
  VictimEligibility& eligibility_;
  const LeastLosses& losses_;
  std::map<std::vector<std::int64_t>, Indexed<NodeIndex, LeavingSums>> leaving_sums_;  // by what decides which leave
  Indexed<NodeIndex, LeavingSums>* leaving_now_ = nullptr;                             // those of the current scan
  PodClassIndex least_moved_of_ = PodClassIndex::none();  // the class for which least_moved_ is known
  Indexed<NodeIndex, LeastMoved> least_moved_;            // none before the first scan
  std::vector<DeviceUnits> lacking_;                      // for lacking_on
};

// The cheapest few of many candidates.
//
// Of the added candidates the cheapest, equal ones in the order of their nodes. Cost: O(log most) for each that is
// added, O(1) for one that is too expensive.
class CandidateShortlist {
 public:
  // Requires most > 0.
  explicit CandidateShortlist(std::size_t most) : most_(most) { MUSTER_REQUIRE(most > 0); }

  // The candidate must outlive the list.
  void add(const NodeCandidate& candidate) {
    if (excludes(candidate.cost, candidate.node)) return;
    heap_.push_back(&candidate);
    std::ranges::push_heap(heap_, {}, rank_of);
    if (heap_.size() <= most_) return;
    std::ranges::pop_heap(heap_, {}, rank_of);
    heap_.pop_back();
  }
  // The list keeps the candidate.
  void add_own(NodeCandidate candidate) { add(own_.emplace_back(std::move(candidate))); }

  // Whether the node, at that cost or more, would not be among the cheapest.
  bool excludes(const VictimCost& cost, NodeIndex node) const {
    return heap_.size() == most_ && rank_of(heap_.front()) < std::tie(cost, node);
  }
  bool is_empty() const { return heap_.empty(); }
  std::vector<const NodeCandidate*> in_order() const {
    std::vector<const NodeCandidate*> candidates = heap_;
    std::ranges::sort(candidates, {}, rank_of);
    return candidates;
  }

 private:
  static std::tuple<const VictimCost&, const NodeIndex&> rank_of(const NodeCandidate* candidate) {
    return std::tie(candidate->cost, candidate->node);
  }

  std::size_t most_;
  std::vector<const NodeCandidate*> heap_;  // the most expensive first
  std::deque<NodeCandidate> own_;
};

}  // namespace muster::preemption
