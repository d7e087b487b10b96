// Inconsistent gangs: a gang with impossible terms is held, and its running pods are left alone.
#include <unordered_map>
#include <vector>

#include "model/build/repair_parts.h"
#include "model/build/stages.h"

namespace muster::repair {
namespace {

// What is wrong with a gang's tree; empty: nothing.
std::string wrong_tree(const SnapshotGang& gang) {
  if (gang.subgroups.empty())
    return gang.min_subgroups ? "minSubgroups is set, but there are no subgroups" : std::string();
  if (gang.min_member) return "both minMember and subgroups are set";
  if (gang.disruption == Disruption::kWhole) return "disruption whole and subgroups are set";
  std::unordered_map<std::string_view, std::vector<const SnapshotSubgroup*>> children;
  std::unordered_set<std::string_view> names;
  for (const SnapshotSubgroup& subgroup : gang.subgroups) {
    if (!names.insert(subgroup.name).second) return "duplicate subgroup " + quoted(subgroup.name);
    children[subgroup.parent].push_back(&subgroup);
  }
  for (const SnapshotSubgroup& subgroup : gang.subgroups) {
    if (!subgroup.parent.empty() && !names.contains(subgroup.parent))
      return "unknown subgroup " + quoted(subgroup.parent);
    const bool is_leaf = !children.contains(subgroup.name);
    if (is_leaf ? subgroup.min_subgroups.has_value() : subgroup.min_member.has_value())
      return "subgroup " + quoted(subgroup.name) +
             (is_leaf ? " has no subgroups: set minMember" : " has subgroups: set minSubgroups");
  }
  std::vector<const SnapshotSubgroup*> reached = children[{}];
  std::size_t depth = 1;
  for (std::size_t at = 0, level_end = reached.size(); at < reached.size(); ++at) {
    if (at == level_end) {
      level_end = reached.size();
      ++depth;
    }
    const auto below = children.find(reached[at]->name);
    if (below != children.end()) reached.insert(reached.end(), below->second.begin(), below->second.end());
  }
  if (depth > kMostSubgroupDepth) return "subgroups are nested deeper than " + std::to_string(kMostSubgroupDepth);
  return reached.size() < gang.subgroups.size() ? "a subgroup is its own ancestor" : std::string();
}

bool knows_level(const Snapshot& snapshot, std::string_view level, std::string_view topology) {
  return level.empty() || !places_of_level(snapshot.definitions, level, topology).empty();
}

// A missing required level cannot be kept to; a missing preferred one is ignored.
std::string unknown_level(const Snapshot& snapshot, TopologyRequest& topology) {
  if (!knows_level(snapshot, topology.preferred, topology.topology)) topology.preferred = {};
  if (knows_level(snapshot, topology.required, topology.topology)) return {};
  const std::string of = topology.topology.empty() ? "" : "of topology " + quoted(topology.topology) + " ";
  return "unknown topology level " + of + quoted(topology.required);
}

std::string unknown_level(const Snapshot& snapshot, SnapshotGang& gang) {
  std::string wrong = unknown_level(snapshot, gang.topology);
  for (SnapshotSubgroup& subgroup : gang.subgroups) {
    std::string found = unknown_level(snapshot, subgroup.topology);
    if (wrong.empty()) wrong = std::move(found);
  }
  return wrong;
}

}  // namespace

// Its own minimum and tree no longer matter: nothing of it starts, and none of its running pods has to leave.
void hold_gang(Snapshot& snapshot, SnapshotGang& gang) {
  gang.terms.preemptible = false;
  gang.min_member.reset();
  gang.min_subgroups.reset();
  gang.subgroups.clear();
  gang.topology = {};
  gang.min_resources.clear();
  gang.min_resources_gpu = 0;
  gang.has_min_resources = false;
  gang.staleness_grace_period = kNever;
  snapshot.anomalies.held_gangs.push_back(gang.name);
}

void repair_gangs(Snapshot& snapshot) {
  keep_first(snapshot, snapshot.gangs, "gang");
  for (SnapshotGang& gang : snapshot.gangs) {
    const std::string tree = wrong_tree(gang), level = unknown_level(snapshot, gang);
    if (tree.empty() && level.empty()) continue;
    warn(snapshot, {tree.empty() ? ErrorCode::kUnknownTopologyLevel : ErrorCode::kInvalidValue, "gang",
                    std::string(gang.name), (tree.empty() ? level : tree) + "; it is held"});
    hold_gang(snapshot, gang);
  }
}

}  // namespace muster::repair
