#include "solver/formulation/work_levels.h"

#include <string>

#include "model/base/saturating.h"

namespace muster::formulation {

lp::LinearExpression work_level(const FormulationInput& in, const GangColumns& columns, std::int32_t priority) {
  lp::LinearExpression work;
  for (PodIndex pod : in.problem.pods.indices()) {
    const Gang& gang = in.problem.gangs[in.problem.pods[pod].gang];
    if (in.base.is_present(pod) && gang.queue_is_leaf && gang.priority >= priority)
      work.constant += in.problem.pods[pod].weighted_work;
  }
  for (CellIndex cell : in.demand.cells.indices())
    if (in.demand.cells[cell].moves.is_none() &&
        in.demand.gang_classes[in.demand.cells[cell].gang_class].priority >= priority)
      work.add(columns.placed(cell), in.demand.classes[in.demand.cells[cell].demand].weighted_work);
  for (RunningCellIndex cell : in.demand.running.indices()) {
    const GangClass& gang_class = in.demand.gang_classes[in.demand.running[cell].gang_class];
    if (in.problem.gangs[gang_class.gangs.front()].queue_is_leaf && gang_class.priority >= priority)
      work.add(columns.kept(cell), in.demand.classes[in.demand.running[cell].stay].weighted_work);
  }
  return work;
}

lp::LinearExpression seniority_level(const FormulationInput& in, const GangColumns& columns, lp::ModelBuilder& model) {
  lp::LinearExpression seniority;
  for (GangClassIndex index : in.demand.gang_classes.indices()) {
    const GangClass& gang_class = in.demand.gang_classes[index];
    if (gang_class.is_singles) continue;  // a moved pod has had its turn
    const auto waited = [&](GangIndex gang) { return in.problem.gangs[gang].times.seniority; };
    if (waited(gang_class.gangs.front()) == waited(gang_class.gangs.back())) {
      for (CellIndex cell : gang_class.cells)
        if (in.demand.cells[cell].moves.is_none())
          seniority.add(columns.placed(cell),
                        saturating_multiply(in.demand.classes[in.demand.cells[cell].demand].weighted_work,
                                            waited(gang_class.gangs.front())));
      continue;
    }
    // All or nothing, of several ages: the oldest first is best, so one column for each age, filled in order of its
    // worth.
    const CellIndex cell = gang_class.cells[0];
    const Work work = in.demand.classes[in.demand.cells[cell].demand].weighted_work * in.demand.cells[cell].count();
    lp::LinearExpression all;
    all.add(columns.of_gang(index).admitted, -1);
    for (std::size_t i = 0, end = 0; i < gang_class.gangs.size(); i = end) {
      while (end < gang_class.gangs.size() && waited(gang_class.gangs[end]) == waited(gang_class.gangs[i])) ++end;
      const std::int32_t column =
          model.add_column(0, static_cast<double>(end - i), true, "age" + std::to_string(model.columns()));
      all.add(column, 1);
      seniority.add(column, saturating_multiply(work, waited(gang_class.gangs[i])));
    }
    model.add_constraint(all, 0, 0, "ages" + std::to_string(index.value()));
  }
  return seniority;
}

}  // namespace muster::formulation
