#include "solver/rows/reclaim_rows.h"

#include <algorithm>
#include <set>
#include <string>

#include "heuristics/state/fit.h"
#include "model/base/require.h"

namespace muster::formulation {
namespace {

bool is_unlimited(Amount amount) { return amount == kUnlimited || amount == kNoBound; }

}  // namespace

void ReclaimRows::add() {
  MUSTER_REQUIRE(reclaims_.empty());
  collect();
  for (auto& [key, reclaim] : reclaims_) add_reclaim(reclaim);
}

void ReclaimRows::collect() {
  for (const GangClassIndex index : in_.demand.gang_classes.indices())
    for (const ExitColumns& exit : columns_.exits(index)) {
      if (evictions_.channel_of(exit).reason != EvictionReason::kReclaim) continue;
      const preemption::EvictionRules::Sides sides =
          in_.rules.sides(evictions_.claiming_queue(exit), in_.demand.gang_classes[index].queue);
      Reclaim& reclaim = reclaims_[{exit.channel, sides.claimant, sides.victim}];
      reclaim.channel = exit.channel;
      reclaim.sides = sides;
      reclaim.evicted.add(columns_.evicted_by(index, exit));
    }
}

void ReclaimRows::add_reclaim(Reclaim& reclaim) {
  const std::int32_t first = model_.columns();
  const GangIndex claimant = evictions_.channels()[reclaim.channel].claimant;
  const Gang& gang = in_.problem.gangs[claimant];
  const auto& asked = in_.rules.asked_for(claimant);
  const std::string label = std::to_string(reclaim.channel) + "_" + std::to_string(reclaim.sides.victim.value());
  const std::int32_t active = model_.add_column(0, 1, true, "reclaim" + label);
  model_.set_structure(active);
  reclaim.active = active;
  std::int64_t most = 0;
  for (const auto& [column, coefficient] : reclaim.evicted.terms)
    most += coefficient * static_cast<std::int64_t>(model_.upper(column));
  lp::LinearExpression evicted = reclaim.evicted, granted = evictions_.channels()[reclaim.channel].granted;
  evicted.add(active, -most);
  model_.add_constraint(evicted, -lp::kInfinity, 0, "reclaimed" + label);
  granted.add(active, -1);
  model_.add_constraint(granted, 0, lp::kInfinity, "reclaimer" + label);
  for (const QueueIndex queue : in_.problem.queues[gang.queue].ancestors) {
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      if (!asked[r]) continue;
      if (!is_unlimited(in_.shares.share[queue][r]))
        model_.add_implied(active, queues_.usage_of(queue, r, false), -lp::kInfinity,
                           static_cast<double>(in_.shares.share[queue][r]));
      if (!gang.preemptible && !is_unlimited(in_.problem.queues[queue].quota[r]))
        model_.add_implied(active, queues_.usage_of(queue, r, true), -lp::kInfinity,
                           static_cast<double>(in_.problem.queues[queue].quota[r]));
    }
    if (queue == reclaim.sides.claimant) break;
  }
  add_grounds(reclaim, active);
  columns_.set_owner(first, model_.columns(),
                     {GangClassIndex::none(), NodeIndex::none(), ZoneIndex::none(), reclaim.channel});
}

