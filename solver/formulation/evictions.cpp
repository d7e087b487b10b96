// Evictions in the formulation: the victims, their channels, and the constraints of the rules (docs/semantics.md,
// "Evictions").
//
// Rows      preempt channel (q, p): pods evicted <= M x pods placed of gangs of q above p that may preempt
//           reclaim channel k between two sides: pods evicted <= M a, a <= pods placed of the claimants; where a = 1
//             usage <= share on the claimant's queues up to its side, in what it asks for (quota for what is not
//             preemptible), and one of the grounds h holds: usage of the victims' side + the largest unit reclaimed
//             from it > share; or the same with quota, and the claimant's side within quota
//           largest unit of a side: L = sum of size x w, sum of w <= 1, w <= units of that size that are reclaimed
//           split gangs: all pods of each cell go; with a minimum run time, enough of them by channels that do not
//             protect them; the minimum is a unit of a side if any pod of it is reclaimed from there
//           moves: sum over cells <= maxMoves
//           disruption budget b: pods of its running cells that do not stay <= what it allows
//           not in vain: nodes that a pod of a cell has left although it could have stayed <= n_v if its gang leaves
//             whole, 0 else; the same, next to gangs alone that may evict it, <= moved pods of the cell, too; and of a
//             gang that leaves whole, with one pod on each node, fewer than all of its pods. Only for cells that
//             nothing but capacity (or a share that a reclaim keeps to) could keep out, and if configurations are
//             listed. Mostly the levels ensure this, since a staying pod adds work; but a gang's smallest minimum may
//             be worth less with one more pod.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "model/problem/exceeded.h"
#include "solver/formulation/formulation.h"
#include "solver/formulation/price_rows.h"

namespace muster::formulation {
namespace {

bool is_unlimited(Amount amount) { return amount == kUnlimited || amount == kNoBound; }

std::int64_t divide_down(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
std::int64_t divide_up(std::int64_t a, std::int64_t b) { return -divide_down(-a, b); }

}  // namespace

// --- the remaining pods

lp::LinearExpression Formulation::gone(GangClassIndex index) const {
  lp::LinearExpression gangs;
  for (const Exit& exit : exits_[index])
    if (exit.gone >= 0) gangs.add(exit.gone, 1);
  if (const std::int32_t split = gang_columns_[index].split; split >= 0) gangs.add(split, 1);
  return gangs;
}

lp::LinearExpression Formulation::kept(RunningCellIndex index) const {
  const RunningCell& cell = in_.demand.running[index];
  const GangClass& gang_class = in_.demand.gang_classes[cell.gang_class];
  lp::LinearExpression left{cell.count(), {}};
  const auto position = std::find(gang_class.running.begin(), gang_class.running.end(), index);
  for (const Exit& exit : exits_[cell.gang_class])
    left.add(evicted_of(cell.gang_class, exit, static_cast<std::size_t>(position - gang_class.running.begin())), -1);
  return left;
}

lp::LinearExpression Formulation::staying(RunningCellIndex index) const {
  lp::LinearExpression left = kept(index);
  if (const CellIndex move = in_.demand.running[index].move; !move.is_none()) left.add(placed(move), -1);
  return left;
}

// --- exits and channels

// Pods that waited and are placed: a pod that is only moved claims nothing.
lp::LinearExpression Formulation::waiting_pods(const GangClass& gang_class) const {
  lp::LinearExpression pods;
  for (CellIndex cell : gang_class.cells)
    if (in_.demand.cells[cell].moves.is_none()) pods.add(placed(cell));
  return pods;
}

void Formulation::add_exits() {
  find_reclaimers();
  for (GangClassIndex index : in_.demand.gang_classes.indices())
    if (!in_.demand.gang_classes[index].running.empty()) add_exits_of(index);
  for (GangClassIndex index : in_.demand.gang_classes.indices())
    if (!in_.demand.gang_classes[index].running.empty()) tie_exits(index);
}

// The kinds of gangs that wait and may reclaim.
void Formulation::find_reclaimers() {
  if (!in_.problem.snapshot->policy.actions.reclaim) return;
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    const GangIndex gang = gang_class.gangs.front();
    if (in_.problem.gangs[gang].preemption_policy == PreemptionPolicy::kNever) continue;
    const lp::LinearExpression waiting = waiting_pods(gang_class);
    if (waiting.terms.empty()) continue;
    const ReclaimKind kind{gang_class.queue, in_.rules.asked_for(gang), gang_class.preemptible};
    const auto [found, is_new] = reclaim_channels_.try_emplace(kind, channels_.size());
    if (is_new) {
      channels_.push_back({EvictionReason::kReclaim, {}});
      granted_.push_back({{}, gang});
    }
    channels_[found->second].claimants.push_back(index);
    granted_[found->second].pods.add(waiting);
  }
}

// For victims of one queue and priority. None if there is no possible claimant.
std::optional<std::size_t> Formulation::preempt_channel(QueueIndex queue, std::int32_t priority) {
  const auto [found, is_new] = preempt_channels_.try_emplace({queue, priority});
  if (!is_new) return found->second;
  EvictionChannel channel{EvictionReason::kPreempt, {}};
  Granted granted;
  for (GangClassIndex index : waiting_[queue]) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    const Gang& gang = in_.problem.gangs[gang_class.gangs.front()];
    if (gang_class.priority <= priority || gang.preemption_policy == PreemptionPolicy::kNever) continue;
    const lp::LinearExpression waiting = waiting_pods(gang_class);
    if (waiting.terms.empty()) continue;
    channel.claimants.push_back(index);
    granted.claimant = gang_class.gangs.front();
    granted.pods.add(waiting);
  }
  if (channel.claimants.empty()) return std::nullopt;
  found->second = channels_.size();
  channels_.push_back(std::move(channel));
  granted_.push_back(std::move(granted));
  return found->second;
}

