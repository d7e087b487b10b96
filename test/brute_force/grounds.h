// Why each pod that is lost goes, and for whom: every assignment that the referee lets through, wherever pods are put.
#pragma once

#include <cstdint>
#include <vector>

#include "model/fair_share.h"
#include "model/plan.h"
#include "test/brute_force/actors.h"
#include "test/brute_force/outcomes.h"

namespace muster::brute_force {

// Evictions of all that is lost or moved, in order.
using Grounds = std::vector<Eviction>;

class GroundsSearch {
 public:
  GroundsSearch(const Problem& problem, const FairShares& shares, const Cast& cast);

  // First those in which the pods of a gang share one reason and claimant, then all others. Empty: the outcome breaks a
  // rule that does not ask where pods are.
  std::vector<Grounds> of(const Outcome& outcome, ActorSet moved);

  std::int64_t checks() const { return checks_; }

 private:
  struct Reason {
    EvictionReason reason = EvictionReason::kPreempt;
    GangIndex claimant;
  };
  enum class Verdict : std::uint8_t { kPasses, kOtherGrounds, kHopeless };

  std::vector<Reason> reasons_for(GangIndex victim, ActorSet placed, ActorSet moved) const;
  Verdict verdict_on(const Outcome& outcome, ActorSet moved, const Grounds& grounds);

  const Problem& problem_;
  const FairShares& shares_;
  const Cast& cast_;
  bool usage_depends_on_node_ = false;  // a memory request is another part of another device
  std::int64_t checks_ = 0;
};

}  // namespace muster::brute_force
