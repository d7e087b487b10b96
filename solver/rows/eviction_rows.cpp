#include "solver/rows/eviction_rows.h"

#include <algorithm>
#include <string>

#include "model/base/require.h"
#include "solver/rows/price_rows.h"

namespace muster::formulation {

EvictionRows::EvictionRows(const FormulationInput& input, GangColumns& columns, lp::ModelBuilder& model)
    : in_(input), columns_(columns), model_(model), waiting_(classes_by_queue(input.problem, input.demand)) {}

void EvictionRows::add_columns() {
  MUSTER_REQUIRE(channels_.empty());
  find_reclaimers();
  for (const GangClassIndex index : in_.demand.gang_classes.indices())
    if (!in_.demand.gang_classes[index].running.empty()) add_exits_of(index);
}

// The kinds of gangs that wait and may reclaim.
void EvictionRows::find_reclaimers() {
  if (!in_.problem.snapshot->policy.actions.reclaim) return;
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    const GangIndex gang = gang_class.gangs.front();
    if (in_.problem.gangs[gang].preemption_policy == PreemptionPolicy::kNever) continue;
    const lp::LinearExpression waiting = columns_.waiting_pods(gang_class);
    if (waiting.terms.empty()) continue;
    const ReclaimKind kind{gang_class.queue, in_.rules.asked_for(gang), gang_class.preemptible};
    const auto [found, is_new] = reclaim_channels_.try_emplace(kind, channels_.size());
    if (is_new) {
      channels_.push_back({EvictionReason::kReclaim, {}, {}, gang});
    }
    channels_[found->second].claimants.push_back(index);
    channels_[found->second].granted.add(waiting);
  }
}

// For victims of one queue and priority. None if there is no possible claimant.
std::optional<std::size_t> EvictionRows::preempt_channel(QueueIndex queue, std::int32_t priority) {
  const auto [found, is_new] = preempt_channels_.try_emplace({queue, priority});
  if (!is_new) return found->second;
  EvictionChannel channel{EvictionReason::kPreempt, {}, {}, {}};
  for (GangClassIndex index : waiting_[queue]) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    const Gang& gang = in_.problem.gangs[gang_class.gangs.front()];
    if (gang_class.priority <= priority || gang.preemption_policy == PreemptionPolicy::kNever) continue;
    const lp::LinearExpression waiting = columns_.waiting_pods(gang_class);
    if (waiting.terms.empty()) continue;
    channel.claimants.push_back(index);
    channel.claimant = gang_class.gangs.front();
    channel.granted.add(waiting);
  }
  if (channel.claimants.empty()) return std::nullopt;
  found->second = channels_.size();
  channels_.push_back(std::move(channel));
  return found->second;
}

const EvictionChannel* EvictionRows::preempting(QueueIndex queue, std::int32_t priority) const {
  const auto found = preempt_channels_.find({queue, priority});
  return found == preempt_channels_.end() || !found->second ? nullptr : &channels_[*found->second];
}

void EvictionRows::add_exits_of(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const std::vector<ExitOption> options = exit_options(index);
  const bool splits =
      SplitExits(in_.problem, in_.demand, index).may_help(options, in_.rules.price().is_set()) && budgets_allow(index);
  const bool surplus = !gang_class.is_singles && !leaves_whole(index) && (!in_.pooled || may_have_surplus(index));
  for (const ExitOption& option : options)
    add_exit(index, option, splits || (surplus && option.reason != EvictionReason::kStale));
  if (splits) columns_.of_gang(index).split = model_.add_column(0, 1, true, "split" + std::to_string(index.value()));
}

// Whether disruption budgets allow that all running pods of a gang of the class go.
bool EvictionRows::budgets_allow(GangClassIndex index) const {
  std::vector<PodIndex> running;
  for (const PodIndex pod : in_.problem.gangs[in_.demand.gang_classes[index].gangs.front()].pods)
    if (!in_.demand.running_cell_of[pod].is_none()) running.push_back(pod);
  return in_.before.budgets_allow(running);
}

std::vector<ExitOption> EvictionRows::exit_options(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const GangIndex victim = gang_class.gangs.front();
  std::vector<ExitOption> options;
  if (gang_class.leaving.stale) {
    if (!stale_channel_) {
      stale_channel_ = channels_.size();
      channels_.emplace_back();
    }
    options.push_back({*stale_channel_, EvictionReason::kStale, {}, 0, true});
  }
  if (!gang_class.leaving.evicted || !gang_class.preemptible) return options;
  const bool may_go_whole = budgets_allow(index);
  const PriceRows price(in_.problem, in_.demand, in_.rules.price());
  const auto add = [&](std::size_t channel, EvictionReason reason, QueueIndex side) {
    if (!price.can_afford(channels_[channel].claimants, index)) return;
    const GangIndex claimant = channels_[channel].claimant;
    const bool whole = may_go_whole && in_.rules.has_run_enough(in_.before, claimant, victim, reason);
    options.push_back({channel, reason, side, in_.rules.min_runtime(claimant, victim, reason), whole});
  };
  if (in_.problem.snapshot->policy.actions.preempt)
    if (const auto channel = preempt_channel(gang_class.queue, gang_class.priority))
      add(*channel, EvictionReason::kPreempt, {});
  for (const auto& [kind, channel] : reclaim_channels_)
    if (kind.queue != gang_class.queue && in_.rules.may_reclaim(in_.before, channels_[channel].claimant, victim))
      add(channel, EvictionReason::kReclaim, in_.rules.sides(kind.queue, gang_class.queue).victim);
  return options;
}