void Formulation::add_exits_of(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const std::vector<ExitOption> options = exit_options(index);
  const bool splits =
      SplitExits(in_.problem, in_.demand, index).may_help(options, in_.rules.price().is_set()) && budgets_allow(index);
  const bool surplus = !gang_class.is_singles && !leaves_whole(index) && (!in_.pooled || may_have_surplus(index));
  for (const ExitOption& option : options)
    add_exit(index, option, splits || (surplus && option.reason != EvictionReason::kStale));
  if (splits) gang_columns_[index].split = model_.add_column(0, 1, true, "split" + std::to_string(index.value()));
}

// Whether disruption budgets allow that all running pods of a gang of the class go.
bool Formulation::budgets_allow(GangClassIndex index) const {
  std::vector<PodIndex> running;
  for (const PodIndex pod : in_.problem.gangs[in_.demand.gang_classes[index].gangs.front()].pods)
    if (!in_.demand.running_cell_of[pod].is_none()) running.push_back(pod);
  return in_.before.budgets_allow(running);
}

std::vector<ExitOption> Formulation::exit_options(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const GangIndex victim = gang_class.gangs.front();
  std::vector<ExitOption> options;
  if (gang_class.leaving.stale) {
    if (!stale_channel_) {
      stale_channel_ = channels_.size();
      channels_.push_back({EvictionReason::kStale, {}});
      granted_.emplace_back();
    }
    options.push_back({*stale_channel_, EvictionReason::kStale, {}, 0, true});
  }
  if (!gang_class.leaving.evicted || !gang_class.preemptible) return options;
  const bool may_go_whole = budgets_allow(index);
  const PriceRows price(in_.problem, in_.demand, in_.rules.price());
  const auto add = [&](std::size_t channel, EvictionReason reason, QueueIndex side) {
    if (!price.can_afford(channels_[channel].claimants, index)) return;
    const GangIndex claimant = granted_[channel].claimant;
    const bool whole = may_go_whole && in_.rules.has_run_enough(in_.before, claimant, victim, reason);
    options.push_back({channel, reason, side, in_.rules.min_runtime(claimant, victim, reason), whole});
  };
  if (in_.problem.snapshot->policy.actions.preempt)
    if (const auto channel = preempt_channel(gang_class.queue, gang_class.priority))
      add(*channel, EvictionReason::kPreempt, {});
  for (const auto& [kind, channel] : reclaim_channels_)
    if (kind.queue != gang_class.queue && in_.rules.may_reclaim(in_.before, granted_[channel].claimant, victim))
      add(channel, EvictionReason::kReclaim, in_.rules.sides(kind.queue, gang_class.queue).victim);
  return options;
}

