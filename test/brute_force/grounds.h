// The reason and the claimant of each lost pod: every assignment that the referee passes, wherever pods are put.
#pragma once

#include <cstdint>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/referee/referee.h"
#include "model/snapshot/plan.h"
#include "test/brute_force/actors.h"
#include "test/brute_force/outcomes.h"

namespace muster::brute_force {

// Evictions of all that is lost or moved, in order.
using Grounds = std::vector<Eviction>;

class GroundsSearch {
 public:
  GroundsSearch(const Problem& problem, const FairShares& shares, const Cast& cast);

  // First those in which the pods of a gang share one reason and claimant, then all others. Empty: the outcome breaks a
  // rule wherever pods are put.
  std::vector<Grounds> of(const Outcome& outcome, ActorSet moved);

  // Whether the referee could still pass these grounds once each pod's node is known. `node_of` by actor.
  bool hold_on(const std::vector<NodeIndex>& node_of, const Outcome& outcome, ActorSet moved, const Grounds& grounds);
  // Whether that is worth asking: nodes decide over a queue's usage.
  bool depend_on_nodes() const { return usage_depends_on_node_; }

 private:
  struct Reason {
    EvictionReason reason = EvictionReason::kPreempt;
    GangIndex claimant;
  };
  enum class Verdict : std::uint8_t { kPasses, kOtherGrounds, kHopeless };

  std::vector<Reason> reasons_for(GangIndex victim, ActorSet placed, ActorSet moved) const;
  std::vector<Reason> reasons_to_move(ActorSet claimants) const;
  Verdict verdict_on(const Outcome& outcome, ActorSet moved, const Grounds& grounds);
  std::vector<referee::Violation> violations_of(const std::vector<NodeIndex>& node_of, ActorSet come,
                                                const Grounds& grounds);
  NodeIndex least_used_on(PodIndex pod) const;

  const Problem& problem_;
  const FairShares& shares_;
  const Cast& cast_;
  std::vector<NodeIndex> least_used_on_;  // by actor: the node on which it uses least of its queue
  bool has_price_ = false;                // of what leaves for each claimant
  bool usage_depends_on_node_ = false;    // a memory request is another part of another device
};

}  // namespace muster::brute_force
