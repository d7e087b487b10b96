// What a plan line tells of a plan beside the decisions: gangs, queues, objective. See docs/format.md, "Plan".
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/levels.h"

namespace muster {

enum class GangPhase : std::uint8_t {
  kRunning,
  kScheduled,
  kWaiting,
  kEvicted,
  kUnschedulable,
  kTimedOut,
  kStale,
  kGated,
  kHeld
};
inline constexpr std::array kGangPhases = {GangPhase::kRunning,       GangPhase::kScheduled, GangPhase::kWaiting,
                                           GangPhase::kEvicted,       GangPhase::kUnschedulable, GangPhase::kTimedOut,
                                           GangPhase::kStale,         GangPhase::kGated,     GangPhase::kHeld};
std::string_view phase_name(GangPhase phase);

struct Blocker {
  std::string code;
  std::int64_t nodes = 0;
};

struct GangReport {
  GangIndex gang;
  GangPhase phase = GangPhase::kUnschedulable;
  std::int64_t running = 0, placed = 0, evicted = 0, pending = 0;
  std::string reason, make_room;  // codes of docs/semantics.md; empty: none
  std::string message;            // for people; empty: none
  std::vector<Blocker> blockers;
};

struct QueueReport {
  QueueIndex queue;
  QueueAmounts quota{}, fair_share{}, allocated{};
};

struct LevelReport {
  LevelId id;
  std::int64_t value = 0;             // in level_scale
  std::optional<std::int64_t> bound;  // proven; none: not proven
};

struct Report {
  std::vector<GangReport> gangs;  // one for each gang with a pod that is pending, placed, moved or evicted
  std::vector<QueueReport> queues;
  std::vector<LevelReport> objective;
};

// (bound - value) / max(1, |bound|) of the first level whose value is short of its bound; 0 where none is.
double gap_of(const std::vector<LevelReport>& objective, PlacementPolicy policy);

// Requires a plan that the referee passes.
struct ReportInput {
  const Plan& plan;
  const Levels& levels;
  std::vector<std::optional<std::int64_t>> bounds;  // by level
  // Nobody ran out of time over this plan: what could be placed beside it has been looked for. A gang that is left over
  // and that nothing excludes is told `Undecided` then, else `OutOfTime`.
  bool proven = false;
  // Asked once a gang; true: there is no time to look for reasons any more, and only what costs next to nothing is
  // told: reasons that need no look at a node, and counts that are known. The rest is `OutOfTime`. May be empty.
  std::function<bool()> stop = {};
  // Called once, when all is counted and only the reasons are left, whose time depends on the plan. May be empty.
  std::function<void()> only_reasons_left = {};
};
Report describe(const Problem& problem, const FairShares& shares, const ReportInput& input);

}  // namespace muster