bool Formulation::leaves_whole(GangClassIndex index) const {
  return in_.problem.gangs[in_.demand.gang_classes[index].gangs.front()].leaves_whole;
}

// Whether the gang could ever have more pods than its minimum; true for trees, without looking.
bool Formulation::may_have_surplus(GangClassIndex index) const {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const Group& root = in_.problem.groups[in_.problem.gangs[gang_class.gangs.front()].root];
  if (!root.is_leaf()) return true;
  std::int64_t most = in_.base.members(in_.problem.gangs[gang_class.gangs.front()].root);
  for (const RunningCellIndex cell : gang_class.running) most += in_.demand.running[cell].count();
  for (const CellIndex cell : gang_class.cells)
    if (in_.demand.cells[cell].moves.is_none()) most += in_.demand.cells[cell].count();
  return most > root.minimum;
}

void Formulation::add_exit(GangClassIndex index, const ExitOption& option, bool surplus) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  Exit exit{option.channel, -1, {}};
  const std::string label = std::to_string(index.value()) + "_" + std::to_string(option.channel);
  if (option.whole) exit.gone = model_.add_column(0, static_cast<double>(gang_class.size()), true, "o" + label);
  if (surplus)
    for (RunningCellIndex cell : gang_class.running)
      exit.surplus.push_back(model_.add_column(0, static_cast<double>(in_.demand.running[cell].count()), true,
                                               "e" + label + "_" + std::to_string(cell.value())));
  if (exit.gone >= 0 || !exit.surplus.empty()) exits_[index].push_back(std::move(exit));
}

// Stays, is evicted or is moved; whole, or beyond its minimum.
void Formulation::tie_exits(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const std::string label = std::to_string(index.value());
  if (gang_class.is_singles) {
    model_.add_constraint(staying(gang_class.running.front()), 0, lp::kInfinity, "singles" + label);
    return;
  }
  const std::int32_t admitted = gang_columns_[index].admitted;
  lp::LinearExpression one = gone(index);
  one.add(admitted, 1);
  model_.add_constraint(one, gang_class.minimum_runs || gang_class.leaving.stale ? 1 : 0, 1, "goes" + label);
  add_tree(index);
  for (std::size_t v = 0; v < gang_class.running.size(); ++v) {
    const RunningCell& cell = in_.demand.running[gang_class.running[v]];
    lp::LinearExpression leaving;
    for (const Exit& exit : exits_[index])
      if (!exit.surplus.empty()) leaving.add(exit.surplus[v], 1);
    if (!cell.move.is_none()) leaving.add(placed(cell.move));
    if (leaving.terms.empty()) continue;
    if (!leaves_whole(index)) leaving.add(admitted, -cell.count());
    if (gang_columns_[index].split >= 0) leaving.add(gang_columns_[index].split, -cell.count());
    model_.add_constraint(leaving, -lp::kInfinity, 0, "leave" + label);
  }
  if (gang_columns_[index].split >= 0) add_split_rows(index);
  const Gang& gang = in_.problem.gangs[gang_class.gangs.front()];
  for (GroupIndex group : gang.groups)
    if (!in_.problem.groups[group].required_level.is_none()) add_domains(index, group);
}

