#include "cli/line/claims.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "model/base/require.h"
#include "model/explain/report.h"
#include "model/objective/evaluation.h"
#include "model/objective/levels.h"
#include "model/problem/gang_tree.h"
#include "model/referee/referee.h"
#include "model/snapshot/quantity.h"

namespace muster::cli {

// The counts and phases of gangs, as docs/format.md defines them; shares no code with the report that a solver writes.

namespace {

// What the plan does with each pod.
struct PodFate {
  bool placed = false, waits = false, evicted = false, stale = false;
};

struct GangTruth {
  std::int64_t running = 0, placed = 0, evicted = 0, pending = 0;
  bool is_told = false;  // has a pod that is pending, placed, moved or evicted
  bool is_stale = false;
};

Indexed<PodIndex, PodFate> fates_of(const Problem& problem, const Plan& plan) {
  Indexed<PodIndex, PodFate> fates(problem.pods.size());
  for (const Placement& placement : plan.placements) {
    fates[placement.pod].placed = true;
    fates[placement.pod].waits = !placement.after.empty();
  }
  for (const Eviction& eviction : plan.evictions) {
    fates[eviction.pod].evicted = true;
    fates[eviction.pod].stale = eviction.reason == EvictionReason::kStale;
  }
  return fates;
}

GangTruth truth_of(const Problem& problem, const Gang& gang, const Indexed<PodIndex, PodFate>& fates) {
  GangTruth truth;
  for (const PodIndex pod : gang.pods) {
    const PodFate& fate = fates[pod];
    const PodStatus status = problem.pods[pod].status;
    const bool ran = status == PodStatus::kRunning;
    const bool waits = status == PodStatus::kPending || status == PodStatus::kGated;
    truth.running += ran && (!fate.evicted || fate.placed) ? 1 : 0;
    truth.placed += !ran && fate.placed ? 1 : 0;
    truth.evicted += ran && fate.evicted && !fate.placed ? 1 : 0;
    truth.pending += waits && !fate.placed ? 1 : 0;
    truth.is_told = truth.is_told || waits || fate.placed || fate.evicted;
    truth.is_stale = truth.is_stale || fate.stale;
  }
  return truth;
}

// The last rows of the table "Phases", of a gang that is below its minimum after the plan, or has nothing that runs.
explain::GangPhase waiting_phase(const Problem& problem, const Gang& gang, const Indexed<PodIndex, PodFate>& fates) {
  if (gang.times.timed_out) return explain::GangPhase::kTimedOut;
  bool has_gated = false, has_held = false, has_pending = false;
  for (const PodIndex pod : gang.pods) {
    const PodStatus status = problem.pods[pod].status;
    has_gated = has_gated || status == PodStatus::kGated;
    has_held = has_held || (status == PodStatus::kGated && !problem.snapshot->pods[pod.value()].notes.held.empty());
    has_pending = has_pending || (status == PodStatus::kPending && !fates[pod].placed);
  }
  if (!has_gated) return explain::GangPhase::kUnschedulable;
  const auto meets = [&](PodStatus also) {
    return meets_minimum(problem, gang, [&](PodIndex pod) {
      const PodStatus status = problem.pods[pod].status;
      return status == also || status == PodStatus::kPending || status == PodStatus::kRunning ||
             status == PodStatus::kSucceeded;
    });
  };
  const bool needs_gated = !meets(PodStatus::kPending) && meets(PodStatus::kGated);
  if (has_pending && !needs_gated) return explain::GangPhase::kUnschedulable;
  return has_held ? explain::GangPhase::kHeld : explain::GangPhase::kGated;
}

// The table "Phases" of docs/semantics.md: the first row that holds.
explain::GangPhase phase_of(const Problem& problem, const Gang& gang, const GangTruth& truth,
                            const Indexed<PodIndex, PodFate>& fates) {
  const auto meets = [&](auto&& counts) {
    return meets_minimum(problem, gang, [&](PodIndex pod) {
      return problem.pods[pod].status == PodStatus::kSucceeded || counts(problem.pods[pod].status, fates[pod]);
    });
  };
  const auto ran = [](PodStatus status, const PodFate&) { return status == PodStatus::kRunning; };
  const auto stays = [](PodStatus status, const PodFate& fate) {
    return fate.placed || (status == PodStatus::kRunning && !fate.evicted);
  };
  const auto at_once = [&](PodStatus status, const PodFate& fate) { return stays(status, fate) && !fate.waits; };
  const bool has_any = truth.running + truth.placed > 0;
  const bool has_any_at_once =
      std::ranges::any_of(gang.pods, [&](PodIndex pod) { return at_once(problem.pods[pod].status, fates[pod]); });
  if (truth.is_stale) return explain::GangPhase::kStale;
  if (truth.evicted > 0 && !has_any) return explain::GangPhase::kEvicted;
  if (!has_any || !meets(stays)) return waiting_phase(problem, gang, fates);
  if (truth.running > 0 && meets(ran)) return explain::GangPhase::kRunning;
  return has_any_at_once && meets(at_once) ? explain::GangPhase::kScheduled : explain::GangPhase::kWaiting;
}

void compare_gang(const GangTruth& truth, explain::GangPhase phase, const muster_v1::GangClaim& claim,
                  std::vector<FalseClaim>& found) {
  const std::string subject = "gang " + claim.name;
  if (claim.phase != phase) {
    found.push_back({subject, fmt::format("claimed phase {}, actual phase {}", explain::phase_name(claim.phase),
                                          explain::phase_name(phase))});
  }
  const auto compare = [&](std::string_view what, std::int64_t claimed, std::int64_t is) {
    if (claimed != is) found.push_back({subject, fmt::format("claimed {} {}, actual {}", what, claimed, is)});
  };
  compare("running", claim.running, truth.running);
  compare("placed", claim.placed, truth.placed);
  compare("evicted", claim.evicted, truth.evicted);
  compare("pending", claim.pending, truth.pending);
}

}  // namespace

std::vector<FalseClaim> check_gang_claims(const Problem& problem, const muster_v1::ReadPlan& read) {
  std::vector<FalseClaim> found;
  std::map<std::string_view, const muster_v1::GangClaim*> claims;
  for (const muster_v1::GangClaim& claim : read.gangs) {
    if (!claims.emplace(claim.name, &claim).second) found.push_back({"gang " + claim.name, "is listed more than once"});
  }
  const Indexed<PodIndex, PodFate> fates = fates_of(problem, read.plan);
  for (const Gang& gang : problem.gangs) {
    const GangTruth truth = truth_of(problem, gang, fates);
    const auto claim = claims.find(gang.name);
    const std::string subject = "gang " + std::string(gang.name);
    if (claim == claims.end()) {
      if (truth.is_told) found.push_back({subject, "is not listed"});
      continue;
    }
    if (truth.is_told) {
      compare_gang(truth, phase_of(problem, gang, truth, fates), *claim->second, found);
    } else {
      found.push_back({subject, "is listed, but none of its pods is pending, placed, moved or evicted"});
    }
    claims.erase(claim);
  }
  for (const auto& [name, claim] : claims) found.push_back({"gang " + std::string(name), "is not in the snapshot"});
  return found;
}

// The values of the levels and the claimed proofs of them, in the words of docs/semantics.md.

namespace {

// How much a gap in a line may differ from the exact one, which is written in decimals.
constexpr double kGapTolerance = 1e-6;

// The decimal text in units of 1/scale, exactly; none if it is no number, not whole, or beyond 64 bits.
std::optional<std::int64_t> scaled(const std::string& text, std::int64_t scale) {
  const auto number = parse_number(text);
  if (!number || number->power_of_two != 0) return std::nullopt;
  constexpr unsigned __int128 kMost = std::numeric_limits<std::int64_t>::max();
  unsigned __int128 value = number->mantissa;
  if (value > kMost * kMost / static_cast<unsigned __int128>(scale)) return std::nullopt;
  value *= static_cast<unsigned __int128>(scale);
  for (std::int32_t power = number->power_of_ten; power != 0 && value != 0; power += power > 0 ? -1 : 1) {
    if (power > 0 ? value > kMost : value % 10 != 0) return std::nullopt;
    value = power > 0 ? value * 10 : value / 10;
  }
  if (value > kMost) return std::nullopt;
  return number->negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

std::string subject_of(const LevelId& id) {
  std::string subject = fmt::format("objective {}", level_name(id.kind));
  return has_priority(id.kind) ? subject + fmt::format(" {}", id.priority) : subject;
}

bool names(const muster_v1::ReadPlan::LevelClaim& claim, const LevelId& id) {
  if (claim.level != level_name(id.kind)) return false;
  return has_priority(id.kind) ? claim.priority == id.priority : !claim.priority;
}

// The claim of the line about one level, in its scale; adds to `found` if it is wrong.
explain::LevelReport compare_level(const LevelId& id, std::int64_t value, std::int64_t scale,
                                   const muster_v1::ReadPlan::LevelClaim& claim, std::vector<FalseClaim>& found) {
  const std::string subject = subject_of(id);
  const std::optional<std::int64_t> claimed = scaled(claim.value, scale);
  if (claimed != value) {
    const double is = static_cast<double>(value) / static_cast<double>(scale);
    found.push_back({subject, fmt::format("claimed value {}, actual {}", claim.value, is)});
  }
  explain::LevelReport level{id, claimed.value_or(value), std::nullopt};
  if (!claim.bound) return level;
  level.bound = scaled(*claim.bound, scale);
  if (!level.bound) {
    found.push_back(
        {subject, fmt::format("claimed bound {}, which is not a valid number of this level", *claim.bound)});
  } else if (is_maximised(id.kind) ? *level.bound < value : *level.bound > value) {
    found.push_back({subject, fmt::format("claimed bound {}, but the plan is better", *claim.bound)});
  }
  return level;
}

void compare_statement(const muster_v1::ReadPlan& read, const std::vector<explain::LevelReport>& levels,
                       PlacementPolicy policy, std::vector<FalseClaim>& found) {
  const double gap = explain::gap_of(levels, policy);
  if (!(std::abs(gap - read.solver.gap) <= kGapTolerance * std::max(1.0, std::abs(gap)))) {
    found.push_back({"solver", fmt::format("claimed gap {}, actual {}", read.solver.gap, gap)});
  }
  for (const explain::LevelReport& level : levels) {
    if (read.solver.proof != Proof::kOptimal || level.bound == level.value) continue;
    found.push_back({"solver", fmt::format("claimed proof optimal, but {} is not proven", subject_of(level.id))});
    return;
  }
}

}  // namespace

std::vector<FalseClaim> check_level_claims(const Problem& problem, const FairShares& shares,
                                           const muster_v1::ReadPlan& read) {
  MUSTER_REQUIRE_SLOW(referee::check_plan(*problem.snapshot, problem, shares, read.plan).empty());
  std::vector<FalseClaim> found;
  const std::vector<LevelId> ids = level_ids(problem);
  const Levels levels = evaluate(problem, shares, read.plan);
  const PlacementPolicy policy = problem.snapshot->policy.placement;
  if (read.objective.size() != ids.size()) {
    return {{"objective", fmt::format("claimed {} levels, actual {}", read.objective.size(), ids.size())}};
  }
  std::vector<explain::LevelReport> claimed;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!names(read.objective[i], ids[i])) {
      return {{"objective", fmt::format("level {} (from 0) should be '{}'", i, subject_of(ids[i]))}};
    }
    const std::int64_t scale = level_scale(ids[i].kind, policy);
    claimed.push_back(compare_level(ids[i], levels.values[i], scale, read.objective[i], found));
  }
  compare_statement(read, claimed, policy, found);
  return found;
}

}  // namespace muster::cli