bool EvictionRows::leaves_whole(GangClassIndex index) const {
  return in_.problem.gangs[in_.demand.gang_classes[index].gangs.front()].leaves_whole;
}

// Whether the gang could ever have more pods than its minimum; true for trees, without looking.
bool EvictionRows::may_have_surplus(GangClassIndex index) const {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const Group& root = in_.problem.groups[in_.problem.gangs[gang_class.gangs.front()].root];
  if (!root.is_leaf()) return true;
  std::int64_t most = in_.base.members(in_.problem.gangs[gang_class.gangs.front()].root);
  for (const RunningCellIndex cell : gang_class.running) most += in_.demand.running[cell].count();
  for (const CellIndex cell : gang_class.cells)
    if (in_.demand.cells[cell].moves.is_none()) most += in_.demand.cells[cell].count();
  return most > root.minimum;
}

void EvictionRows::add_exit(GangClassIndex index, const ExitOption& option, bool surplus) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  ExitColumns exit{option.channel, -1, {}};
  const std::string label = std::to_string(index.value()) + "_" + std::to_string(option.channel);
  if (option.whole) exit.gone = model_.add_column(0, static_cast<double>(gang_class.size()), true, "o" + label);
  if (surplus)
    for (RunningCellIndex cell : gang_class.running)
      exit.surplus.push_back(model_.add_column(0, static_cast<double>(in_.demand.running[cell].count()), true,
                                               "e" + label + "_" + std::to_string(cell.value())));
  if (exit.gone >= 0 || !exit.surplus.empty()) columns_.exits(index).push_back(std::move(exit));
}

void EvictionRows::add_goes(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const std::string label = std::to_string(index.value());
  if (gang_class.is_singles) {
    model_.add_constraint(columns_.staying(gang_class.running.front()), 0, lp::kInfinity, "singles" + label);
    return;
  }
  const std::int32_t admitted = columns_.of_gang(index).admitted;
  lp::LinearExpression one = columns_.gone(index);
  one.add(admitted, 1);
  model_.add_constraint(one, gang_class.minimum_runs || gang_class.leaving.stale ? 1 : 0, 1, "goes" + label);
}

void EvictionRows::add_leaving(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const std::string label = std::to_string(index.value());
  const std::int32_t admitted = columns_.of_gang(index).admitted;
  for (std::size_t v = 0; v < gang_class.running.size(); ++v) {
    const RunningCell& cell = in_.demand.running[gang_class.running[v]];
    lp::LinearExpression leaving;
    for (const ExitColumns& exit : columns_.exits(index))
      if (!exit.surplus.empty()) leaving.add(exit.surplus[v], 1);
    if (!cell.move.is_none()) leaving.add(columns_.placed(cell.move));
    if (leaving.terms.empty()) continue;
    if (!leaves_whole(index)) leaving.add(admitted, -cell.count());
    if (columns_.of_gang(index).split >= 0) leaving.add(columns_.of_gang(index).split, -cell.count());
    model_.add_constraint(leaving, -lp::kInfinity, 0, "leave" + label);
  }
  if (columns_.of_gang(index).split >= 0) add_split_rows(index);
}

// All pods of a split gang go: e by e, with what an option protects only as surplus. As stale goes only all of a gang.
void EvictionRows::add_split_rows(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const SplitExits splits(in_.problem, in_.demand, index);
  const std::vector<ExitOption> options = exit_options(index);
  const std::int32_t split = columns_.of_gang(index).split;
  const std::string label = std::to_string(index.value());
  std::int64_t running = 0;
  lp::LinearExpression stale, is_protected, is_free;
  for (std::size_t v = 0; v < gang_class.running.size(); ++v) {
    lp::LinearExpression all;
    for (const ExitOption& option : options) {
      const ExitColumns& exit = *std::ranges::find(columns_.exits(index), option.channel, &ExitColumns::channel);
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

void EvictionRows::add_claims() {
  std::vector<lp::LinearExpression> evicted(channels_.size());
  std::int64_t pods = 0;
  for (const RunningCell& cell : in_.demand.running) pods += cell.count();
  for (const GangClassIndex index : in_.demand.gang_classes.indices())
    for (const ExitColumns& exit : columns_.exits(index)) evicted[exit.channel].add(columns_.evicted_by(index, exit));
  for (std::size_t channel = 0; channel < channels_.size(); ++channel) {
    if (channels_[channel].reason == EvictionReason::kStale || evicted[channel].terms.empty()) continue;
    lp::LinearExpression claim;
    claim.add(channels_[channel].granted, pods);
    claim.add(evicted[channel], -1);
    model_.add_constraint(claim, 0, lp::kInfinity, "claim" + std::to_string(channel));
  }
}

}  // namespace muster::formulation
