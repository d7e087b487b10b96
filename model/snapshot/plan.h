// The decisions: placements and evictions. model/explain/report.h adds the rest of a plan line.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/index.h"
#include "model/snapshot/snapshot.h"

namespace muster {

enum class EvictionReason : std::uint8_t { kPreempt, kReclaim, kConsolidate, kStale };

// The words of a plan line for them.
inline constexpr std::array<std::pair<std::string_view, EvictionReason>, 4> kEvictionReasons = {
    {{"preempt", EvictionReason::kPreempt},
     {"reclaim", EvictionReason::kReclaim},
     {"consolidate", EvictionReason::kConsolidate},
     {"stale", EvictionReason::kStale}}};

constexpr std::string_view eviction_reason_name(EvictionReason reason) {
  for (const auto& [name, value] : kEvictionReasons) {
    if (value == reason) return name;
  }
  return {};
}

struct Placement {
  PodIndex pod;
  NodeIndex node;
  std::vector<std::int32_t> devices;  // positions on the node, ascending; one share or one whole device each
  std::vector<PodIndex> after;        // evicted or releasing pods that must be gone first, ascending; empty: none
  std::int32_t step = 0;              // see binding_order
  friend bool operator==(const Placement&, const Placement&) = default;
};

struct Eviction {
  PodIndex pod;
  EvictionReason reason = EvictionReason::kPreempt;
  GangIndex for_gang;  // none with kStale
  friend bool operator==(const Eviction&, const Eviction&) = default;
};

// Sorted by pod, each pod at most once in each list. The empty plan places nothing and is always a valid fallback,
// unless a stale gang must be evicted. A pod in both lists is moved (reason kConsolidate).
struct Plan {
  std::vector<Placement> placements;
  std::vector<Eviction> evictions;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// Puts the lists in order.
void normalise(Plan& plan);

// Positions of the placements in binding order: those that start immediately before those that wait (moved pods do),
// then by step, then by the pod's name. Requires lists in order. Cost: O(n log n).
std::vector<std::size_t> binding_order(const Plan& plan, const Snapshot& snapshot);

}  // namespace muster
