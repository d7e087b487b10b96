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
  kShare,
  kQuota,
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
  std::int32_t priority = 0;  // of kShare, kQuota, kWork only
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

// Whether there is one such level for each priority.
constexpr bool has_priority(LevelKind kind) {
  return kind == LevelKind::kShare || kind == LevelKind::kQuota || kind == LevelKind::kWork;
}
// Values are integers in 1/scale of the unit that the plan line shows: 100 for kPreference, 10^6 for kFragmentation
// (binpack), else 1. They saturate at the limits of 64 bits.
std::int64_t level_scale(LevelKind kind, PlacementPolicy policy);

// All levels of a problem, in their order: share for each priority, quota for each, work for each, then the rest.
std::vector<LevelId> level_ids(const Problem& problem);

// The levels of a plan in two parts. Those up to `seniority` (`share`, `quota` and `work` of each priority, `evicted`,
// `moved` and `seniority`) tell which pods are present, leave and move; all others tell where pods are.
std::ptrdiff_t levels_of_presence(const Problem& problem);

// One value for each of level_ids, in its order and scale.
struct Levels {
  std::vector<std::int64_t> values;
  friend bool operator==(const Levels&, const Levels&) = default;
};

// Greater is better: compares level by level, minimised ones the other way round.
std::strong_ordering compare(const Levels& a, const Levels& b, const std::vector<LevelId>& ids);

}  // namespace muster
