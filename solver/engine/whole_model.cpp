#include "solver/engine/whole_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::engine {
namespace {

using Counts = std::vector<std::pair<formulation::DemandIndex, std::int32_t>>;

// Fewer pods of some class and more of none; of two equal ones the second.
bool is_below(const formulation::Configuration& one, const formulation::Configuration& other) {
  if (one.counts == other.counts) return &other < &one;
  return std::ranges::all_of(one.counts, [&](const auto& entry) {
    const auto found = std::ranges::find(other.counts, entry.first, &Counts::value_type::first);
    return found != other.counts.end() && found->second >= entry.second;
  });
}

std::int64_t count_of(std::int32_t column, const std::vector<double>& x) {
  return std::llround(x[static_cast<std::size_t>(column)]);
}

std::string name(const char* kind, std::size_t node, std::size_t part) {
  return kind + std::to_string(node) + "_" + std::to_string(part);
}

// This many of the slots, on different devices, those with the most slots first; fewer if there are not enough.
std::vector<std::int32_t> take_devices(std::map<std::int32_t, std::int32_t>& slots, std::int32_t wanted) {
  std::vector<std::int32_t> devices;
  while (std::ssize(devices) < wanted) {
    auto fullest = slots.end();
    for (auto slot = slots.begin(); slot != slots.end(); ++slot)
      if (slot->second > 0 && std::ranges::find(devices, slot->first) == devices.end() &&
          (fullest == slots.end() || slot->second > fullest->second))
        fullest = slot;
    if (fullest == slots.end()) break;
    devices.push_back(fullest->first);
    --fullest->second;
  }
  std::ranges::sort(devices);
  return devices;
}

}  // namespace

WholeModel::WholeModel(const Problem& problem, const column_generation::RestrictedMaster& restricted,
                       std::size_t most_columns)
    : problem_(problem),
      restricted_(restricted),
      residuals_(restricted.supply.residuals.size()),
      states_left_(kTuning.listing.most_columns),
      tries_left_(kTuning.listing.most_states) {
  is_whole_ = residuals_.size() <= most_columns;
  for (const formulation::ResidualClassIndex residual : restricted_.supply.residuals.indices()) {
    if (!is_whole_) return;
    if (!list(residual)) lay_out(residual);
    is_whole_ = is_whole_ && columns_ <= most_columns;
  }
}

const PodClass& WholeModel::class_of(formulation::DemandIndex d) const {
  return problem_.pod_classes[restricted_.demand.classes[d].pod_class];
}

DeviceUnits WholeModel::units_of(const formulation::ResidualClass& residual, formulation::DemandIndex d) const {
  return share_units(class_of(d), problem_.node_classes[residual.node_class]);
}

// In the rows of shares; residents of a pinned residual class have rows of their own.
bool WholeModel::uses_devices(const formulation::ResidualClass& residual, formulation::DemandIndex d) const {
  return class_of(d).gpu.kind != GpuRequestKind::kNone && !(residual.pinned && is_stay(d));
}

// --- layout

bool WholeModel::list(formulation::ResidualClassIndex index) {
  const formulation::ResidualClass& residual = restricted_.supply.residuals[index];
  const std::size_t most = std::min(kTuning.listing.few, states_left_);
  if (restricted_.anti_affinity.spans_nodes() ||
      formulation::surely_has_more(restricted_.configuration_input, residual, most))
    return false;
  std::size_t states = most;
  const auto all = formulation::enumerate_configurations(restricted_.configuration_input, residual, states);
  states_left_ -= all ? most - states : most;
  if (!all) return false;
  std::vector<formulation::Configuration> maximal;
  for (const formulation::Configuration& one : *all) {
    const auto holds = [&](const formulation::Configuration& other) { return &other != &one && is_below(one, other); };
    if (std::ranges::none_of(*all, holds)) maximal.push_back(one);
  }
  columns_ += maximal.size();
  residuals_[index] = {true, std::move(maximal), {}};
  return true;
}