// All pods of a split gang go: e by e, with what an option protects only as surplus. As stale goes only all of a gang.
void Formulation::add_split_rows(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const SplitExits splits(in_.problem, in_.demand, index);
  const std::vector<ExitOption> options = exit_options(index);
  const std::int32_t split = gang_columns_[index].split;
  const std::string label = std::to_string(index.value());
  std::int64_t running = 0;
  lp::LinearExpression stale, is_protected, is_free;
  for (std::size_t v = 0; v < gang_class.running.size(); ++v) {
    lp::LinearExpression all;
    for (const ExitOption& option : options) {
      const Exit& exit = *std::ranges::find(exits_[index], option.channel, &Exit::channel);
      all.add(exit.surplus[v], 1);
      if (option.reason == EvictionReason::kStale) stale.add(exit.surplus[v], 1);
      (splits.protects(option, gang_class.running[v]) ? is_protected : is_free).add(exit.surplus[v], 1);
    }
    const std::int64_t count = in_.demand.running[gang_class.running[v]].count();
    all.add(split, -count);
    model_.add_constraint(all, 0, lp::kInfinity, "split" + label);
    running += count;
  }
  if (!stale.terms.empty()) {
    stale.add(split, -running);
    model_.add_constraint(stale, -lp::kInfinity, 0, "split_stale" + label);
  }
  if (is_protected.terms.empty()) return;
  if (splits.ran_below_minimum()) {
    is_protected.add(split, running);
    model_.add_constraint(is_protected, -lp::kInfinity, static_cast<double>(running), "split_young" + label);
  } else {
    is_free.add(split, -splits.least_unprotected());
    model_.add_constraint(is_free, 0, lp::kInfinity, "split_core" + label);
  }
}

// --- claims

// The pods of one running cell of the class.
lp::LinearExpression Formulation::evicted_of(GangClassIndex index, const Exit& exit, std::size_t cell) const {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  lp::LinearExpression pods;
  if (exit.gone >= 0)
    pods.add(exit.gone, gang_class.is_singles ? 1 : in_.demand.running[gang_class.running[cell]].count());
  if (!exit.surplus.empty()) pods.add(exit.surplus[cell], 1);
  return pods;
}

lp::LinearExpression Formulation::evicted_by(GangClassIndex index, const Exit& exit) const {
  lp::LinearExpression pods;
  for (std::size_t v = 0; v < in_.demand.gang_classes[index].running.size(); ++v) pods.add(evicted_of(index, exit, v));
  return pods;
}

void Formulation::add_price_rows() {
  const PriceRows rows(in_.problem, in_.demand, in_.rules.price());
  std::vector<PriceRows::Losses> losses(channels_.size());
  for (const GangClassIndex index : in_.demand.gang_classes.indices()) {
    for (const Exit& exit : exits_[index]) {
      for (std::size_t v = 0; v < in_.demand.gang_classes[index].running.size(); ++v)
        rows.add_loss(in_.demand.gang_classes[index].running[v], evicted_of(index, exit, v), losses[exit.channel]);
    }
  }
  for (std::size_t channel = 0; channel < channels_.size(); ++channel) {
    if (channels_[channel].reason == EvictionReason::kStale || losses[channel].lost.terms.empty()) continue;
    for (const GangClassIndex index : channels_[channel].claimants)
      rows.add_claimants(index, gang_columns_[index].admitted, losses[channel]);
    PriceRows::add_row(losses[channel], "price" + std::to_string(channel), model_);
  }
}

