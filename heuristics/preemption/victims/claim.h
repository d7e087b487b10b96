// The claim under way: which gang asks for room, and by which action room is made for it.
#pragma once

#include <cstdint>
#include <optional>

#include "model/problem/problem.h"

namespace muster::preemption {

// The action that makes room. kSwap: pods that were placed for later levels are taken back; nothing that runs changes.
enum class PreemptionMode : std::uint8_t { kSwap, kConsolidate, kPreempt, kReclaim };

// Whether blocking pods may be relocated, evicting lower-priority pods elsewhere to make room for them.
// kPlacingDisplaced: the pod that room is made for is such a relocated pod.
enum class ClaimStage : std::uint8_t { kPlain, kDisplacing, kPlacingDisplaced };

// The victims that may replace evicted pods in an exchange: of one queue and priority, and at most that long running.
struct ExchangeLimit {
  QueueIndex queue;
  std::int32_t priority = 0;
  std::int64_t most_seconds = 0;
};

// Everything that decides which pods may leave for the pod that is being placed, apart from the state. Times in
// seconds, amounts as in QueueAmounts.
struct Claim {
  GangIndex claimant;  // of the current attempt, or the last one; none: nothing was claimed yet
  std::int32_t rank = 0;
  PreemptionMode mode = PreemptionMode::kSwap;
  ClaimStage stage = ClaimStage::kPlain;
  std::optional<ExchangeLimit> exchange;  // under way
  QueueAmounts added{};                   // by the pod that room is being made for, at least
  std::uint64_t attempt = 0;              // grows with each attempt to meet a claim

  bool evicts() const { return mode == PreemptionMode::kPreempt || mode == PreemptionMode::kReclaim; }
};

}  // namespace muster::preemption
