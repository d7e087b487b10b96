// The levels of docs/semantics.md as linear expressions over the columns of the formulation.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "heuristics/state/groups.h"
#include "model/base/saturating.h"
#include "model/objective/evaluation.h"
#include "solver/formulation/formulation.h"

namespace muster::formulation {
namespace {

bool counts_in(const PodClass& pod_class, std::size_t kind) { return pod_class.counts_as_gpu == (kind == 0); }

// The maximum that can run at one time, as work: of pods with GPUs no more than the devices, unless some pod's work is
// more than what it takes of them (rounded up, or measured on a smaller device than the one that it lands on).
Work most_at_once(const Problem& problem, std::size_t kind) {
  const bool is_bounded = kind == 0 && std::ranges::all_of(problem.pod_classes, [](const PodClass& pod_class) {
                            return !pod_class.counts_as_gpu || (pod_class.gpu.kind != GpuRequestKind::kMemory &&
                                                                1000 * pod_class.work <= pod_class.smallest_gpu_usage);
                          });
  return is_bounded ? problem.total[kQueueGpu] / 1000 : std::numeric_limits<Work>::max();
}

}  // namespace

std::optional<lp::LinearExpression> Formulation::level(const LevelId& id) {
  switch (id.kind) {
    case LevelKind::kShare:
    case LevelKind::kQuota:
      return forest_level(id);
    case LevelKind::kWork:
      return work_level(id.priority);
    case LevelKind::kSeniority:
      return seniority_level();
    case LevelKind::kWholeNodes:
      return whole_nodes_level();
    case LevelKind::kCpuOnGpuNodes:
      return cpu_on_gpu_nodes_level();
    case LevelKind::kWholeDomains:
    case LevelKind::kGangNodes:
    case LevelKind::kGangDomains:
    case LevelKind::kGangModels:
      return std::nullopt;
    case LevelKind::kPreference:
      return preference_level();
    case LevelKind::kFragmentation:
      return last_level();
    case LevelKind::kPreempted:
    case LevelKind::kEvictedBeyond:
    case LevelKind::kEvicted:
      return evicted_level(id);
    case LevelKind::kMoved:
      return moved_level();
  }
  return std::nullopt;
}

lp::LinearExpression Formulation::work_level(std::int32_t priority) const {
  lp::LinearExpression work;
  for (PodIndex pod : in_.problem.pods.indices()) {
    const Gang& gang = in_.problem.gangs[in_.problem.pods[pod].gang];
    if (in_.base.is_present(pod) && gang.queue_is_leaf && gang.priority >= priority)
      work.constant += in_.problem.pods[pod].weighted_work;
  }
  for (CellIndex cell : in_.demand.cells.indices())
    if (in_.demand.cells[cell].moves.is_none() &&
        in_.demand.gang_classes[in_.demand.cells[cell].gang_class].priority >= priority)
      work.add(placed(cell), in_.demand.classes[in_.demand.cells[cell].demand].weighted_work);
  for (RunningCellIndex cell : in_.demand.running.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[in_.demand.running[cell].gang_class];
    if (in_.problem.gangs[gang_class.gangs.front()].queue_is_leaf && gang_class.priority >= priority)
      work.add(kept(cell), in_.demand.classes[in_.demand.running[cell].stay].weighted_work);
  }
  return work;
}

// --- evicted, moved

bool Formulation::counts_evicted(const LevelId& id, const GangClass& gang_class, const Exit& exit) const {
  const EvictionReason reason = channels_[exit.channel].reason;
  if (reason == EvictionReason::kStale) return false;
  if (id.kind == LevelKind::kEvicted) return true;
  const bool is_beyond = in_.shares.beyond[gang_class.gangs.front()];
  if (gang_class.priority < id.priority || is_beyond != (id.kind == LevelKind::kEvictedBeyond)) return false;
  return is_beyond || reason == EvictionReason::kPreempt;
}

lp::LinearExpression Formulation::evicted_level(const LevelId& id) {
  lp::LinearExpression evicted;
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    for (const Exit& exit : exits_[index]) {
      if (!counts_evicted(id, gang_class, exit)) continue;
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

// What is reclaimed counts, too, where a gang is placed that might preempt it.
void Formulation::add_reclaimed(const LevelId& id, lp::LinearExpression& preempted) {
  std::map<std::pair<QueueIndex, std::int32_t>, lp::LinearExpression> reclaimed;
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    if (gang_class.priority < id.priority || in_.shares.beyond[gang_class.gangs.front()]) continue;
    for (const Exit& exit : exits_[index])
      for (std::size_t v = 0; v < gang_class.running.size(); ++v)
        if (channels_[exit.channel].reason == EvictionReason::kReclaim)
          reclaimed[{gang_class.queue, gang_class.priority}].add(evicted_of(index, exit, v),
                                                                 in_.demand.running[gang_class.running[v]].cost);
  }
  for (const auto& [of, work] : reclaimed) preempted.add(reclaimed_in_reach(of.first, of.second, work));
}

// r as far as it counts, for victims of one queue and priority: a column c >= r - most (1 - b), with b = 1 if any pod
// is placed of a gang that may preempt them.
lp::LinearExpression Formulation::reclaimed_in_reach(QueueIndex queue, std::int32_t priority,
                                                     const lp::LinearExpression& reclaimed) {
  const auto channel = preempt_channels_.find({queue, priority});
  if (channel == preempt_channels_.end() || !channel->second) return {};
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
  for (const GangClassIndex index : channels_[*channel->second].claimants) {
    lp::LinearExpression pods = waiting_pods(in_.demand.gang_classes[index]);
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

lp::LinearExpression Formulation::moved_level() const {
  lp::LinearExpression moved;
  for (const RunningCell& cell : in_.demand.running)
    if (!cell.move.is_none()) moved.add(placed(cell.move), in_.demand.classes[cell.stay].weighted_work);
  return moved;
}

// --- share and quota: over the forest, a queue counts no more than its own share or quota

lp::LinearExpression Formulation::forest_level(const LevelId& id) {
  lp::LinearExpression sum;
  for (QueueIndex root : root_queues(in_.problem))
    for (std::size_t kind = 0; kind < 2; ++kind) sum.add(queue_level(root, id, kind).expression);
  return sum;
}

Formulation::Bounded Formulation::queue_level(QueueIndex queue, const LevelId& id, std::size_t kind) {
  const bool is_share = id.kind == LevelKind::kShare;
  const std::int64_t cap = (is_share ? in_.shares.share_work : in_.shares.quota_work)[queue][kind];
  const Queue& q = in_.problem.queues[queue];
  if (q.is_leaf()) {
    if (is_share) return leaf_share(queue, id.priority, kind);
    return capped(leaf_work(queue, id.priority, kind), cap, "quota_work");
  }
  Bounded sum;
  for (QueueIndex child : q.children) {
    const Bounded part = queue_level(child, id, kind);
    sum.expression.add(part.expression);
    sum.most += part.most;
  }
  return capped(std::move(sum), cap, "inner_work");
}

// min(inner, cap): a column below both, unless the cap cannot bind.
Formulation::Bounded Formulation::capped(Bounded inner, std::int64_t cap, const char* label) {
  if (inner.most <= cap) return inner;
  if (inner.expression.terms.empty()) {
    inner.expression.constant = std::min(inner.expression.constant, cap);
    return {inner.expression, inner.expression.constant};
  }
  // In units of the common divisor: as an integer it lets CBC prove in an instant what it searches for as a fraction.
  std::int64_t unit = std::gcd(cap, inner.expression.constant);
  for (const auto& [term, coefficient] : inner.expression.terms) unit = std::gcd(unit, coefficient);
  const std::int32_t column =
      model_.add_column(0, static_cast<double>(cap / unit), true, label + std::to_string(model_.columns()));
  lp::LinearExpression slack = inner.expression;
  slack.add(column, -unit);
  model_.add_constraint(slack, 0, lp::kInfinity, label);
  Bounded result;
  result.expression.add(column, unit);
  result.most = cap;
  return result;
}

Formulation::Bounded Formulation::leaf_work(QueueIndex queue, std::int32_t priority, std::size_t kind) const {
  Bounded work;
  for (GangIndex gang : running_[queue]) {
    if (in_.problem.gangs[gang].priority < priority) continue;
    for (PodIndex pod : in_.problem.gangs[gang].pods)
      if (in_.base.is_present(pod) && counts_in(in_.problem.class_of(pod), kind))
        work.expression.constant += in_.problem.class_of(pod).work;
  }
  work.most = work.expression.constant;
  for (GangClassIndex index : waiting_[queue]) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    if (gang_class.priority < priority) continue;
    for (RunningCellIndex cell : gang_class.running) {
      const PodClass& pod_class = in_.problem.pod_classes[in_.demand.classes[in_.demand.running[cell].stay].pod_class];
      if (!counts_in(pod_class, kind)) continue;
      work.expression.add(kept(cell), pod_class.work);
      work.most += in_.demand.running[cell].count() * pod_class.work;
    }
    for (CellIndex cell : gang_class.cells) {
      const PodClass& pod_class = in_.problem.pod_classes[in_.demand.classes[in_.demand.cells[cell].demand].pod_class];
      if (!counts_in(pod_class, kind) || !in_.demand.cells[cell].moves.is_none()) continue;
      work.expression.add(placed(cell), pod_class.work);
      work.most += in_.demand.cells[cell].count() * gang_class.size() * pod_class.work;
    }
  }
  return work;
}

// The most work of whole units that fit together in the share: sum of work x counted, counted <= available, all of it
// <= F.
Formulation::Bounded Formulation::leaf_share(QueueIndex queue, std::int32_t priority, std::size_t kind) {
  const std::int64_t share = in_.shares.share_work[queue][kind];
  Bounded all;
  for (const Units& u : units_of(queue, priority, kind, true)) {
    all.expression.add(u.available, u.work);
    all.most += u.most * u.work;
  }
  const std::vector<GangIndex> varying = varying_gangs(queue, priority);
  // Pods that run below their gang's minimum are no units, unless it is completed.
  const bool may_lie_below = std::any_of(varying.begin(), varying.end(), [&](GangIndex gang) {
    const GangClass& gang_class = in_.demand.gang_classes[varying_class(gang)];
    return !gang_class.running.empty() && !gang_class.minimum_runs;
  });
  all.most = std::min(all.most, most_at_once(in_.problem, kind));
  if (all.most <= share && !may_lie_below) return all;
  lp::LinearExpression counted;
  for (GangIndex gang : varying) add_varying_units(gang, kind, counted);
  std::map<Work, Units> by_work;  // it does not matter which gang's unit of a size counts
  for (const Units& u : units_of(queue, priority, kind, false)) {
    if (u.work == 0 || u.work > share) continue;
    Units& all_of_it = by_work[u.work];
    all_of_it.available.add(u.available);
    all_of_it.most += u.most;
  }
  for (const auto& [work, u] : by_work) {
    const std::int32_t column =
        model_.add_column(0, static_cast<double>(u.most), true, "s" + std::to_string(model_.columns()));
    lp::LinearExpression slack = u.available;
    slack.add(column, -1);
    model_.add_constraint(slack, 0, lp::kInfinity, "units");
    counted.add(column, work);
  }
  model_.add_constraint(counted, -lp::kInfinity, static_cast<double>(share), "share" + std::to_string(queue.value()));
  return {counted, std::min(share, all.most)};
}

// --- seniority, preference, last level

lp::LinearExpression Formulation::seniority_level() {
  lp::LinearExpression seniority;
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    if (gang_class.is_singles) continue;  // a moved pod has had its turn
    const auto waited = [&](GangIndex gang) { return in_.problem.gangs[gang].times.seniority; };
    if (waited(gang_class.gangs.front()) == waited(gang_class.gangs.back())) {
      for (CellIndex cell : gang_class.cells)
        if (in_.demand.cells[cell].moves.is_none())
          seniority.add(placed(cell),
                        saturating_multiply(in_.demand.classes[in_.demand.cells[cell].demand].weighted_work,
                                            waited(gang_class.gangs.front())));
      continue;
    }
    // All or nothing, of several ages: the oldest first is best, so one column for each age, filled in order of its
    // worth.
    const CellIndex cell = gang_class.cells[0];
    const Work work = in_.demand.classes[in_.demand.cells[cell].demand].weighted_work * in_.demand.cells[cell].count();
    lp::LinearExpression all;
    all.add(gang_columns_[index].admitted, -1);
    for (std::size_t i = 0, end = 0; i < gang_class.gangs.size(); i = end) {
      while (end < gang_class.gangs.size() && waited(gang_class.gangs[end]) == waited(gang_class.gangs[i])) ++end;
      const std::int32_t column =
          model_.add_column(0, static_cast<double>(end - i), true, "age" + std::to_string(model_.columns()));
      all.add(column, 1);
      seniority.add(column, saturating_multiply(work, waited(gang_class.gangs[i])));
    }
    model_.add_constraint(all, 0, 0, "ages" + std::to_string(index.value()));
  }
  return seniority;
}

// On nodes: terms met, soft taints, nominated nodes. Of groups: in one domain of their preferred level. Scale 100.
std::optional<lp::LinearExpression> Formulation::preference_level() {
  if (!in_.exact) return std::nullopt;  // configurations may hold more than is placed
  if (!in_.problem.inter_pod.preferred_terms.empty())
    return std::nullopt;  // it does not model preferred terms between pods
  lp::LinearExpression preference;
  for (ResidualClassIndex residual : in_.supply.residuals.indices()) {
    const ResidualClass& r = in_.supply.residuals[residual];
    for (const ConfigurationColumn& configuration : configurations_[residual])
      for (const auto& [demand, count] : configuration.counts) {
        const DemandClass& d = in_.demand.classes[demand];
        if (!d.stays.is_none()) continue;
        const PodClass& pod_class = in_.problem.pod_classes[d.pod_class];
        std::int64_t worth = pod_class.preferences.preferred_weight[r.node_class.value()];
        worth -= 100 * pod_class.preferences.untolerated_soft_taints[r.node_class.value()];
        if (!d.nominated_node.is_none() && r.nodes.front() == d.nominated_node) worth += 100;
        preference.add(configuration.column, worth * count * d.weighted_work);
      }
  }
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    const Gang& gang = in_.problem.gangs[in_.demand.gang_classes[index].gangs[0]];
    for (GroupIndex group : gang.groups)
      if (!in_.problem.groups[group].preferred_level.is_none()) add_preferred_domain(index, group, preference);
  }
  return preference;
}

// 100 x work of the pods placed, if all that run or are placed lie in one domain: w <= 100 x work, w <= M sum q_v, and
// nothing outside v where q_v = 1.
void Formulation::add_preferred_domain(GangClassIndex index, GroupIndex group, lp::LinearExpression& preference) {
  const TopologyLevelIndex level = in_.problem.groups[group].preferred_level;
  const std::vector<CellIndex> cells = cells_below(index, group);
  lp::LinearExpression all, work;
  std::int64_t members = 0, most = 0;
  for (CellIndex cell : cells) {
    const Work each = 100 * in_.demand.classes[in_.demand.cells[cell].demand].weighted_work;
    all.add(placed(cell));
    work.add(placed(cell), each);
    members += in_.demand.cells[cell].count();
    most += in_.demand.cells[cell].count() * each;
  }
  if (members == 0) return;
  const std::vector<RunningCellIndex> leaving = running_below(index, group);
  for (RunningCellIndex cell : leaving) {
    all.add(staying(cell));
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
    for (CellIndex cell : cells) outside.add(placed_in(cell, domain, level), -1);
    for (RunningCellIndex cell : leaving)
      if (domain_of(cell, level) == domain) outside.add(staying(cell), -1);
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

std::optional<lp::LinearExpression> Formulation::last_level() {
  if (!in_.exact) return std::nullopt;
  lp::LinearExpression sum;
  for (NodeIndex node : in_.problem.nodes.indices())
    if (in_.problem.class_of(node).cordoned &&
        in_.supply.residual_of[node].is_none())  // what runs there stays as it is
      sum.constant += last_level_of(
          in_.problem, {in_.problem.nodes[node].node_class, in_.base.free(node), in_.base.free_devices(node)});
  for (ResidualClassIndex residual : in_.supply.residuals.indices())
    for (const ConfigurationColumn& configuration : configurations_[residual])
      sum.add(configuration.column, configuration.last_level);
  return sum;
}

}  // namespace muster::formulation
