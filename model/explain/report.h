// What a plan line reports in addition to the decisions: gangs, queues, objective. See docs/format.md, "Plan".
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/explain/codes.h"
#include "model/forecast/expected_starts.h"
#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::explain {

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
inline constexpr std::array kGangPhases = {GangPhase::kRunning, GangPhase::kScheduled,     GangPhase::kWaiting,
                                           GangPhase::kEvicted, GangPhase::kUnschedulable, GangPhase::kTimedOut,
                                           GangPhase::kStale,   GangPhase::kGated,         GangPhase::kHeld};
std::string_view phase_name(GangPhase phase);

struct GangReport {
  GangIndex gang;
  GangPhase phase = GangPhase::kUnschedulable;
  std::int64_t running = 0, placed = 0, evicted = 0, pending = 0;
  Reason reason;
  MakeRoomCode make_room = MakeRoomCode::kNone;
  std::string message;  // for people; empty: none
  std::vector<Blocker> blockers;
  std::optional<forecast::ExpectedStart> expected_start;  // of one that waits, if durations are known
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

// (bound - value) / max(1, |bound|) of the first level whose value is short of its bound; 0 if there is none.
double gap_of(const std::vector<LevelReport>& objective, PlacementPolicy policy);

// Requires a plan that the referee passes.
struct ReportInput {
  const Plan& plan;
  const Levels& levels;
  std::vector<std::optional<std::int64_t>> bounds;  // by level
  // No engine ran out of time over this plan: everything that could still be placed has been searched for. A pending
  // gang that no rule excludes is then reported as `Undecided`, else as `OutOfTime`.
  bool proven = false;
  // Called once for each gang; true: there is no time to look for reasons any more. Then only what costs next to
  // nothing is reported: reasons that need no scan of the nodes, and counts that are known. All others are `OutOfTime`,
  // and no start is expected. May be empty.
  std::function<bool()> stop = {};
  // Called once, when everything is counted and only the reasons are left, whose time depends on the plan. May be
  // empty.
  std::function<void()> only_reasons_left = {};
};
Report describe(const Problem& problem, const FairShares& shares, const ReportInput& input);

// Of a gang in part (is_in_part): "2 pods of it run, below its minimum of 4".
std::string partial_sentence(const Problem& problem, const Gang& gang, std::int64_t running);

// The effect of a plan on the running pods of each gang, and for which gangs, in words. See docs/format.md, "Plan".
class GangChanges {
 public:
  // The plan outlives it. Cost: O(pods + evictions log gangs).
  GangChanges(const Problem& problem, const Plan& plan);

  bool is_moved(PodIndex pod) const { return !new_node_[pod].is_none(); }
  // Whether some pod of it is evicted as stale.
  bool is_stale(GangIndex gang) const;
  // The reason of a gang that is evicted to the last pod: `Stale`, `Reclaimed` or `Preempted`.
  ReasonCode eviction_code(GangIndex gang) const;
  // "2 pods are evicted to make room for ns/a (preempt)", "moves n4 -> n5, is restarted, to make room for ns/a"; empty:
  // the plan leaves its running pods alone.
  std::string message(GangIndex gang) const;

 private:
  std::string evictions_text(const std::vector<const Eviction*>& evictions) const;
  std::string moves_text(const std::vector<const Eviction*>& evictions) const;
  std::string claimants_text(const std::vector<const Eviction*>& evictions) const;

  const Problem& problem_;
  Indexed<PodIndex, NodeIndex> new_node_;  // of moved pods; none: the pod is not moved
  std::map<GangIndex, std::vector<const Eviction*>> evictions_;
};

}  // namespace muster::explain
