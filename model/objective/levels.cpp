#include "model/objective/levels.h"

#include <array>
#include <iterator>

namespace muster {
namespace {

constexpr std::array kLevelsByPriority{LevelKind::kShare, LevelKind::kQuota, LevelKind::kWork};
constexpr std::array kLevelsOfAll{LevelKind::kEvicted,     LevelKind::kMoved,        LevelKind::kSeniority,
                                  LevelKind::kWholeNodes,  LevelKind::kWholeDomains, LevelKind::kGangNodes,
                                  LevelKind::kGangDomains, LevelKind::kGangModels,   LevelKind::kCpuOnGpuNodes,
                                  LevelKind::kPreference,  LevelKind::kFragmentation};

}  // namespace

bool is_maximised(LevelKind kind) {
  switch (kind) {
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
    case LevelKind::kShare:
      return "share";
    case LevelKind::kQuota:
      return "quota";
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
  std::vector<LevelId> ids;
  for (const LevelKind kind : kLevelsByPriority) {
    for (const std::int32_t priority : problem.objective.priorities) ids.push_back({kind, priority});
  }
  const bool has_whole_nodes = problem.snapshot->policy.has_whole_nodes();
  for (const LevelKind kind : kLevelsOfAll) {
    if (has_whole_nodes || !is_about_wholeness(kind)) ids.push_back({kind, 0});
  }
  return ids;
}

std::ptrdiff_t levels_of_presence(const Problem& problem) { return 3 * std::ssize(problem.objective.priorities) + 3; }

std::strong_ordering compare(const Levels& a, const Levels& b, const std::vector<LevelId>& ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (a.values[i] == b.values[i]) continue;
    return is_maximised(ids[i].kind) ? a.values[i] <=> b.values[i] : b.values[i] <=> a.values[i];
  }
  return std::strong_ordering::equal;
}

}  // namespace muster
