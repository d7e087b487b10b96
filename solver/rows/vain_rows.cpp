#include "solver/rows/vain_rows.h"

#include <algorithm>
#include <set>
#include <string>

#include "heuristics/state/fit.h"

namespace muster::formulation {
namespace {

bool is_unlimited(Amount amount) { return amount == kUnlimited || amount == kNoBound; }

}  // namespace

VainRows::VainRows(const FormulationInput& input, const GangColumns& columns, const EvictionRows& evictions,
                   const ReclaimRows& reclaims, lp::ModelBuilder& model)
    : in_(input),
      columns_(columns),
      evictions_(evictions),
      reclaims_(reclaims),
      model_(model),
      vain_rows_(input.demand.running.size(), -1),
      right_rows_(input.demand.running.size(), -1),
      gang_rows_(input.demand.gang_classes.size(), -1) {}

void VainRows::add() {
  const bool some_lack = std::ranges::any_of(in_.demand.gang_classes, &GangClass::lacks_resources);
  if (some_lack || in_.anti_affinity.spans_nodes()) return;
  for (RunningCellIndex cell : in_.demand.running.indices()) {
    const GangClassIndex index = in_.demand.running[cell].gang_class;
    const PodClass& pod_class = in_.problem.class_of(in_.demand.running[cell].pods.front());
    if (may_be_kept_out(index) || pod_class.has_ordered_rules()) continue;
    // Not add_constraint: the configurations' coefficients are added later.
    right_rows_[cell] = add_row(cell, "right");
    const CellIndex move = in_.demand.running[cell].move;
    if (move.is_none()) continue;
    // A pod that is moved makes way for any gang.
    for (const auto& [column, moved] : columns_.placed(move).terms)
      model_.add_entry(right_rows_[cell], column, -static_cast<double>(moved));
    vain_rows_[cell] = add_row(cell, "vain");
  }
  for (const GangClassIndex index : in_.demand.gang_classes.indices()) add_gang_row(index);
}

// None of its pods has left a node where it could have stayed, unless its gang leaves whole, or a share keeps it out.
std::int32_t VainRows::add_row(RunningCellIndex cell, const char* label) {
  const GangClassIndex index = in_.demand.running[cell].gang_class;
  const std::int32_t row = model_.add_row(-lp::kInfinity, 0, label + std::to_string(cell.value()));
  const auto pods = static_cast<double>(in_.demand.running[cell].count());
  for (const std::int32_t column : reclaims_.keeping_to_share(in_.demand.gang_classes[index].queue))
    model_.add_entry(row, column, -pods);
  if (in_.demand.gang_classes[index].is_singles) return row;
  for (const auto& [column, gangs] : columns_.gone(index).terms) model_.add_entry(row, column, -pods);
  return row;
}

// A gang leaves whole only if one of its pods had to. Of pods that share a node each may fit by itself, and not both:
// then the row does not hold.
void VainRows::add_gang_row(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const auto is_known = [&](RunningCellIndex cell) {
    return in_.demand.running[cell].count() == 1 && right_rows_[cell] >= 0;
  };
  if (gang_class.is_singles || gang_class.running.empty() || !std::ranges::all_of(gang_class.running, is_known)) return;
  std::set<NodeIndex> nodes;
  for (const RunningCellIndex cell : gang_class.running)
    if (!nodes.insert(in_.problem.pods[in_.demand.running[cell].pods.front()].node).second) return;
  const auto pods = static_cast<double>(gang_class.running.size());
  const std::int32_t row = model_.add_row(-lp::kInfinity, pods, "vain_gang" + std::to_string(index.value()));
  for (const ExitColumns& exit : columns_.exits(index))  // as stale it goes whatever the others do
    if (exit.gone >= 0 && evictions_.channel_of(exit).reason != EvictionReason::kStale)
      model_.add_entry(row, exit.gone, 1);
  if (const std::int32_t split = columns_.of_gang(index).split; split >= 0 && !gang_class.leaving.stale)
    model_.add_entry(row, split, 1);
  for (const std::int32_t column : reclaims_.keeping_to_share(gang_class.queue)) model_.add_entry(row, column, -pods);
  gang_rows_[index] = row;
}

// By anything except capacity, reclaim, and the requirements of affinity and spread on other pods: a limit, the
// topology of its gang.
bool VainRows::may_be_kept_out(GangClassIndex index) const {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  if (gang_class.queue.is_none()) return true;
  for (GroupIndex group : in_.problem.gangs[gang_class.gangs.front()].groups)
    if (!in_.problem.groups[group].required_level.is_none()) return true;
  if (!in_.problem.queues[gang_class.queue].other_limits.empty()) return true;
  for (const QueueIndex queue : in_.problem.queues[gang_class.queue].ancestors)
    for (const Amount limit : in_.problem.queues[queue].limit)
      if (!is_unlimited(limit)) return true;
  return false;
}

std::vector<lp::Entry> VainRows::entries_of(const Configuration& configuration) const {
  std::vector<lp::Entry> entries;
  for (const DemandIndex stay : configuration.could_stay)
    if (const std::int32_t row = vain_rows_[in_.demand.classes[stay].stays]; row >= 0) entries.push_back({row, 1});
  for (const DemandIndex stay : configuration.could_stay_by_right) {
    const RunningCellIndex cell = in_.demand.classes[stay].stays;
    if (right_rows_[cell] >= 0) entries.push_back({right_rows_[cell], 1});
    const std::int32_t row = gang_rows_[in_.demand.running[cell].gang_class];
    if (row >= 0) entries.push_back({row, 1});
  }
  return entries;
}

}  // namespace muster::formulation
