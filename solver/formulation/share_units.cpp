// The units of gangs that may count within a share: known in advance, or depending on what is placed.
#include <algorithm>
#include <map>
#include <string>

#include "heuristics/state/groups.h"
#include "model/base/tuning.h"
#include "model/objective/gang_units.h"
#include "solver/formulation/share_levels.h"

namespace muster::formulation {
namespace {

bool is_of_kind(const PodClass& pod_class, std::size_t kind) { return pod_class.counts_as_gpu == (kind == 0); }

}  // namespace

// Units that are known in advance, and, `with_varying`, the pods of the others one by one.
std::vector<ShareLevels::Units> ShareLevels::units_of(QueueIndex queue, std::int32_t priority, std::size_t kind,
                                                      bool with_varying) const {
  std::vector<Units> units;
  for (GangIndex gang : running_[queue])
    if (in_.problem.gangs[gang].priority >= priority && is_satisfied(in_.base, gang) &&
        (with_varying || varying_class(gang).is_none()))
      add_running_units(gang, kind, units);
  for (GangClassIndex index : waiting_[queue])
    if (in_.demand.gang_classes[index].priority >= priority &&
        (with_varying || varying_class(in_.demand.gang_classes[index].gangs[0]).is_none()))
      add_pending_units(index, kind, units);
  return units;
}

void ShareLevels::add_running_units(GangIndex gang, std::size_t kind, std::vector<Units>& units) const {
  std::vector<PodIndex> present;
  for (PodIndex pod : in_.problem.gangs[gang].pods)
    if (in_.base.is_present(pod)) present.push_back(pod);
  std::map<Work, std::int64_t> counts;
  for (const std::array<Work, 2>& unit : gang_units(in_.problem, gang, present)) ++counts[unit[kind]];
  for (const auto& [work, count] : counts)
    if (work > 0) units.push_back({{count, {}}, count, work});
}

void ShareLevels::add_pending_units(GangClassIndex index, std::size_t kind, std::vector<Units>& units) const {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  if (!gang_class.running.empty()) return add_leaving_units(index, kind, units);
  const std::int32_t admitted = columns_.of_gang(index).admitted;
  const auto work_of = [&](CellIndex cell) {
    const PodClass& c = in_.problem.pod_classes[in_.demand.classes[in_.demand.cells[cell].demand].pod_class];
    return is_of_kind(c, kind) ? c.work : 0;
  };
  if (gang_class.minimum > 0) {  // units of m pods, and single ones beyond
    const CellIndex cell = gang_class.cells[0];
    const Work work = work_of(cell);
    lp::LinearExpression gangs, beyond = columns_.placed(cell);
    gangs.add(admitted, 1);
    beyond.add(admitted, -gang_class.minimum);
    units.push_back({gangs, gang_class.size(), work * gang_class.minimum});
    if (const std::int64_t more = in_.demand.cells[cell].count() - gang_class.minimum; more > 0)
      units.push_back({beyond, more * gang_class.size(), work});
    return;
  }
  const Gang& gang = in_.problem.gangs[gang_class.gangs[0]];
  std::vector<PodIndex> everything;  // what runs, and all that waits: the largest that the gang can become
  for (PodIndex pod : gang.pods)
    if (in_.base.is_present(pod)) everything.push_back(pod);
  const std::size_t running = everything.size();
  for (CellIndex cell : gang_class.cells)
    everything.insert(everything.end(), in_.demand.cells[cell].pods.begin(), in_.demand.cells[cell].pods.end());
  if (!gang_class.minimum_runs && gang_units(in_.problem, gang_class.gangs[0], everything).size() == 1) {
    Units whole{{}, 1, 0};  // all or nothing
    whole.available.add(admitted, 1);
    for (PodIndex pod : everything)
      if (is_of_kind(in_.problem.class_of(pod), kind)) whole.work += in_.problem.class_of(pod).work;
    units.push_back(whole);
    return;
  }
  if (!gang_class.minimum_runs) {
    for (std::size_t i = 0; i < running; ++i) {
      const PodClass& pod_class = in_.problem.class_of(everything[i]);
      if (!is_of_kind(pod_class, kind)) continue;
      Units unit{{}, 1, pod_class.work};
      unit.available.add(admitted, 1);
      units.push_back(unit);
    }
  }
  for (CellIndex cell : gang_class.cells)  // pod by pod: exact beyond the minimum, a relaxation within it
    if (const Work work = work_of(cell); work > 0)
      units.push_back({columns_.placed(cell), in_.demand.cells[cell].count() * gang_class.size(), work});
}

// Whether all pods that could be present count equally, in one group: then it does not matter which of them are the
// minimum.
bool ShareLevels::is_alike(const GangClass& gang_class) const {
  const Gang& gang = in_.problem.gangs[gang_class.gangs.front()];
  if (!in_.problem.groups[gang.root].is_leaf()) return false;
  const auto pod_class = [&](DemandIndex demand) -> const PodClass& {
    return in_.problem.pod_classes[in_.demand.classes[demand].pod_class];
  };
  const PodClass& first = pod_class(in_.demand.running[gang_class.running.front()].stay);
  const auto is_like_first = [&](DemandIndex demand) {
    return pod_class(demand).work == first.work && pod_class(demand).counts_as_gpu == first.counts_as_gpu;
  };
  return std::ranges::all_of(gang_class.running,
                             [&](RunningCellIndex cell) { return is_like_first(in_.demand.running[cell].stay); }) &&
         std::ranges::all_of(gang_class.cells,
                             [&](CellIndex cell) { return is_like_first(in_.demand.cells[cell].demand); });
}

// For gangs that may leave: one unit for each pod if they are single or all equal, and one for the minimum; else pod by
// pod, which is a relaxation.
void ShareLevels::add_leaving_units(GangClassIndex index, std::size_t kind, std::vector<Units>& units) const {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const Gang& gang = in_.problem.gangs[gang_class.gangs.front()];
  std::int64_t most = 0, running = 0;
  lp::LinearExpression present;
  for (RunningCellIndex cell : gang_class.running) {
    const RunningCell& r = in_.demand.running[cell];
    present.add(columns_.kept(cell));
    running += r.count();
    const PodClass& pod_class = in_.problem.pod_classes[in_.demand.classes[r.stay].pod_class];
    if (!gang_class.is_singles && is_alike(gang_class)) continue;
    if (is_of_kind(pod_class, kind)) units.push_back({columns_.kept(cell), r.count(), pod_class.work});
  }
  if (gang_class.is_singles) return;
  most = running;
  for (CellIndex cell : gang_class.cells) {
    const Cell& c = in_.demand.cells[cell];
    if (!c.moves.is_none()) continue;
    present.add(columns_.placed(cell));
    most += c.count();
    const PodClass& pod_class = in_.problem.pod_classes[in_.demand.classes[c.demand].pod_class];
    if (!is_alike(gang_class) && is_of_kind(pod_class, kind))
      units.push_back({columns_.placed(cell), c.count(), pod_class.work});
  }
  if (!is_alike(gang_class)) return;
  const PodClass& pod_class =
      in_.problem.pod_classes[in_.demand.classes[in_.demand.running[gang_class.running.front()].stay].pod_class];
  if (!is_of_kind(pod_class, kind)) return;
  const std::int64_t core =
      std::max<std::int64_t>(0, in_.problem.groups[gang.root].minimum - in_.base.members(gang.root));
  const std::int32_t admitted = columns_.of_gang(index).admitted;
  Units minimum{{}, 1, pod_class.work * core};
  minimum.available.add(admitted, 1);
  units.push_back(minimum);
  // Below its minimum and left as it is, it has no unit: 1 - admitted - gone indicates this case.
  lp::LinearExpression beyond = present;
  beyond.add(admitted, -core);
  beyond.constant -= running;
  beyond.add(admitted, running);
  beyond.add(columns_.gone(index), running);
  if (most > core) units.push_back({beyond, most - core, pod_class.work});
}

// --- gangs whose units depend on which of their pods are placed, since the minimum is the least work that satisfies it

// The class of a gang of several cells or subgroups that can be placed in so few patterns that each can have a column;
// none otherwise.
GangClassIndex ShareLevels::varying_class(GangIndex gang) const {
  const auto found = first_of_class_.find(gang);
  if (found == first_of_class_.end()) return GangClassIndex::none();
  const GangClass& gang_class = in_.demand.gang_classes[found->second];
  if (!gang_class.running.empty() && is_alike(gang_class)) return GangClassIndex::none();
  std::int64_t patterns = 1;
  for (CellIndex cell : gang_class.cells)
    if (in_.demand.cells[cell].moves.is_none())
      patterns = std::min(kTuning.milp.share_ways + 1, patterns * (in_.demand.cells[cell].count() + 1));
  for (RunningCellIndex cell : gang_class.running)
    patterns = std::min(kTuning.milp.share_ways + 1, patterns * (in_.demand.running[cell].count() + 1));
  const bool varies = !gang_class.running.empty() || gang_class.lacks_resources || gang_class.cells.size() > 1 ||
                      !in_.problem.groups[in_.problem.gangs[gang].root].is_leaf() ||
                      in_.base.members(in_.problem.gangs[gang].root) > 0;
  return varies && patterns <= kTuning.milp.share_ways ? found->second : GangClassIndex::none();
}

std::vector<GangIndex> ShareLevels::varying_gangs(QueueIndex queue, std::int32_t priority) const {
  std::vector<GangIndex> gangs;
  for (GangClassIndex index : waiting_[queue]) {
    const GangIndex gang = in_.demand.gang_classes[index].gangs[0];
    if (in_.problem.gangs[gang].priority >= priority && !varying_class(gang).is_none()) gangs.push_back(gang);
  }
  return gangs;
}

// How many of each cell: one column for each pattern, exactly one of them chosen, and the cells placed accordingly.
const std::vector<ShareLevels::GangPattern>& ShareLevels::patterns_of(GangIndex gang) {
  const auto [found, is_new] = patterns_.try_emplace(gang);
  if (!is_new) return found->second;
  std::vector<GangPattern>& patterns = found->second;
  const GangClass& gang_class = in_.demand.gang_classes[varying_class(gang)];
  std::vector<PodIndex> present;
  for (PodIndex pod : in_.problem.gangs[gang].pods)
    if (in_.base.is_present(pod)) present.push_back(pod);
  // The quantities that vary: waiting pods, and running pods.
  std::vector<const std::vector<PodIndex>*> parts;
  std::vector<lp::LinearExpression> chosen;
  for (CellIndex cell : gang_class.cells) {
    if (!in_.demand.cells[cell].moves.is_none()) continue;
    parts.push_back(&in_.demand.cells[cell].pods);
    chosen.emplace_back().add(columns_.placed(cell), -1);
  }
  for (RunningCellIndex cell : gang_class.running) {
    parts.push_back(&in_.demand.running[cell].pods);
    chosen.emplace_back().add(columns_.kept(cell), -1);
  }
  std::vector<std::size_t> counts(parts.size(), 0);
  lp::LinearExpression one;
  for (bool more = true; more;) {
    std::vector<PodIndex> pods = present;
    GangPattern pattern;
    pattern.column = model_.add_column(0, 1, true, "v" + std::to_string(model_.columns()));
    one.add(pattern.column, 1);
    for (std::size_t c = 0; c < counts.size(); ++c) {
      pods.insert(pods.end(), parts[c]->begin(), parts[c]->begin() + static_cast<std::ptrdiff_t>(counts[c]));
      chosen[c].add(pattern.column, static_cast<std::int64_t>(counts[c]));
    }
    pattern.units = gang_units(in_.problem, gang, pods);
    patterns.push_back(std::move(pattern));
    std::size_t c = 0;
    while (c < counts.size() && ++counts[c] > parts[c]->size()) counts[c++] = 0;
    more = c < counts.size();
  }
  model_.add_constraint(one, 1, 1, "one_way");
  for (const lp::LinearExpression& cell : chosen) model_.add_constraint(cell, 0, 0, "way");
  return patterns;
}

// Adds what counts of the gang within the share: units of the pattern that is chosen.
void ShareLevels::add_varying_units(GangIndex gang, std::size_t kind, lp::LinearExpression& counted) {
  for (const GangPattern& pattern : patterns_of(gang)) {
    std::map<Work, std::int64_t> units;
    for (const std::array<Work, 2>& unit : pattern.units)
      if (unit[kind] > 0) ++units[unit[kind]];
    for (const auto& [work, count] : units) {
      const std::int32_t column =
          model_.add_column(0, static_cast<double>(count), true, "s" + std::to_string(model_.columns()));
      lp::LinearExpression slack;
      slack.add(pattern.column, count);
      slack.add(column, -1);
      model_.add_constraint(slack, 0, lp::kInfinity, "units");
      counted.add(column, work);
    }
  }
}

}  // namespace muster::formulation
