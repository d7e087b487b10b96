#include "solver/rows/queue_rows.h"

#include <algorithm>

#include "heuristics/state/fit.h"

namespace muster::formulation {

void QueueRows::add() {
  const QueueBounds bounds = queue_bounds(in_.problem, ClusterState(in_.problem, ClusterState::Releasing::kFreed));
  for (QueueIndex queue : in_.problem.queues.indices())
    for (std::size_t resource = 0; resource < kQueueResources; ++resource) {
      add_row({queue, resource, false, bounds.usage[queue][resource]});
      add_row({queue, resource, true, bounds.non_preemptible[queue][resource]});
    }
  for (OtherLimitIndex limit : in_.problem.lists.other_limits.indices()) {
    const lp::LinearExpression usage = limited_usage(limit);
    if (!usage.terms.empty())
      model_.add_constraint(usage, -lp::kInfinity, static_cast<double>(bounds.limited_usage[limit]),
                            lp::numbered("other_limit", limit.value()));
  }
}

void QueueRows::add_row(const Bound& bound) {
  if (bound.most == kNoBound) return;
  const lp::LinearExpression usage = usage_of(bound.queue, bound.resource, bound.non_preemptible);
  if (usage.terms.empty()) return;
  model_.add_constraint(usage, -lp::kInfinity, static_cast<double>(bound.most),
                        lp::numbered(bound.non_preemptible ? "quota" : "limit", bound.queue.value(), bound.resource));
}

// The usage of the queue in the end. The usage of a memory request depends on the device, so its cell is split by
// zones, in each of which all devices have one size.
lp::LinearExpression QueueRows::usage_of(QueueIndex queue, std::size_t resource, bool non_preemptible) const {
  lp::LinearExpression usage;
  usage.constant =
      (non_preemptible ? in_.base.queues().non_preemptible_usage() : in_.base.queues().usage())[queue][resource];
  const auto counts = [&](GangClassIndex index) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    if (gang_class.queue.is_none() || (non_preemptible && gang_class.preemptible)) return false;
    const std::vector<QueueIndex>& above = in_.problem.queues[gang_class.queue].ancestors;
    return std::find(above.begin(), above.end(), queue) != above.end();
  };
  for (RunningCellIndex index : in_.demand.running.indices())
    if (counts(in_.demand.running[index].gang_class))
      usage.add(columns_.staying(index), in_.demand.running[index].usage[resource]);
  for (CellIndex index : in_.demand.cells.indices()) {
    const Cell& cell = in_.demand.cells[index];
    if (!counts(cell.gang_class)) continue;
    for (std::size_t part = 0; part < columns_.of_cell(index).size(); ++part)
      if (const auto& least =
              least_usage(cell.demand, columns_.of_cell(index).size() > 1 ? part : in_.supply.zone_count))
        usage.add(columns_.of_cell(index)[part].column, columns_.of_cell(index)[part].pods * (*least)[resource]);
  }
  return usage;
}

// What counts against the limit in the end. It is the same wherever pods are.
lp::LinearExpression QueueRows::limited_usage(OtherLimitIndex limit) const {
  lp::LinearExpression usage;
  usage.constant = in_.base.queues().limited_usage()[limit];
  const ResourceIndex resource = in_.problem.lists.other_limits[limit].resource;
  // Of one pod; 0 if the limit is none of its queue's.
  const auto asked = [&](GangClassIndex index, DemandIndex demand) -> Amount {
    const QueueIndex queue = in_.demand.gang_classes[index].queue;
    if (queue.is_none()) return 0;
    const std::vector<OtherLimitIndex>& limits = in_.problem.queues[queue].other_limits;
    if (std::ranges::find(limits, limit) == limits.end()) return 0;
    const PodClass& pod_class = in_.problem.pod_classes[in_.demand.classes[demand].pod_class];
    return pod_class.request[resource.value()];
  };
  for (RunningCellIndex index : in_.demand.running.indices()) {
    const RunningCell& cell = in_.demand.running[index];
    if (const Amount one = asked(cell.gang_class, cell.stay); one > 0) usage.add(columns_.staying(index), one);
  }
  for (CellIndex index : in_.demand.cells.indices()) {
    const Amount one = asked(in_.demand.cells[index].gang_class, in_.demand.cells[index].demand);
    if (one <= 0) continue;
    for (const auto& part : columns_.of_cell(index)) usage.add(part.column, part.pods * one);
  }
  return usage;
}

// The minimum that a pod of the class uses in a zone (or anywhere, for the index equal to the number of zones); none
// if it fits nowhere.
const std::optional<QueueAmounts>& QueueRows::least_usage(DemandIndex demand, std::size_t zone) const {
  if (least_usage_.empty()) {
    least_usage_ = Indexed<DemandIndex, std::vector<std::optional<QueueAmounts>>>(in_.demand.classes.size());
    for (auto& by_zone : least_usage_) by_zone.resize(in_.supply.zone_count + 1);
    for (const ResidualClass& residual : in_.supply.residuals)
      for (const DemandIndex d : residual.demands) {
        const QueueAmounts here = queue_usage(in_.problem.pod_classes[in_.demand.classes[d].pod_class],
                                              in_.problem.node_classes[residual.node_class]);
        for (const std::size_t at : {std::size_t{residual.zone.value()}, in_.supply.zone_count}) {
          std::optional<QueueAmounts>& least = least_usage_[d][at];
          if (!least) least = here;
          for (std::size_t r = 0; r < kQueueResources; ++r) (*least)[r] = std::min((*least)[r], here[r]);
        }
      }
  }
  return least_usage_[demand][zone];
}

}  // namespace muster::formulation