// Every evicted pod has a placed claimant; reclaiming queues keep to the rules of reclaim; moves are counted.
void Formulation::add_claims() {
  std::vector<lp::LinearExpression> evicted(channels_.size());
  std::int64_t pods = 0;
  for (const RunningCell& cell : in_.demand.running) pods += cell.count();
  for (GangClassIndex index : in_.demand.gang_classes.indices())
    for (const Exit& exit : exits_[index]) {
      const lp::LinearExpression by = evicted_by(index, exit);
      evicted[exit.channel].add(by);
      if (channels_[exit.channel].reason != EvictionReason::kReclaim) continue;
      const preemption::EvictionRules::Sides sides = in_.rules.sides(
          in_.problem.gangs[granted_[exit.channel].claimant].queue, in_.demand.gang_classes[index].queue);
      Reclaim& reclaim = reclaims_[{exit.channel, sides.claimant, sides.victim}];
      reclaim.channel = exit.channel;
      reclaim.sides = sides;
      reclaim.evicted.add(by);
    }
  for (std::size_t channel = 0; channel < channels_.size(); ++channel) {
    if (channels_[channel].reason == EvictionReason::kStale || evicted[channel].terms.empty()) continue;
    lp::LinearExpression claim = granted_[channel].pods;
    lp::LinearExpression scaled;
    scaled.add(claim, pods);
    scaled.add(evicted[channel], -1);
    model_.add_constraint(scaled, 0, lp::kInfinity, "claim" + std::to_string(channel));
  }
  for (auto& [key, reclaim] : reclaims_) add_reclaim(reclaim);
  if (in_.rules.price().is_set()) add_price_rows();
  add_min_resources();
  add_budget_rows();
  if (in_.exact) add_vain_rows();
  lp::LinearExpression moves;
  for (const RunningCell& cell : in_.demand.running)
    if (!cell.move.is_none()) moves.add(placed(cell.move));
  const auto& most = in_.problem.snapshot->policy.max_moves;
  if (most && !moves.terms.empty()) model_.add_constraint(moves, 0, static_cast<double>(*most), "moves");
}

// Only budgets that could bind are among those of the problem.
void Formulation::add_budget_rows() {
  const DisruptionBudgets& budgets = in_.problem.disruption_budgets;
  if (budgets.empty()) return;
  std::map<DisruptionBudgetIndex, lp::LinearExpression> staying_of;
  for (RunningCellIndex cell : in_.demand.running.indices())
    for (DisruptionBudgetIndex budget : budgets.in_set(in_.demand.running[cell].budgets)) {
      lp::LinearExpression& stay = staying_of[budget];
      stay.add(staying(cell));
      stay.constant -= in_.demand.running[cell].count();
    }
  for (const auto& [budget, stay] : staying_of)
    model_.add_constraint(stay.merged(), -static_cast<double>(budgets.all()[budget].allowed), lp::kInfinity,
                          "budget" + std::to_string(budget.value()));
}

// On the nodes that an admitted gang could use, what is free without the pods that may leave, minus what the staying
// and moved ones take, covers the gang's minResources.
void Formulation::add_min_resources() {
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    if (!in_.demand.gang_classes[index].lacks_resources) continue;
    const GangIndex gang_index = in_.demand.gang_classes[index].gangs.front();
    const Gang& gang = in_.problem.gangs[gang_index];
    const std::int32_t admitted = gang_columns_[index].admitted;
    for (std::size_t r = 0; r < gang.min_resources.amounts.size(); ++r)
      if (gang.min_resources.amounts[r] > 0)
        add_implied(admitted, free_for(gang_index, r), static_cast<double>(gang.min_resources.amounts[r]),
                    lp::kInfinity);
    if (gang.min_resources.gpu > 0)
      add_implied(admitted, free_for(gang_index, std::nullopt), static_cast<double>(gang.min_resources.gpu),
                  lp::kInfinity);
  }
}