void WholeModel::lay_out(formulation::ResidualClassIndex index) {
  const formulation::ResidualClass& residual = restricted_.supply.residuals[index];
  std::vector<Group>& groups = residuals_[index].groups;
  for (std::size_t device = 0; device < residual.free_devices.size(); ++device) {
    const auto position = static_cast<std::int32_t>(device);
    Group group{residual.free_devices[device], {}, {}, {}};
    for (std::size_t j = 0; residual.pinned && j < residual.residents.size(); ++j)
      if (std::ranges::find(residual.residents[j].devices, position) != residual.residents[j].devices.end())
        group.residents.push_back(j);
    auto same = std::ranges::find_if(
        groups, [&](const Group& other) { return other.free == group.free && other.residents == group.residents; });
    if (same == groups.end()) same = groups.insert(groups.end(), group);
    same->devices.push_back(position);
  }
  std::map<DeviceUnits, std::int64_t, std::greater<>> stock;
  for (std::size_t i = 0; i < residual.demands.size(); ++i)
    if (uses_devices(residual, residual.demands[i]))
      stock[units_of(residual, residual.demands[i])] += residual.stock[i] * class_of(residual.demands[i]).gpu.devices;
  std::vector<lp::Sharers> shares;
  for (const auto& [units, pods] : stock) shares.push_back({units, pods});
  std::size_t columns = residual.demands.size() + (residual.pinned ? residual.residents.size() : 0);
  for (Group& group : groups) {
    if (!find_patterns(residual, group, shares)) is_whole_ = false;
    columns += group.patterns.size();
  }
  columns_ += columns * residual.nodes.size();
}

// What a device of the group can hold in addition to each set of its residents: the multisets of shares to which none
// can be added. False: too many.
bool WholeModel::find_patterns(const formulation::ResidualClass& residual, Group& group,
                               const std::vector<lp::Sharers>& shares) {
  if (group.residents.size() >= std::bit_width(kTuning.listing.few)) return false;
  for (std::size_t set = 0; set < std::size_t{1} << group.residents.size(); ++set) {
    Pattern pattern;
    DeviceUnits free = group.free;
    for (std::size_t k = 0; k < group.residents.size(); ++k)
      if ((set >> k & 1) != 0) {
        pattern.residents.push_back(group.residents[k]);
        free -= units_of(residual, residual.residents[group.residents[k]].stay);
      }
    if (free < 0) continue;
    const auto fillings = lp::maximal_fillings(free, shares, tries_left_);
    if (!fillings) return false;
    for (const lp::Filling& filling : *fillings) {
      if (lp::is_empty(filling) && pattern.residents.empty()) continue;
      pattern.sharers.clear();
      for (std::size_t i = 0; i < shares.size(); ++i)
        if (filling[i] > 0) pattern.sharers[shares[i].units] = filling[i];
      group.patterns.push_back(pattern);
    }
  }
  return true;
}

// --- columns and rows

void WholeModel::add_to(formulation::Formulation& formulation) {
  MUSTER_REQUIRE(is_whole());
  nodes_.clear();
  for (const formulation::ResidualClassIndex residual : restricted_.supply.residuals.indices()) {
    for (const formulation::Configuration& one : residuals_[residual].listed)
      formulation.add_configuration(residual, one);
    for (std::int64_t n = 0; n < restricted_.supply.residuals[residual].count() && !residuals_[residual].is_listed; ++n)
      add_node(residual, formulation);
  }
}

void WholeModel::add_node(formulation::ResidualClassIndex index, formulation::Formulation& formulation) {
  const formulation::ResidualClass& residual = restricted_.supply.residuals[index];
  lp::ModelBuilder& model = formulation.model();
  Node node{index, {}, {}, {}};
  for (std::size_t i = 0; i < residual.demands.size(); ++i) {
    const formulation::DemandIndex d = residual.demands[i];
    node.counts.push_back(
        model.add_column(0, static_cast<double>(residual.stock[i]), true, name("a", nodes_.size(), d.value())));
    for (const lp::Entry& entry : formulation.entries_of(index, {{}, {{d, 1}}, {}, 0}))
      if (entry.row != formulation.capacity_row(index)) model.add_entry(entry.row, node.counts.back(), entry.value);
  }
  add_resources(node, model);
  add_devices(node, model);
  add_anti_affinity(node, model);
  nodes_.push_back(std::move(node));
}