void ReclaimRows::add_grounds(const Reclaim& reclaim, std::int32_t active) {
  const auto& asked = in_.rules.asked_for(evictions_.channels()[reclaim.channel].claimant);
  const QueueIndex victim = reclaim.sides.victim, claimant = reclaim.sides.claimant;
  const QueueAmounts& usage = in_.before.queues().usage()[victim];
  lp::LinearExpression grounds;
  grounds.add(active, -1);
  for (const bool by_share : {true, false}) {
    const QueueAmounts& bound = by_share ? in_.shares.share[victim] : in_.problem.queues[victim].quota;
    bool was_over = false;
    for (std::size_t r = 0; r < kQueueResources; ++r)
      was_over = was_over || (asked[r] && !is_unlimited(bound[r]) && usage[r] > bound[r]);
    for (std::size_t r = 0; r < kQueueResources && was_over; ++r) {
      if (!asked[r] || is_unlimited(bound[r])) continue;
      const std::int32_t ground = model_.add_column(0, 1, true, "ground" + std::to_string(model_.columns()));
      model_.set_structure(ground);
      grounds.add(ground, 1);
      lp::LinearExpression before_last = queues_.usage_of(victim, r, false);
      before_last.add(largest_unit(victim, r));
      model_.add_implied(ground, before_last, static_cast<double>(bound[r] + 1), lp::kInfinity);
      if (by_share) continue;
      const QueueAmounts& quota = in_.problem.queues[claimant].quota;
      for (std::size_t i = 0; i < kQueueResources; ++i)
        if (asked[i] && !is_unlimited(quota[i]))
          model_.add_implied(ground, queues_.usage_of(claimant, i, false), -lp::kInfinity,
                             static_cast<double>(quota[i]));
    }
  }
  model_.add_constraint(grounds, 0, lp::kInfinity, "grounds");
}

// The largest unit that is reclaimed from the side: of a gang that leaves whole its minimum is one unit, every other
// leaving pod is one by itself.
const lp::LinearExpression& ReclaimRows::largest_unit(QueueIndex side, std::size_t resource) {
  const auto [found, is_new] = largest_units_.try_emplace({side, resource});
  if (!is_new) return found->second;
  std::map<Amount, lp::LinearExpression> units;  // by size: how many are reclaimed
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    if (columns_.of_gang(index).split >= 0) add_split_unit(index, side, resource, units);
    for (const ExitColumns& exit : columns_.exits(index)) {
      if (evictions_.channel_of(exit).reason != EvictionReason::kReclaim) continue;
      const QueueIndex claimant = evictions_.claiming_queue(exit);
      if (in_.rules.sides(claimant, in_.demand.gang_classes[index].queue).victim == side)
        collect_units(index, exit, resource, units);
    }
  }
  lp::LinearExpression one;
  for (const auto& [size, count] : units) {
    if (size == 0) continue;
    const std::int32_t column = model_.add_column(0, 1, true, "unit" + std::to_string(model_.columns()));
    one.add(column, 1);
    lp::LinearExpression there = count;
    there.add(column, -1);
    model_.add_constraint(there, 0, lp::kInfinity, "unit_there");
    found->second.add(column, size);
  }
  if (!one.terms.empty()) model_.add_constraint(one, -lp::kInfinity, 1, "unit_one");
  return found->second;
}

// The minimum of a split gang is one unit of each side of which any pod of it is reclaimed.
void ReclaimRows::add_split_unit(GangClassIndex index, QueueIndex side, std::size_t resource,
                                 std::map<Amount, lp::LinearExpression>& units) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const std::vector<PodIndex> core = core_of(gang_class.gangs.front());
  if (core.size() < 2) return;  // as its pod by itself
  std::set<RunningCellIndex> cells;
  Amount together = 0;
  for (const PodIndex pod : core) {
    cells.insert(in_.demand.running_cell_of[pod]);
    together += in_.demand.running[in_.demand.running_cell_of[pod]].usage[resource];
  }
  lp::LinearExpression reclaimed;
  for (const ExitColumns& exit : columns_.exits(index)) {
    if (evictions_.channel_of(exit).reason != EvictionReason::kReclaim) continue;
    const QueueIndex claimant = evictions_.claiming_queue(exit);
    if (in_.rules.sides(claimant, gang_class.queue).victim != side) continue;
    for (std::size_t v = 0; v < gang_class.running.size(); ++v)
      if (cells.contains(gang_class.running[v])) reclaimed.add(exit.surplus[v], 1);
  }
  if (reclaimed.terms.empty() || together == 0) return;
  const std::int32_t unit = model_.add_column(0, 1, false, "split_unit" + std::to_string(model_.columns()));
  lp::LinearExpression of_split;
  of_split.add(columns_.of_gang(index).split, 1);
  of_split.add(unit, -1);
  reclaimed.add(unit, -1);
  model_.add_constraint(of_split, 0, lp::kInfinity, "split_unit");
  model_.add_constraint(reclaimed, 0, lp::kInfinity, "split_unit");
  units[together].add(unit, 1);
}

