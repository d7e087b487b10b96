// The words of a plan line that its writer and its reader share.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "model/levels.h"
#include "model/plan.h"

namespace muster {

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

// Whether there is one such level for each priority.
constexpr bool has_priority(LevelKind kind) {
  return kind == LevelKind::kShare || kind == LevelKind::kQuota || kind == LevelKind::kWork;
}

}  // namespace muster