void WholeModel::add_resources(const Node& node, lp::ModelBuilder& model) const {
  const formulation::ResidualClass& residual = restricted_.supply.residuals[node.residual];
  for (std::size_t r = 0; r < residual.free.size(); ++r) {
    lp::LinearExpression used, coming;
    Amount staying = 0;
    for (std::size_t i = 0; i < node.counts.size(); ++i) {
      const Amount request = class_of(residual.demands[i]).request[r];
      used.add(node.counts[i], request);
      if (is_stay(residual.demands[i]))
        staying += residual.stock[i] * request;
      else
        coming.add(node.counts[i], request);
    }
    if (used.terms.empty() || (coming.terms.empty() && staying > residual.free[r])) continue;
    Amount most = residual.free[r];
    if (staying > residual.free[r]) {  // more than the node reports: all may stay, or what comes and what stays fits
      const std::int32_t any_comes = model.add_column(0, 1, true, name("c", nodes_.size(), r));
      used.add(any_comes, staying - residual.free[r]);
      coming.add(any_comes, -std::max<Amount>(0, residual.free[r]));
      model.add_constraint(coming, -lp::kInfinity, 0, name("comes", nodes_.size(), r));
      most = staying;
    }
    model.add_constraint(used, -lp::kInfinity, static_cast<double>(most), name("room", nodes_.size(), r));
  }
}

void WholeModel::add_devices(Node& node, lp::ModelBuilder& model) const {
  const formulation::ResidualClass& residual = restricted_.supply.residuals[node.residual];
  std::map<DeviceUnits, lp::LinearExpression> in_use;  // less what the patterns hold; by share
  for (std::size_t i = 0; i < residual.demands.size(); ++i)
    if (uses_devices(residual, residual.demands[i]))
      in_use[units_of(residual, residual.demands[i])].add(node.counts[i], class_of(residual.demands[i]).gpu.devices);
  if (residual.pinned) add_residents(node, model);
  for (const Group& group : residuals_[node.residual].groups) {
    const auto devices = static_cast<std::int64_t>(group.devices.size());
    lp::LinearExpression used;
    std::map<std::size_t, lp::LinearExpression> held;  // by resident that is on all devices of the group if it stays
    for (const std::size_t j : group.residents) held[j].add(node.stays[j], -devices);
    std::vector<std::int32_t>& columns = node.patterns.emplace_back();
    for (const Pattern& pattern : group.patterns) {
      columns.push_back(
          model.add_column(0, static_cast<double>(devices), true, name("p", nodes_.size(), node.patterns.size())));
      used.add(columns.back(), 1);
      for (const auto& [units, count] : pattern.sharers) in_use[units].add(columns.back(), -count);
      for (const std::size_t j : pattern.residents) held[j].add(columns.back(), 1);
    }
    if (!used.terms.empty())
      model.add_constraint(used, -lp::kInfinity, static_cast<double>(devices),
                           name("devices", nodes_.size(), node.patterns.size()));
    for (const auto& [j, expression] : held)
      model.add_constraint(expression, 0, lp::kInfinity, name("held", nodes_.size(), j));
  }
  for (const auto& [units, expression] : in_use)
    model.add_constraint(expression, -lp::kInfinity, 0, name("share", nodes_.size(), static_cast<std::size_t>(units)));
}

void WholeModel::add_residents(Node& node, lp::ModelBuilder& model) const {
  const formulation::ResidualClass& residual = restricted_.supply.residuals[node.residual];
  std::map<formulation::DemandIndex, lp::LinearExpression> staying;
  for (std::size_t j = 0; j < residual.residents.size(); ++j) {
    node.stays.push_back(model.add_column(0, 1, true, name("r", nodes_.size(), j)));
    staying[residual.residents[j].stay].add(node.stays.back(), 1);
  }
  for (std::size_t i = 0; i < residual.demands.size(); ++i) {
    const auto found = staying.find(residual.demands[i]);
    if (found == staying.end()) continue;
    found->second.add(node.counts[i], -1);
    model.add_constraint(found->second, 0, 0, name("stays", nodes_.size(), residual.demands[i].value()));
  }
}

