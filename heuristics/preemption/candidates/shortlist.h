// The cheapest few of many candidates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/preemption/candidates/candidate.h"
#include "model/base/require.h"

namespace muster::preemption {

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