void Formulation::add_vain_rows() {
  const bool some_lack = std::ranges::any_of(in_.demand.gang_classes, &GangClass::lacks_resources);
  if (some_lack || in_.anti_affinity.spans_nodes()) return;
  for (RunningCellIndex cell : in_.demand.running.indices()) {
    const GangClassIndex index = in_.demand.running[cell].gang_class;
    const PodClass& pod_class = in_.problem.class_of(in_.demand.running[cell].pods.front());
    if (may_be_kept_out(index) || pod_class.has_ordered_rules()) continue;
    // Not add_constraint: the configurations' coefficients are added later.
    right_rows_[cell] = add_vain_row(cell, "right");
    const CellIndex move = in_.demand.running[cell].move;
    if (move.is_none()) continue;
    // A pod that is moved makes way for any gang.
    for (const auto& [column, moved] : placed(move).terms)
      model_.add_entry(right_rows_[cell], column, -static_cast<double>(moved));
    vain_rows_[cell] = add_vain_row(cell, "vain");
  }
  for (const GangClassIndex index : in_.demand.gang_classes.indices()) add_vain_gang_row(index);
}

// None of its pods has left a node where it could have stayed, unless its gang leaves whole, or a share keeps it out.
std::int32_t Formulation::add_vain_row(RunningCellIndex cell, const char* label) {
  const GangClassIndex index = in_.demand.running[cell].gang_class;
  const std::int32_t row = model_.add_row(-lp::kInfinity, 0, label + std::to_string(cell.value()));
  const auto pods = static_cast<double>(in_.demand.running[cell].count());
  for (const auto& [key, reclaim] : reclaims_)
    if (keeps_to_share(reclaim, in_.demand.gang_classes[index].queue)) model_.add_entry(row, reclaim.active, -pods);
  if (in_.demand.gang_classes[index].is_singles) return row;
  for (const auto& [column, gangs] : gone(index).terms) model_.add_entry(row, column, -pods);
  return row;
}

// A gang leaves whole only if one of its pods had to. Of pods that share a node each may fit by itself, and not both:
// then the row does not hold.
void Formulation::add_vain_gang_row(GangClassIndex index) {
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
  for (const Exit& exit : exits_[index])  // as stale it goes whatever the others do
    if (exit.gone >= 0 && channels_[exit.channel].reason != EvictionReason::kStale) model_.add_entry(row, exit.gone, 1);
  if (const std::int32_t split = gang_columns_[index].split; split >= 0 && !gang_class.leaving.stale)
    model_.add_entry(row, split, 1);
  for (const auto& [key, reclaim] : reclaims_)
    if (keeps_to_share(reclaim, gang_class.queue)) model_.add_entry(row, reclaim.active, -pods);
  vain_gang_rows_[index] = row;
}

