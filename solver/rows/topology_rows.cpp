#include "solver/rows/topology_rows.h"

#include <algorithm>
#include <string>

namespace muster::formulation {

void TopologyRows::add(GangClassIndex index) {
  const Gang& gang = in_.problem.gangs[in_.demand.gang_classes[index].gangs[0]];
  for (GroupIndex group : gang.groups)
    if (!in_.problem.groups[group].required_level.is_none()) add_domains(index, group);
}

// All pods of the group in one domain of its level; if some run, in theirs.
void TopologyRows::add_domains(GangClassIndex index, GroupIndex group) {
  const TopologyLevelIndex level = in_.problem.groups[group].required_level;
  const std::vector<CellIndex> cells = cells_below(index, group);
  const std::vector<DomainIndex> running = running_domains(group, level);
  const std::vector<RunningCellIndex> leaving = running_below(index, group);
  std::int64_t members = 0;
  for (CellIndex cell : cells) members += in_.demand.cells[cell].count();
  for (RunningCellIndex cell : leaving) members += in_.demand.running[cell].count();
  // If the running pods are not in one domain, they may continue as long as nothing is placed in addition.
  std::int32_t touched = -1;
  if (is_torn(index, group)) {
    touched = model_.add_column(0, 1, true, lp::numbered("touched", group.value()));
    lp::LinearExpression added;
    for (CellIndex cell : cells) added.add(columns_.placed(cell));
    added.add(touched, -members);
    model_.add_constraint(added, -lp::kInfinity, 0, lp::numbered("touch", group.value()));
  }
  lp::LinearExpression chosen;
  for (DomainIndex domain : domains_of(level)) {
    lp::LinearExpression inside;
    for (CellIndex cell : cells) inside.add(columns_.placed_in(cell, domain, level));
    for (RunningCellIndex cell : leaving)
      if (domain_of(cell, level) == domain) inside.add(columns_.staying(cell));
    const bool possible =
        !domain.is_none() && std::all_of(running.begin(), running.end(), [&](DomainIndex d) { return d == domain; });
    if (touched >= 0) {
      inside.constant -= members;
      inside.add(touched, members);
    }
    if (!possible) {
      model_.add_constraint(inside, -lp::kInfinity, 0, lp::numbered("outside", group.value()));
      continue;
    }
    const std::int32_t column = model_.add_column(0, 1, true, lp::numbered("y", group.value(), domain.value()));
    chosen.add(column, 1);
    inside.add(column, -members);
    model_.add_constraint(inside, -lp::kInfinity, 0, lp::numbered("domain", group.value(), domain.value()));
  }
  model_.add_constraint(chosen, -lp::kInfinity, 1, lp::numbered("one_domain", group.value()));
}

bool TopologyRows::is_torn(GangClassIndex index, GroupIndex group) const {
  const TopologyLevelIndex level = in_.problem.groups[group].required_level;
  const std::vector<RunningCellIndex> cells = running_below(index, group);
  return std::any_of(cells.begin(), cells.end(), [&](RunningCellIndex cell) {
    return domain_of(cell, level).is_none() || domain_of(cell, level) != domain_of(cells.front(), level);
  });
}

// Domains of the level in which pods of the group run, one entry a pod.
std::vector<DomainIndex> TopologyRows::running_domains(GroupIndex group, TopologyLevelIndex level) const {
  std::vector<DomainIndex> running;
  for (PodIndex pod : in_.problem.gangs[in_.problem.groups[group].gang].pods)
    if (in_.base.is_present(pod) && is_below(in_.problem.pods[pod].group, group))
      running.push_back(in_.problem.nodes[in_.base.node_of(pod)].domains[level.value()]);
  return running;
}

// The domains that contain the zones, `none` if one lies outside the topology; ascending.
std::vector<DomainIndex> TopologyRows::domains_of(TopologyLevelIndex level) const {
  std::vector<DomainIndex> domains;
  for (const std::vector<DomainIndex>& zone : in_.zones.domains) domains.push_back(zone[level.value()]);
  std::sort(domains.begin(), domains.end());
  domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  return domains;
}

DomainIndex TopologyRows::domain_of(RunningCellIndex cell, TopologyLevelIndex level) const {
  return in_.problem.nodes[in_.demand.running[cell].node].domains[level.value()];
}

std::vector<RunningCellIndex> TopologyRows::running_below(GangClassIndex index, GroupIndex group) const {
  std::vector<RunningCellIndex> result;
  for (RunningCellIndex cell : in_.demand.gang_classes[index].running)
    if (is_below(in_.demand.running[cell].leaf, group)) result.push_back(cell);
  return result;
}

std::vector<CellIndex> TopologyRows::cells_below(GangClassIndex index, GroupIndex group) const {
  std::vector<CellIndex> result;
  for (CellIndex cell : in_.demand.gang_classes[index].cells)
    if (is_below(in_.demand.cells[cell].leaf, group)) result.push_back(cell);
  return result;
}

bool TopologyRows::is_below(GroupIndex group, GroupIndex ancestor) const {
  for (; !group.is_none(); group = in_.problem.groups[group].parent)
    if (group == ancestor) return true;
  return false;
}

// 100 x work of the pods placed, if all that run or are placed lie in one domain: w <= 100 x work, w <= M sum q_v, and
// nothing outside v where q_v = 1.
void TopologyRows::add_preferred(GangClassIndex index, GroupIndex group, lp::LinearExpression& preference) {
  const TopologyLevelIndex level = in_.problem.groups[group].preferred_level;
  const std::vector<CellIndex> cells = cells_below(index, group);
  lp::LinearExpression all, work;
  std::int64_t members = 0, most = 0;
  for (CellIndex cell : cells) {
    const Work each = 100 * in_.demand.classes[in_.demand.cells[cell].demand].weighted_work;
    all.add(columns_.placed(cell));
    work.add(columns_.placed(cell), each);
    members += in_.demand.cells[cell].count();
    most += in_.demand.cells[cell].count() * each;
  }
  if (members == 0) return;
  const std::vector<RunningCellIndex> leaving = running_below(index, group);
  for (RunningCellIndex cell : leaving) {
    all.add(columns_.staying(cell));
    members += in_.demand.running[cell].count();
  }
  const std::vector<DomainIndex> running = running_domains(group, level);
  lp::LinearExpression chosen;
  for (DomainIndex domain : domains_of(level)) {
    const bool possible =
        !domain.is_none() && std::all_of(running.begin(), running.end(), [&](DomainIndex d) { return d == domain; });
    if (!possible) continue;
    const std::int32_t column = model_.add_column(0, 1, true, "q" + std::to_string(model_.columns()));
    chosen.add(column, 1);
    lp::LinearExpression outside = all;
    for (CellIndex cell : cells) outside.add(columns_.placed_in(cell, domain, level), -1);
    for (RunningCellIndex cell : leaving)
      if (domain_of(cell, level) == domain) outside.add(columns_.staying(cell), -1);
    outside.add(column, members);
    model_.add_constraint(outside, -lp::kInfinity, static_cast<double>(members), "prefer");
  }
  if (chosen.terms.empty()) return;
  model_.add_constraint(chosen, -lp::kInfinity, 1, "prefer_one");
  const std::int32_t worth =
      model_.add_column(0, static_cast<double>(most), false, "w" + std::to_string(model_.columns()));
  work.add(worth, -1);
  model_.add_constraint(work, 0, lp::kInfinity, "prefer_work");
  lp::LinearExpression within;
  for (const auto& [column, one] : chosen.terms) within.add(column, most);
  within.add(worth, -1);
  model_.add_constraint(within, 0, lp::kInfinity, "prefer_within");
  preference.add(worth, 1);
}

}  // namespace muster::formulation
