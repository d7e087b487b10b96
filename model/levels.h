// The levels of docs/semantics.md: the only definition of "better".
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "model/fair_share.h"
#include "model/plan.h"
#include "model/problem.h"

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

// One value for each of level_ids, in its order and scale.
struct Levels {
  std::vector<std::int64_t> values;
  friend bool operator==(const Levels&, const Levels&) = default;
};

// Greater is better: compares level by level, minimised ones the other way round.
std::strong_ordering compare(const Levels& a, const Levels& b, const std::vector<LevelId>& ids);

// What the plan is worth. Requires that the plan obeys the rules. Cost: O(pods + nodes x expected classes), and a
// subset-sum for each leaf queue whose work exceeds its share.
Levels evaluate(const Problem& problem, const FairShares& shares, const Plan& plan);

// How one node ends: what is free on it and on its devices (fully taken ones may be left out).
struct NodeEnd {
  NodeClassIndex node_class;
  std::span<const Amount> free;
  std::span<const DeviceUnits> free_devices;
};
// The same for whoever knows already how each node ends.
Levels evaluate(const Problem& problem, const FairShares& shares, const Plan& plan,
                const std::function<NodeEnd(NodeIndex)>& end_of);
// What the node adds to the last level, in its scale: fragmentation, or the square of its use where the policy is to
// spread.
std::int64_t last_level_of(const Problem& problem, const NodeEnd& node);

// The most that any plan could reach on each level, by sums alone; the least for those that are minimised. A valid
// bound for every snapshot, whatever is evicted. Same order and scale as level_ids.
std::vector<std::int64_t> trivial_bounds(const Problem& problem, const FairShares& shares);

// The least that the level `evicted` can be of any plan with the same values of all levels `share` and `work`: what
// runs of a priority and is more than the plan has of it must leave, those first who have run the shortest; but of no
// queue more than it can do without for its part of the shares, and gangs that need all of their pods whole, as far as
// a few choices deep can tell. Requires `levels` of that problem. Cost: O(pods + running pods x log + 200,000 +
// priorities x queues^2), of many queues without the last.
std::int64_t least_evicted(const Problem& problem, const FairShares& shares, const Levels& levels);

// The largest sum <= capacity of a subset of `items` (all >= 0). Exact within the limits of model/subset_sums.h.
// Source: Bellman (1957), on bit sets. Cost: O(sum of log multiplicities x capacity / gcd / 64); O(n) where all of it
// fits.
Work best_subset_sum(std::vector<Work> items, Work capacity);

// The units of a gang among `present` (pods that run or are placed): first the least work that satisfies it, then each
// pod beyond it. [gpu work, cpu-only work] of each unit, without weight. Empty where its minimum is not met.
std::vector<std::array<Work, 2>> gang_units(const Problem& problem, GangIndex gang, std::span<const PodIndex> present);

}  // namespace muster