// By anything except capacity, reclaim, and the requirements of affinity and spread on other pods: a limit, the
// topology of its gang.
bool Formulation::may_be_kept_out(GangClassIndex index) const {
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

// Whether running pods of the queue count in a share that the reclaim must not exceed.
bool Formulation::keeps_to_share(const Reclaim& reclaim, QueueIndex queue) const {
  const std::vector<QueueIndex>& above = in_.problem.queues[queue].ancestors;
  const QueueIndex claimant = in_.problem.gangs[granted_[reclaim.channel].claimant].queue;
  for (const QueueIndex bounded : in_.problem.queues[claimant].ancestors) {
    if (std::ranges::find(above, bounded) != above.end()) return true;
    if (bounded == reclaim.sides.claimant) return false;
  }
  return false;
}

// Of a resource, or of GPUs in millionths of a device.
lp::LinearExpression Formulation::free_for(GangIndex gang, std::optional<std::size_t> resource) const {
  const std::vector<bool> usable = usable_classes(in_.problem, gang);
  const auto is_usable = [&](NodeIndex node) { return usable[in_.problem.nodes[node].node_class.value()]; };
  const auto micro_gpu = [&](DeviceUnits units, NodeIndex node) {
    return std::max<DeviceUnits>(0, units) / (in_.problem.device_capacity(node) / 1'000'000);
  };
  const auto taken_by = [&](const PodClass& pod_class, NodeIndex node) -> Amount {
    if (resource) return pod_class.request[*resource];
    return pod_class.gpu.devices * micro_gpu(share_units(pod_class, in_.problem.class_of(node)), node);
  };
  lp::LinearExpression free;
  for (NodeIndex node : in_.problem.nodes.indices()) {
    if (!is_usable(node)) continue;
    if (resource) free.constant += std::max<Amount>(0, in_.base.free(node)[*resource]);
    if (!resource)
      for (DeviceUnits units : in_.base.free_devices(node)) free.constant += micro_gpu(units, node);
  }
  for (RunningCellIndex index : in_.demand.running.indices()) {
    const RunningCell& cell = in_.demand.running[index];
    const PodClass& pod_class = in_.problem.pod_classes[in_.demand.classes[cell.stay].pod_class];
    // On a node with a negative free amount, staying pods count as taking nothing, which is the weaker condition; so do
    // those that are equal to one there.
    const bool some_exceed = std::ranges::any_of(
        cell.pods, [&](PodIndex pod) { return is_exceeded(in_.problem.class_of(in_.problem.pods[pod].node)); });
    if (is_usable(cell.node) && !some_exceed) free.add(staying(index), -taken_by(pod_class, cell.node));
    if (cell.move.is_none()) continue;
    const std::vector<CellColumn>& columns = cell_columns_[cell.move];
    for (std::size_t part = 0; part < columns.size(); ++part)
      if (const NodeIndex node = in_.zones.nodes[part]; columns.size() == 1 || is_usable(node))
        free.add(columns[part].column, -taken_by(pod_class, columns.size() == 1 ? cell.node : node));
  }
  return free;
}

// lower <= expression <= upper if the column is 1. All coefficients stay multiples of the common divisor of those of
// the expression, so that amounts in bytes do not make the others negligible.
void Formulation::add_implied(std::int32_t column, const lp::LinearExpression& expression, double lower, double upper) {
  const lp::LinearExpression sum = expression.merged();
  std::int64_t divisor = 0, least = 0, most = 0;
  for (const auto& [term, coefficient] : sum.terms) {
    divisor = std::gcd(divisor, coefficient);
    const auto reach = coefficient * static_cast<std::int64_t>(model_.upper(term));
    (reach < 0 ? least : most) += reach;
  }
  divisor = std::max<std::int64_t>(1, divisor);
  if (upper < lp::kInfinity) {
    const std::int64_t limit = divide_down(static_cast<std::int64_t>(upper) - sum.constant, divisor) * divisor;
    lp::LinearExpression row{0, sum.terms};
    if (most > limit) {
      row.add(column, most - limit);
      model_.add_constraint(row, -lp::kInfinity, static_cast<double>(most), "implied");
    }
  }
  if (lower > -lp::kInfinity) {
    const std::int64_t limit = divide_up(static_cast<std::int64_t>(lower) - sum.constant, divisor) * divisor;
    lp::LinearExpression row{0, sum.terms};
    if (least < limit) {
      row.add(column, least - limit);
      model_.add_constraint(row, static_cast<double>(least), lp::kInfinity, "implied");
    }
  }
}

void Formulation::add_reclaim(Reclaim& reclaim) {
  const std::int32_t first = model_.columns();
  const GangIndex claimant = granted_[reclaim.channel].claimant;
  const Gang& gang = in_.problem.gangs[claimant];
  const auto& asked = in_.rules.asked_for(claimant);
  const std::string label = std::to_string(reclaim.channel) + "_" + std::to_string(reclaim.sides.victim.value());
  const std::int32_t active = model_.add_column(0, 1, true, "reclaim" + label);
  model_.set_structure(active);
  reclaim.active = active;
  std::int64_t most = 0;
  for (const auto& [column, coefficient] : reclaim.evicted.terms)
    most += coefficient * static_cast<std::int64_t>(model_.upper(column));
  lp::LinearExpression evicted = reclaim.evicted, granted = granted_[reclaim.channel].pods;
  evicted.add(active, -most);
  model_.add_constraint(evicted, -lp::kInfinity, 0, "reclaimed" + label);
  granted.add(active, -1);
  model_.add_constraint(granted, 0, lp::kInfinity, "reclaimer" + label);
  for (const QueueIndex queue : in_.problem.queues[gang.queue].ancestors) {
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      if (!asked[r]) continue;
      if (!is_unlimited(in_.shares.share[queue][r]))
        add_implied(active, usage_of(queue, r, false), -lp::kInfinity, static_cast<double>(in_.shares.share[queue][r]));
      if (!gang.preemptible && !is_unlimited(in_.problem.queues[queue].quota[r]))
        add_implied(active, usage_of(queue, r, true), -lp::kInfinity,
                    static_cast<double>(in_.problem.queues[queue].quota[r]));
    }
    if (queue == reclaim.sides.claimant) break;
  }
  add_reclaim_grounds(reclaim, active);
  set_owner(first, {GangClassIndex::none(), NodeIndex::none(), ZoneIndex::none(), reclaim.channel});
}

