#include "solver/rows/gang_rows.h"

#include <algorithm>

#include "model/base/require.h"

namespace muster::formulation {

void GangRows::add(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const bool located = asks_for_topology(index);
  const bool may_wait = !gang_class.minimum_runs || gang_class.lacks_resources;
  if (!gang_class.running.empty() ? !gang_class.is_singles : may_wait)
    columns_.of_gang(index).admitted =
        model_.add_column(0, static_cast<double>(most_gangs(index)), true, lp::numbered("z", index.value()));
  const std::int32_t admitted = columns_.of_gang(index).admitted;
  bool is_tied = false;  // all or nothing, anywhere: the gangs determine the pods
  for (CellIndex cell : gang_class.cells) {
    const bool is_counted = !in_.demand.cells[cell].moves.is_none() && !in_.demand.counted_parts.empty();
    const bool in_parts = located || is_counted || is_metered(in_.problem, in_.demand, in_.demand.cells[cell]);
    const std::int64_t all = in_.demand.cells[cell].count();
    is_tied = gang_class.running.empty() && gang_class.minimum == all && admitted >= 0 && !in_parts;
    if (is_tied)
      columns_.of_cell(cell).push_back({admitted, all});
    else
      add_cell_columns(cell, in_parts);
  }
  if (!gang_class.running.empty()) return;  // see EvictionRows
  if (is_tied) return;
  if (gang_class.minimum > 0) {  // one cell: m z <= x <= n z
    const CellIndex cell = gang_class.cells[0];
    const std::int64_t all = in_.demand.cells[cell].count();
    lp::LinearExpression least = columns_.placed(cell), most = columns_.placed(cell);
    least.add(admitted, -gang_class.minimum);
    most.add(admitted, -all);
    if (gang_class.minimum == all) {
      model_.add_constraint(least, 0, 0, lp::numbered("whole", index.value()));
    } else {
      model_.add_constraint(least, 0, lp::kInfinity, lp::numbered("minimum", index.value()));
      model_.add_constraint(most, -lp::kInfinity, 0, lp::numbered("members", index.value()));
    }
  } else if (may_wait) {
    add_tree(index);
  } else {
    for (CellIndex cell : gang_class.cells)  // for one column its upper bound expresses this
      if (columns_.of_cell(cell).size() > 1)
        model_.add_constraint(columns_.placed(cell), -lp::kInfinity,
                              static_cast<double>(in_.demand.cells[cell].count()),
                              lp::numbered("members", cell.value()));
  }
}

bool GangRows::asks_for_topology(GangClassIndex index) const {
  const Gang& gang = in_.problem.gangs[in_.demand.gang_classes[index].gangs.front()];
  return std::ranges::any_of(gang.groups, [&](GroupIndex group) {
    return !in_.problem.groups[group].required_level.is_none() || !in_.problem.groups[group].preferred_level.is_none();
  });
}

// The gangs of the class, but at most as many as its nodes could take if they took nothing else: if a gang is larger
// than that, the relaxation would admit a part of it.
std::int64_t GangRows::most_gangs(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  if (gang_class.minimum == 0) return gang_class.size();
  const DemandIndex demand = in_.demand.cells[gang_class.cells[0]].demand;
  return std::min(gang_class.size(), most_pods(demand) / gang_class.minimum);
}

// Pods of a demand class that all nodes could take if they took nothing else, at most.
std::int64_t GangRows::most_pods(DemandIndex demand) {
  if (most_pods_.empty()) {
    most_pods_ = Indexed<DemandIndex, std::int64_t>(in_.demand.classes.size(), 0);
    for (const ResidualClass& residual : in_.supply.residuals)
      for (std::size_t at = 0; at < residual.demands.size(); ++at) {
        const PodClassIndex pod_class = in_.demand.classes[residual.demands[at]].pod_class;
        const bool is_apart = !in_.problem.pod_classes[pod_class].anti_affinity_owned.empty() &&
                              in_.anti_affinity.conflict(pod_class, pod_class, residual.nodes.front());
        most_pods_[residual.demands[at]] +=
            residual.count() * (is_apart ? std::min<std::int64_t>(residual.most[at], 1) : residual.most[at]);
      }
  }
  return most_pods_[demand];
}

void GangRows::add_cell_columns(CellIndex index, bool located) {
  const Cell& cell = in_.demand.cells[index];
  const std::int64_t gangs = in_.demand.gang_classes[cell.gang_class].size();
  const auto most = static_cast<double>(cell.count() * gangs);
  const std::size_t parts = located ? in_.supply.zone_count : 1;
  for (std::size_t part = 0; part < parts; ++part)
    columns_.of_cell(index).push_back(
        {model_.add_column(0, most, true,
                           parts == 1 ? lp::numbered("x", index.value()) : lp::numbered("x", index.value(), part)),
         1});
}

// A gang of its own class whose minimum does not run: the root's minimum is met if it is admitted.
void GangRows::add_tree(GangClassIndex index) {
  MUSTER_REQUIRE(columns_.of_gang(index).admitted >= 0);
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const Gang& gang = in_.problem.gangs[gang_class.gangs[0]];
  columns_.of_gang(index).satisfied[gang.root] = columns_.of_gang(index).admitted;
  for (GroupIndex group : gang.groups) add_satisfied(index, group);
  for (CellIndex cell : gang_class.cells) {
    if (!in_.demand.cells[cell].moves.is_none()) continue;  // see EvictionRows
    lp::LinearExpression most = columns_.placed(cell);
    most.add(columns_.of_gang(index).admitted, -in_.demand.cells[cell].count());
    model_.add_constraint(most, -lp::kInfinity, 0, lp::numbered("members", cell.value()));
  }
}

// b_h = 1 only if the group has its minimum: pods of a leaf, children of an inner group. Parents come first.
std::int32_t GangRows::add_satisfied(GangClassIndex index, GroupIndex group) {
  std::map<GroupIndex, std::int32_t>& satisfied = columns_.of_gang(index).satisfied;
  const Group& g = in_.problem.groups[group];
  lp::LinearExpression enough;
  if (g.is_leaf()) {
    enough.constant = in_.base.members(group);
    for (CellIndex cell : in_.demand.gang_classes[index].cells)
      if (in_.demand.cells[cell].leaf == group && in_.demand.cells[cell].moves.is_none())
        enough.add(columns_.placed(cell));
    for (RunningCellIndex cell : in_.demand.gang_classes[index].running)
      if (in_.demand.running[cell].leaf == group) enough.add(columns_.kept(cell));
  } else {
    for (GroupIndex child : g.children) {
      const std::int32_t column = model_.add_column(0, 1, true, lp::numbered("b", child.value()));
      satisfied[child] = column;
      enough.add(column, 1);
    }
  }
  enough.add(satisfied.at(group), -g.minimum);
  return model_.add_constraint(enough, 0, lp::kInfinity, lp::numbered("minimum_group", group.value()));
}

}  // namespace muster::formulation
