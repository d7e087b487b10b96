#include "model/objective/levels.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "model/base/require.h"

namespace muster {
namespace {

constexpr std::array kLevelsOfAll{LevelKind::kEvicted,     LevelKind::kMoved,        LevelKind::kSeniority,
                                  LevelKind::kWholeNodes,  LevelKind::kWholeDomains, LevelKind::kGangNodes,
                                  LevelKind::kGangDomains, LevelKind::kGangModels,   LevelKind::kCpuOnGpuNodes,
                                  LevelKind::kPreference,  LevelKind::kFragmentation};

}  // namespace

bool is_maximised(LevelKind kind) {
  switch (kind) {
    case LevelKind::kPreempted:
    case LevelKind::kEvictedBeyond:
    case LevelKind::kEvicted:
    case LevelKind::kMoved:
    case LevelKind::kGangNodes:
    case LevelKind::kGangDomains:
    case LevelKind::kGangModels:
    case LevelKind::kCpuOnGpuNodes:
    case LevelKind::kFragmentation:
      return false;
    default:
      return true;
  }
}

std::string_view level_name(LevelKind kind) {
  switch (kind) {
    case LevelKind::kPreempted:
      return "preempted";
    case LevelKind::kShare:
      return "share";
    case LevelKind::kQuota:
      return "quota";
    case LevelKind::kEvictedBeyond:
      return "evictedBeyond";
    case LevelKind::kWork:
      return "work";
    case LevelKind::kEvicted:
      return "evicted";
    case LevelKind::kMoved:
      return "moved";
    case LevelKind::kSeniority:
      return "seniority";
    case LevelKind::kWholeNodes:
      return "wholeNodes";
    case LevelKind::kWholeDomains:
      return "wholeDomains";
    case LevelKind::kGangNodes:
      return "gangNodes";
    case LevelKind::kGangDomains:
      return "gangDomains";
    case LevelKind::kGangModels:
      return "gangModels";
    case LevelKind::kCpuOnGpuNodes:
      return "cpuOnGpuNodes";
    case LevelKind::kPreference:
      return "preference";
    case LevelKind::kFragmentation:
      return "fragmentation";
  }
  return "";
}

std::int64_t level_scale(LevelKind kind, PlacementPolicy policy) {
  if (kind == LevelKind::kPreference) return 100;
  return kind == LevelKind::kFragmentation && policy == PlacementPolicy::kBinpack ? 1'000'000 : 1;
}

std::vector<LevelId> level_ids(const Problem& problem) {
  const ObjectiveTerms& terms = problem.objective;
  std::vector<LevelId> ids;
  // `before` comes before the levels of some of the priorities.
  const auto add = [&](LevelKind kind, LevelKind before, const std::vector<std::int32_t>& of) {
    for (const std::int32_t priority : terms.priorities) {
      if (std::ranges::find(of, priority) != of.end()) ids.push_back({before, priority});
      ids.push_back({kind, priority});
    }
  };
  add(LevelKind::kShare, LevelKind::kPreempted, terms.preemptible);
  add(LevelKind::kQuota, LevelKind::kQuota, {});
  add(LevelKind::kWork, LevelKind::kEvictedBeyond, terms.evictable);
  const bool has_whole_nodes = problem.snapshot->policy.has_whole_nodes();
  for (const LevelKind kind : kLevelsOfAll) {
    if (has_whole_nodes || !is_about_wholeness(kind)) ids.push_back({kind, 0});
  }
  return ids;
}

std::ptrdiff_t levels_of_presence(const Problem& problem) {
  const ObjectiveTerms& terms = problem.objective;
  return 3 * std::ssize(terms.priorities) + std::ssize(terms.preemptible) + std::ssize(terms.evictable) + 3;
}

Levels in_order(const Problem& problem, const PresenceValues& values) {
  MUSTER_REQUIRE(values.share.size() == problem.objective.priorities.size());
  MUSTER_REQUIRE(values.preempted.size() == problem.objective.preemptible.size());
  MUSTER_REQUIRE(values.evicted_beyond.size() == problem.objective.evictable.size());
  std::array<std::size_t, 5> next{};  // by kind with priorities
  const auto take = [&](std::size_t kind, const std::vector<std::int64_t>& of_kind) { return of_kind[next[kind]++]; };
  Levels levels;
  for (const LevelId& id : level_ids(problem)) {
    if (std::ssize(levels.values) == levels_of_presence(problem)) break;
    switch (id.kind) {
      case LevelKind::kPreempted:
        levels.values.push_back(take(0, values.preempted));
        break;
      case LevelKind::kShare:
        levels.values.push_back(take(1, values.share));
        break;
      case LevelKind::kQuota:
        levels.values.push_back(take(2, values.quota));
        break;
      case LevelKind::kEvictedBeyond:
        levels.values.push_back(take(3, values.evicted_beyond));
        break;
      case LevelKind::kWork:
        levels.values.push_back(take(4, values.work));
        break;
      case LevelKind::kEvicted:
        levels.values.push_back(values.evicted);
        break;
      case LevelKind::kMoved:
        levels.values.push_back(values.moved);
        break;
      default:
        levels.values.push_back(values.seniority);
    }
  }
  return levels;
}

std::vector<std::int64_t> values_of_kind(const Problem& problem, const Levels& levels, LevelKind kind) {
  const std::vector<LevelId> ids = level_ids(problem);
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].kind != kind) continue;
    MUSTER_REQUIRE(i < levels.values.size());
    values.push_back(levels.values[i]);
  }
  return values;
}

std::strong_ordering compare(const Levels& a, const Levels& b, const std::vector<LevelId>& ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (a.values[i] == b.values[i]) continue;
    return is_maximised(ids[i].kind) ? a.values[i] <=> b.values[i] : b.values[i] <=> a.values[i];
  }
  return std::strong_ordering::equal;
}

}  // namespace muster
