// The levels of docs/semantics.md: the only definition of "better".
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/problem/problem.h"

namespace muster {

enum class LevelKind : std::uint8_t {
  kPreempted,
  kShare,
  kQuota,
  kEvictedBeyond,
  kWork,
  kEvicted,
  kMoved,
  kSeniority,
  kWholeNodes,
  kWholeDomains,
  kGangNodes,
  kGangDomains,
  kGangModels,
  kCpuOnGpuNodes,
  kPreference,
  kFragmentation
};

struct LevelId {
  LevelKind kind = LevelKind::kShare;
  std::int32_t priority = 0;  // if has_priority(kind)
  friend auto operator<=>(const LevelId&, const LevelId&) = default;
};

// Whether more is better; the others are minimised.
bool is_maximised(LevelKind kind);
std::string_view level_name(LevelKind kind);

// Whether the level is about whole nodes and gangs that stay together. Only policies with `wholeNodes` that pack have
// these levels.
constexpr bool is_about_wholeness(LevelKind kind) {
  return kind >= LevelKind::kWholeNodes && kind <= LevelKind::kCpuOnGpuNodes;
}

// Whether there is one such level for each priority, or for each at which pods may be evicted.
constexpr bool has_priority(LevelKind kind) { return kind <= LevelKind::kWork; }
// Whether the level is a part of `evicted` that comes before a level of work.
constexpr bool is_part_of_evicted(LevelKind kind) {
  return kind == LevelKind::kPreempted || kind == LevelKind::kEvictedBeyond;
}
// Values are integers in 1/scale of the unit that the plan line shows: 100 for kPreference, 10^6 for kFragmentation
// (binpack), else 1. They saturate at the limits of 64 bits.
std::int64_t level_scale(LevelKind kind, PlacementPolicy policy);

// All levels of a problem, in their order: share for each priority, quota for each, work for each, then the rest. What
// a priority loses to gangs above it comes before its `share`, or its `work`.
std::vector<LevelId> level_ids(const Problem& problem);

// The levels of a plan in two parts. Those up to `seniority` tell which pods are present, leave and move; all others
// tell where pods are.
std::ptrdiff_t levels_of_presence(const Problem& problem);

// One value for each of level_ids, in its order and scale.
struct Levels {
  std::vector<std::int64_t> values;
  friend bool operator==(const Levels&, const Levels&) = default;
};

// The values of the levels of presence, of some kinds by priority.
struct PresenceValues {
  std::vector<std::int64_t> share, quota, work;  // of each priority
  std::vector<std::int64_t> preempted;           // of ObjectiveTerms::preemptible
  std::vector<std::int64_t> evicted_beyond;      // of ObjectiveTerms::evictable
  std::int64_t evicted = 0, moved = 0, seniority = 0;
};
// In the order of level_ids, as far as levels_of_presence.
Levels in_order(const Problem& problem, const PresenceValues& values);

// The values of all levels of one kind, in the order of their priorities. Requires `levels` of that problem, at least
// as far as these.
std::vector<std::int64_t> values_of_kind(const Problem& problem, const Levels& levels, LevelKind kind);

// Greater is better: compares level by level, minimised ones the other way round.
std::strong_ordering compare(const Levels& a, const Levels& b, const std::vector<LevelId>& ids);

}  // namespace muster
