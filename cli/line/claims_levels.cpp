// The values of the levels and the claimed proofs of them, in the words of docs/semantics.md.
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "cli/line/claims.h"
#include "model/base/require.h"
#include "model/explain/report.h"
#include "model/objective/evaluation.h"
#include "model/objective/levels.h"
#include "model/referee/referee.h"
#include "model/snapshot/quantity.h"

namespace muster::cli {
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
