// Levels of wholeness as linear expressions, if all configurations are present.
//
// `wholeNodes` and `cpuOnGpuNodes` are exact. `gangNodes` is a lower bound: pods of equal gangs share demand classes,
// so the gang of a pod is open, and each node counts as holding as few gangs as its pods can belong to.
#include "model/objective/wholeness.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "solver/formulation/formulation.h"

namespace muster::formulation {
namespace {

// The node as the state has it: none of the pods there keeps it from being whole.
bool is_whole_in(const ClusterState& state, const WholeNodes& whole_nodes, NodeIndex node) {
  return whole_nodes.counts(node) &&
         std::ranges::none_of(state.pods_on(node), [&](PodIndex pod) { return whole_nodes.breaks(pod, node); });
}

}  // namespace

std::optional<lp::LinearExpression> Formulation::whole_nodes_level() const {
  if (!in_.exact) return std::nullopt;
  const WholeNodes whole_nodes(in_.problem);
  lp::LinearExpression whole;
  for (const NodeIndex node : in_.problem.nodes.indices()) {
    if (in_.supply.residual_of[node].is_none() && is_whole_in(in_.base, whole_nodes, node)) ++whole.constant;
  }
  for (const ResidualClassIndex residual : in_.supply.residuals.indices()) {
    const std::vector<NodeIndex>& nodes = in_.supply.residuals[residual].nodes;
    const auto could_be =
        std::ranges::count_if(nodes, [&](NodeIndex node) { return is_whole_in(in_.base, whole_nodes, node); });
    if (could_be == 0) continue;
    if (could_be < std::ssize(nodes)) return std::nullopt;  // a column does not determine which of them it is
    const NodeIndex node = nodes.front();
    // The pods of a cell may run on unlike nodes: on any other than its own a pod would be one that the plan puts
    // there.
    const auto breaks = [&](PodIndex pod) {
      return in_.problem.pods[pod].node == node && whole_nodes.breaks(pod, node);
    };
    for (const ConfigurationColumn& configuration : configurations_[residual]) {
      const bool leaves_whole = std::ranges::all_of(configuration.counts, [&](const auto& entry) {
        const RunningCellIndex stays = in_.demand.classes[entry.first].stays;
        return !stays.is_none() && std::ranges::none_of(in_.demand.running[stays].pods, breaks);
      });
      if (leaves_whole) whole.add(configuration.column, 1);
    }
  }
  return whole;
}

std::optional<lp::LinearExpression> Formulation::cpu_on_gpu_nodes_level() const {
  if (!in_.exact) return std::nullopt;
  const WholeNodes whole_nodes(in_.problem);
  lp::LinearExpression misplaced;
  for (const ResidualClassIndex residual : in_.supply.residuals.indices()) {
    const NodeIndex node = in_.supply.residuals[residual].nodes.front();
    for (const ConfigurationColumn& configuration : configurations_[residual]) {
      for (const auto& [demand, count] : configuration.counts) {
        const DemandClass& d = in_.demand.classes[demand];
        if (d.stays.is_none() && whole_nodes.is_misplaced(d.pod_class, node))
          misplaced.add(configuration.column, count);
      }
    }
  }
  return misplaced;
}

}  // namespace muster::formulation