void ReclaimRows::collect_units(GangClassIndex index, const ExitColumns& exit, std::size_t resource,
                                std::map<Amount, lp::LinearExpression>& units) const {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const auto usage = [&](RunningCellIndex cell) { return in_.demand.running[cell].usage[resource]; };
  for (std::size_t v = 0; v < exit.surplus.size(); ++v) units[usage(gang_class.running[v])].add(exit.surplus[v], 1);
  if (exit.gone < 0) return;
  if (gang_class.is_singles) {
    units[usage(gang_class.running.front())].add(exit.gone, 1);
    return;
  }
  const std::vector<PodIndex> core = core_of(gang_class.gangs.front());
  Amount together = 0;
  for (PodIndex pod : core) together += usage(in_.demand.running_cell_of[pod]);
  units[together].add(exit.gone, 1);
  for (RunningCellIndex cell : gang_class.running)
    for (PodIndex pod : in_.demand.running[cell].pods)
      if (std::find(core.begin(), core.end(), pod) == core.end()) units[usage(cell)].add(exit.gone, 1);
}

// The running pods with the least work that make up the gang's minimum; all of them if they do not make it up.
std::vector<PodIndex> ReclaimRows::core_of(GangIndex index) const {
  const Gang& gang = in_.problem.gangs[index];
  struct Part {
    Work work = 0;
    std::vector<PodIndex> pods;
  };
  std::map<GroupIndex, std::vector<Part>> parts;
  std::vector<PodIndex> all;
  for (PodIndex pod : gang.pods) {
    const Pod& p = in_.problem.pods[pod];
    if (p.status == PodStatus::kSucceeded) parts[p.group].push_back({});
    if (in_.demand.running_cell_of[pod].is_none()) continue;
    parts[p.group].push_back({p.weighted_work, {pod}});
    all.push_back(pod);
  }
  for (std::size_t at = gang.groups.size(); at-- > 0;) {  // children before parents
    const Group& g = in_.problem.groups[gang.groups[at]];
    std::vector<Part>& own = parts[gang.groups[at]];
    const auto needed = static_cast<std::size_t>(std::max(g.minimum, 0));
    if (own.size() < needed) continue;
    std::stable_sort(own.begin(), own.end(), [](const Part& a, const Part& b) { return a.work < b.work; });
    Part sum;
    for (std::size_t i = 0; i < needed; ++i) {
      sum.work += own[i].work;
      sum.pods.insert(sum.pods.end(), own[i].pods.begin(), own[i].pods.end());
    }
    if (g.parent.is_none()) return sum.pods;
    parts[g.parent].push_back(std::move(sum));
  }
  return all;
}

std::vector<std::int32_t> ReclaimRows::keeping_to_share(QueueIndex queue) const {
  std::vector<std::int32_t> columns;
  for (const auto& [key, reclaim] : reclaims_)
    if (keeps_to_share(reclaim, queue)) columns.push_back(reclaim.active);
  return columns;
}

// Whether running pods of the queue count in a share that the reclaim must not exceed.
bool ReclaimRows::keeps_to_share(const Reclaim& reclaim, QueueIndex queue) const {
  const std::vector<QueueIndex>& above = in_.problem.queues[queue].ancestors;
  const QueueIndex claimant = in_.problem.gangs[evictions_.channels()[reclaim.channel].claimant].queue;
  for (const QueueIndex bounded : in_.problem.queues[claimant].ancestors) {
    if (std::ranges::find(above, bounded) != above.end()) return true;
    if (bounded == reclaim.sides.claimant) return false;
  }
  return false;
}

}  // namespace muster::formulation