void Formulation::add_reclaim_grounds(const Reclaim& reclaim, std::int32_t active) {
  const auto& asked = in_.rules.asked_for(granted_[reclaim.channel].claimant);
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
      lp::LinearExpression before_last = usage_of(victim, r, false);
      before_last.add(largest_unit(victim, r));
      add_implied(ground, before_last, static_cast<double>(bound[r] + 1), lp::kInfinity);
      if (by_share) continue;
      const QueueAmounts& quota = in_.problem.queues[claimant].quota;
      for (std::size_t i = 0; i < kQueueResources; ++i)
        if (asked[i] && !is_unlimited(quota[i]))
          add_implied(ground, usage_of(claimant, i, false), -lp::kInfinity, static_cast<double>(quota[i]));
    }
  }
  model_.add_constraint(grounds, 0, lp::kInfinity, "grounds");
}

// --- units reclaimed

// The largest unit that is reclaimed from the side: of a gang that leaves whole its minimum is one unit, every other
// leaving pod is one by itself.
const lp::LinearExpression& Formulation::largest_unit(QueueIndex side, std::size_t resource) {
  const auto [found, is_new] = largest_units_.try_emplace({side, resource});
  if (!is_new) return found->second;
  std::map<Amount, lp::LinearExpression> units;  // by size: how many are reclaimed
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    if (gang_columns_[index].split >= 0) add_split_unit(index, side, resource, units);
    for (const Exit& exit : exits_[index]) {
      if (channels_[exit.channel].reason != EvictionReason::kReclaim) continue;
      const QueueIndex claimant = in_.problem.gangs[granted_[exit.channel].claimant].queue;
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
void Formulation::add_split_unit(GangClassIndex index, QueueIndex side, std::size_t resource,
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
  for (const Exit& exit : exits_[index]) {
    if (channels_[exit.channel].reason != EvictionReason::kReclaim) continue;
    const QueueIndex claimant = in_.problem.gangs[granted_[exit.channel].claimant].queue;
    if (in_.rules.sides(claimant, gang_class.queue).victim != side) continue;
    for (std::size_t v = 0; v < gang_class.running.size(); ++v)
      if (cells.contains(gang_class.running[v])) reclaimed.add(exit.surplus[v], 1);
  }
  if (reclaimed.terms.empty() || together == 0) return;
  const std::int32_t unit = model_.add_column(0, 1, false, "split_unit" + std::to_string(model_.columns()));
  lp::LinearExpression of_split;
  of_split.add(gang_columns_[index].split, 1);
  of_split.add(unit, -1);
  reclaimed.add(unit, -1);
  model_.add_constraint(of_split, 0, lp::kInfinity, "split_unit");
  model_.add_constraint(reclaimed, 0, lp::kInfinity, "split_unit");
  units[together].add(unit, 1);
}

void Formulation::collect_units(GangClassIndex index, const Exit& exit, std::size_t resource,
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
std::vector<PodIndex> Formulation::core_of(GangIndex index) const {
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

}  // namespace muster::formulation
