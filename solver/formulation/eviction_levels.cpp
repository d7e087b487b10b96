#include "solver/formulation/eviction_levels.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "model/base/saturating.h"

namespace muster::formulation {

lp::LinearExpression EvictionLevels::evicted(const LevelId& id) {
  lp::LinearExpression evicted;
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    for (const ExitColumns& exit : columns_.exits(index)) {
      if (!counts(id, gang_class, exit)) continue;
      for (std::size_t v = 0; v < gang_class.running.size(); ++v) {
        const RunningCell& cell = in_.demand.running[gang_class.running[v]];
        if (exit.gone >= 0) evicted.add(exit.gone, (gang_class.is_singles ? 1 : cell.count()) * cell.cost);
        if (!exit.surplus.empty()) evicted.add(exit.surplus[v], cell.cost);
      }
    }
  }
  if (id.kind == LevelKind::kPreempted) add_reclaimed(id, evicted);
  return evicted;
}

bool EvictionLevels::counts(const LevelId& id, const GangClass& gang_class, const ExitColumns& exit) const {
  const EvictionReason reason = evictions_.channel_of(exit).reason;
  if (reason == EvictionReason::kStale) return false;
  if (id.kind == LevelKind::kEvicted) return true;
  const bool is_beyond = in_.shares.beyond[gang_class.gangs.front()];
  if (gang_class.priority < id.priority || is_beyond != (id.kind == LevelKind::kEvictedBeyond)) return false;
  return is_beyond || reason == EvictionReason::kPreempt;
}

// What is reclaimed counts, too, where a gang is placed that might preempt it.
void EvictionLevels::add_reclaimed(const LevelId& id, lp::LinearExpression& preempted) {
  std::map<std::pair<QueueIndex, std::int32_t>, lp::LinearExpression> reclaimed;
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    if (gang_class.priority < id.priority || in_.shares.beyond[gang_class.gangs.front()]) continue;
    for (const ExitColumns& exit : columns_.exits(index))
      for (std::size_t v = 0; v < gang_class.running.size(); ++v)
        if (evictions_.channel_of(exit).reason == EvictionReason::kReclaim)
          reclaimed[{gang_class.queue, gang_class.priority}].add(columns_.evicted_of(index, exit, v),
                                                                 in_.demand.running[gang_class.running[v]].cost);
  }
  for (const auto& [of, work] : reclaimed) preempted.add(reclaimed_in_reach(of.first, of.second, work));
}

// r as far as it counts, for victims of one queue and priority: a column c >= r - most (1 - b), with b = 1 if any pod
// is placed of a gang that may preempt them.
lp::LinearExpression EvictionLevels::reclaimed_in_reach(QueueIndex queue, std::int32_t priority,
                                                        const lp::LinearExpression& reclaimed) {
  const EvictionChannel* channel = evictions_.preempting(queue, priority);
  if (channel == nullptr) return {};
  const auto [found, is_new] = reclaimed_.try_emplace({queue, priority});
  if (!is_new) return found->second;
  constexpr std::int64_t kExact = std::int64_t{1} << 53;  // integers up to it are doubles
  const auto most_of = [&](const lp::LinearExpression& expression) {
    std::int64_t most = expression.constant;
    for (const auto& [column, coefficient] : expression.terms)
      most = saturating_add(most, saturating_multiply(coefficient, static_cast<std::int64_t>(model_.upper(column))));
    return most;
  };
  const std::int64_t most = most_of(reclaimed);
  if (most == 0 || most > kExact) return {};  // beyond it the level counts less
  const std::string label = std::to_string(queue.value()) + "_" + std::to_string(priority);
  const std::int32_t is_placed = model_.add_column(0, 1, true, "may_preempt" + label);
  for (const GangClassIndex index : channel->claimants) {
    lp::LinearExpression pods = columns_.waiting_pods(in_.demand.gang_classes[index]);
    pods.add(is_placed, -most_of(pods));
    model_.add_constraint(pods, -lp::kInfinity, 0, "may_preempt" + label);
  }
  std::int64_t unit = 0;
  for (const auto& [column, coefficient] : reclaimed.terms) unit = std::gcd(unit, coefficient);
  const std::int32_t counted =
      model_.add_column(0, static_cast<double>(most / unit), true, "reclaimed_in_reach" + label);
  lp::LinearExpression row = reclaimed;
  row.add(is_placed, most);
  row.add(counted, -unit);
  model_.add_constraint(row, -lp::kInfinity, static_cast<double>(most), "reclaimed_in_reach" + label);
  found->second.add(counted, unit);
  return found->second;
}

lp::LinearExpression EvictionLevels::moved() const {
  lp::LinearExpression moved;
  for (const RunningCell& cell : in_.demand.running)
    if (!cell.move.is_none()) moved.add(columns_.placed(cell.move), in_.demand.classes[cell.stay].weighted_work);
  return moved;
}

}  // namespace muster::formulation
