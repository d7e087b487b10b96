#include "solver/formulation/plain_levels.h"

#include <algorithm>
#include <string>
#include <vector>

#include "model/base/saturating.h"
#include "model/objective/evaluation.h"
#include "model/objective/wholeness.h"

namespace muster::formulation {
namespace {

// The node as the state has it: none of the pods there keeps it from being whole.
bool is_whole_in(const ClusterState& state, const WholeNodes& whole_nodes, NodeIndex node) {
  return whole_nodes.counts(node) &&
         std::ranges::none_of(state.pods_on(node), [&](PodIndex pod) { return whole_nodes.breaks(pod, node); });
}

}  // namespace

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

std::optional<lp::LinearExpression> whole_nodes_level(const FormulationInput& in, const SupplyRows& supply) {
  if (!in.exact) return std::nullopt;
  const WholeNodes whole_nodes(in.problem);
  lp::LinearExpression whole;
  for (const NodeIndex node : in.problem.nodes.indices()) {
    if (in.supply.residual_of[node].is_none() && is_whole_in(in.base, whole_nodes, node)) ++whole.constant;
  }
  for (const ResidualClassIndex residual : in.supply.residuals.indices()) {
    const std::vector<NodeIndex>& nodes = in.supply.residuals[residual].nodes;
    const auto could_be =
        std::ranges::count_if(nodes, [&](NodeIndex node) { return is_whole_in(in.base, whole_nodes, node); });
    if (could_be == 0) continue;
    if (could_be < std::ssize(nodes)) return std::nullopt;  // a column does not determine which of them it is
    const NodeIndex node = nodes.front();
    // The pods of a cell may run on unlike nodes: on any other than its own a pod would be one that the plan puts
    // there.
    const auto breaks = [&](PodIndex pod) {
      return in.problem.pods[pod].node == node && whole_nodes.breaks(pod, node);
    };
    for (const SupplyRows::Column& configuration : supply.columns_of(residual)) {
      const bool leaves_whole = std::ranges::all_of(configuration.counts, [&](const auto& entry) {
        const RunningCellIndex stays = in.demand.classes[entry.first].stays;
        return !stays.is_none() && std::ranges::none_of(in.demand.running[stays].pods, breaks);
      });
      if (leaves_whole) whole.add(configuration.column, 1);
    }
  }
  return whole;
}

std::optional<lp::LinearExpression> cpu_on_gpu_nodes_level(const FormulationInput& in, const SupplyRows& supply) {
  if (!in.exact) return std::nullopt;
  const WholeNodes whole_nodes(in.problem);
  lp::LinearExpression misplaced;
  for (const ResidualClassIndex residual : in.supply.residuals.indices()) {
    const NodeIndex node = in.supply.residuals[residual].nodes.front();
    for (const SupplyRows::Column& configuration : supply.columns_of(residual)) {
      for (const auto& [demand, count] : configuration.counts) {
        const DemandClass& d = in.demand.classes[demand];
        if (d.stays.is_none() && whole_nodes.is_misplaced(d.pod_class, node))
          misplaced.add(configuration.column, count);
      }
    }
  }
  return misplaced;
}

std::optional<lp::LinearExpression> preference_level(const FormulationInput& in, const SupplyRows& supply,
                                                     TopologyRows& topology) {
  if (!in.exact) return std::nullopt;  // configurations may hold more than is placed
  if (!in.problem.inter_pod.preferred_terms.empty())
    return std::nullopt;  // it does not model preferred terms between pods
  lp::LinearExpression preference;
  for (ResidualClassIndex residual : in.supply.residuals.indices()) {
    const ResidualClass& r = in.supply.residuals[residual];
    for (const SupplyRows::Column& configuration : supply.columns_of(residual))
      for (const auto& [demand, count] : configuration.counts) {
        const DemandClass& d = in.demand.classes[demand];
        if (!d.stays.is_none()) continue;
        const PodClass& pod_class = in.problem.pod_classes[d.pod_class];
        std::int64_t worth = pod_class.preferences.preferred_weight[r.node_class.value()];
        worth -= 100 * pod_class.preferences.untolerated_soft_taints[r.node_class.value()];
        if (!d.nominated_node.is_none() && r.nodes.front() == d.nominated_node) worth += 100;
        preference.add(configuration.column, worth * count * d.weighted_work);
      }
  }
  for (GangClassIndex index : in.demand.gang_classes.indices()) {
    const Gang& gang = in.problem.gangs[in.demand.gang_classes[index].gangs[0]];
    for (GroupIndex group : gang.groups)
      if (!in.problem.groups[group].preferred_level.is_none()) topology.add_preferred(index, group, preference);
  }
  return preference;
}

std::optional<lp::LinearExpression> last_level(const FormulationInput& in, const SupplyRows& supply) {
  if (!in.exact) return std::nullopt;
  lp::LinearExpression sum;
  for (NodeIndex node : in.problem.nodes.indices())
    if (in.problem.class_of(node).cordoned && in.supply.residual_of[node].is_none())  // what runs there stays as it is
      sum.constant += last_level_of(
          in.problem, {in.problem.nodes[node].node_class, in.base.free(node), in.base.free_devices(node)});
  for (ResidualClassIndex residual : in.supply.residuals.indices())
    for (const SupplyRows::Column& configuration : supply.columns_of(residual))
      sum.add(configuration.column, configuration.last_level);
  return sum;
}

}  // namespace muster::formulation