// Pods that run next to each other may continue; placed pods have to respect all others.
void WholeModel::add_anti_affinity(const Node& node, lp::ModelBuilder& model) const {
  const formulation::ResidualClass& residual = restricted_.supply.residuals[node.residual];
  for (std::size_t i = 0; i < node.counts.size(); ++i) {
    std::vector<std::size_t> others;
    for (std::size_t other = i; other < node.counts.size(); ++other)
      if (!is_stay(residual.demands[other]) &&
          restricted_.anti_affinity.conflict(restricted_.demand.classes[residual.demands[i]].pod_class,
                                             restricted_.demand.classes[residual.demands[other]].pod_class,
                                             residual.nodes.front()))
        others.push_back(other);
    if (others.empty()) continue;
    if (others.front() == i) {
      model.set_bounds(node.counts[i], 0, 1);
      others.erase(others.begin());
    }
    if (others.empty()) continue;
    const std::int32_t is_here = model.add_column(0, 1, true, name("h", nodes_.size(), i));
    lp::LinearExpression own;
    own.add(node.counts[i], 1);
    own.add(is_here, -residual.stock[i]);
    model.add_constraint(own, -lp::kInfinity, 0, name("here", nodes_.size(), i));
    for (const std::size_t other : others) {
      lp::LinearExpression foreign;
      foreign.add(node.counts[other], 1);
      foreign.add(is_here, residual.stock[other]);
      model.add_constraint(foreign, -lp::kInfinity, static_cast<double>(residual.stock[other]),
                           name("apart", nodes_.size(), i));
    }
  }
}

// --- solutions

WholeModel::Content WholeModel::read(const formulation::Formulation& formulation, const std::vector<double>& x) const {
  Content content{formulation.read(x), {}};
  for (const Residual& residual : residuals_) content.configurations.push_back(residual.listed);
  for (const Node& node : nodes_) {
    std::vector<formulation::Configuration>& configurations = content.configurations[node.residual];
    content.solution.configurations[node.residual.value()].emplace_back(configurations.size(), 1);
    configurations.push_back(content_of(node, x));
  }
  return content;
}

// The solution's pods on one node, one by one, each on devices whose patterns hold it.
formulation::Configuration WholeModel::content_of(const Node& node, const std::vector<double>& x) const {
  const formulation::ResidualClass& residual = restricted_.supply.residuals[node.residual];
  std::map<DeviceUnits, std::map<std::int32_t, std::int32_t>> slots;  // by share and device: sharers that it holds
  for (std::size_t g = 0; g < node.patterns.size(); ++g) {
    const Group& group = residuals_[node.residual].groups[g];
    std::size_t next = 0;
    for (std::size_t k = 0; k < group.patterns.size(); ++k)
      for (std::int64_t n = count_of(node.patterns[g][k], x); n > 0 && next < group.devices.size(); --n, ++next)
        for (const auto& [units, count] : group.patterns[k].sharers) slots[units][group.devices[next]] += count;
  }
  formulation::Configuration content;
  for (std::size_t j = 0; j < node.stays.size(); ++j)
    if (count_of(node.stays[j], x) > 0)
      content.steps.push_back(
          {residual.residents[j].stay, residual.residents[j].devices, static_cast<std::int32_t>(j)});
  for (std::size_t i = 0; i < residual.demands.size(); ++i) {
    const formulation::DemandIndex d = residual.demands[i];
    if (residual.pinned && is_stay(d)) continue;
    for (std::int64_t n = count_of(node.counts[i], x); n > 0; --n) {
      formulation::Configuration::Step step{d, {}, -1};
      if (uses_devices(residual, d)) step.devices = take_devices(slots[units_of(residual, d)], class_of(d).gpu.devices);
      if (uses_devices(residual, d) && std::ssize(step.devices) < class_of(d).gpu.devices) break;
      content.steps.push_back(std::move(step));
    }
  }
  return content;
}

}  // namespace muster::engine
