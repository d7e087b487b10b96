#include "solver/slots/slot_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "model/base/tuning.h"

namespace muster::slots {
namespace {

std::int64_t round_of(std::int32_t column, const std::vector<double>& x) {
  return std::llround(x[static_cast<std::size_t>(column)]);
}

lp::LinearExpression of(std::int32_t column) {
  lp::LinearExpression expression;
  expression.add(column, 1);
  return expression;
}

// A constraint whose expression has a constant.
void constrain(lp::ModelBuilder& builder, const lp::LinearExpression& expression, double lower, double upper,
               const std::string& name) {
  const auto constant = static_cast<double>(expression.constant);
  if (expression.terms.empty()) {
    const bool holds = lower <= constant && constant <= upper;
    if (!holds) builder.add_row(1, 1, name);  // nothing fulfils it
    return;
  }
  builder.add_constraint(expression, lower, upper, name);
}

constexpr double kFree = lp::kInfinity;

}  // namespace

// --- the model

SlotModel::SlotModel(const SlotTask& task, const PodKinds& kinds, const Supply& supply, const Deadline& time)
    : task_(task),
      kinds_(kinds),
      supply_(supply),
      demand_(kinds.kinds().size()),
      dealt_(supply.groups().size(), Indexed<KindIndex, lp::LinearExpression>(kinds.kinds().size())),
      device_options_(supply.device_types().size()),
      cleared_(supply.device_types().size()),
      moved_of_partial_(task.kept.size(), -1),
      shares_(supply.groups().size()) {
  builder_.begin_timed(time.without_work());
  count_new();
  for (const GroupIndex group : supply.groups().indices()) add_shares(group);
  add_node_types();
  add_device_types();
  add_partial();
  distribute();
  for (const GroupIndex group : supply.groups().indices()) {
    add_fillings(group);
    add_rooms(group);
  }
  if (task.most_moves && !moves_.terms.empty())
    constrain(builder_, moves_, -kFree, static_cast<double>(*task.most_moves), "moves");
  builder_.end_timed();
}

void SlotModel::count_new() {
  for (const NewPods& unit : task_.placed)
    for (const PodIndex pod : unit.pods) ++demand_[kinds_.kind_of(pod)].constant;
}

// `times` times these residents are off for each unit of the column.
void SlotModel::add_off(const Residents& off, std::int32_t column, std::int64_t times) {
  for (const auto& [index, count] : off) {
    const Resident& resident = supply_.residents()[index];
    const std::int64_t pods = times * count;
    if (!resident.partial.is_none()) {
      off_of_partial_[resident.partial].add(column, pods);
      continue;
    }
    moved_work_.add(column, pods * resident.cost);
    moves_.add(column, pods);
    demand_[resident.kind].add(column, pods);
  }
}

void SlotModel::add_node_types() {
  for (const NodeType& type : supply_.node_types()) {
    const auto nodes = static_cast<double>(type.nodes.size());
    std::vector<std::int32_t>& columns = node_columns_.emplace_back();
    lp::LinearExpression all;
    for (const NodeOption& option : type.options) {
      const std::int32_t column = builder_.add_column(0, nodes, true, "o" + std::to_string(builder_.columns()));
      columns.push_back(column);
      all.add(column, 1);
      add_off(option.off, column, 1);
      for (const auto& [device_type, count] : option.cleared) {
        cleared_[device_type].add(column, count);
        add_off(supply_.device_types()[device_type].residents, column, count);
      }
    }
    constrain(builder_, all, nodes, nodes, "nodes" + std::to_string(node_columns_.size()));
  }
}

std::vector<SlotModel::DeviceOption> SlotModel::options_of(const DeviceType& type) const {
  const std::size_t most = kTuning.slots.options;
  std::vector<DeviceOption> options{{{}, type.free, -1}};
  const auto units_of = [&](ResidentIndex resident) {
    const GpuRequest& size = kinds_.request(supply_.residents()[resident].kind);
    const std::int64_t memory = supply_.groups()[type.group].device_memory_mib;
    return size.kind == GpuRequestKind::kMemory ? size.share * 1'000'000
                                                : size.share * std::max<std::int64_t>(1, memory);
  };
  for (const auto& [resident, count] : type.residents)
    for (DeviceOption& option : options) option.free -= count * units_of(resident);
  for (const auto& [resident, count] : type.residents) {
    const std::size_t before = options.size();
    for (std::int32_t off = 1; off <= count; ++off)
      for (std::size_t i = 0; i < before && options.size() < most; ++i) {
        DeviceOption option = options[i];
        option.off.emplace_back(resident, off);
        option.free += off * units_of(resident);
        options.push_back(std::move(option));
      }
  }
  // To clear it is an option of its node.
  if (type.may_clear) std::erase_if(options, [&](const DeviceOption& option) { return option.free == type.free; });
  return options;
}

void SlotModel::add_device_types() {
  for (const DeviceTypeIndex index : supply_.device_types().indices()) {
    const DeviceType& type = supply_.device_types()[index];
    const auto devices = static_cast<double>(type.devices.size());
    std::vector<DeviceOption>& options = device_options_[index];
    options = options_of(type);
    lp::LinearExpression all = cleared_[index];
    for (DeviceOption& option : options) {
      option.column = builder_.add_column(0, devices, true, "d" + std::to_string(builder_.columns()));
      all.add(option.column, 1);
      add_off(option.off, option.column, 1);
      add_to_level(shares_[type.group], option.free, of(option.column));
    }
    constrain(builder_, all, devices, devices, "devices" + std::to_string(index.value()));
  }
}

void SlotModel::add_partial() {
  for (auto& [kept, off] : off_of_partial_) {
    const KeptPods& pods = task_.kept[kept.value()];
    const std::int64_t left = std::ssize(pods.pods) - pods.kept;
    const double most = pods.movable ? static_cast<double>(pods.kept) : 0;
    const std::int32_t moved = builder_.add_column(0, most, true, "m" + std::to_string(kept.value()));
    moved_of_partial_[kept.value()] = moved;
    moved_work_.add(moved, pods.cost);
    moves_.add(moved, 1);
    demand_[kinds_.kind_of(pods.pods.front())].add(moved, 1);
    lp::LinearExpression difference = off;
    difference.add(moved, -1);
    constrain(builder_, difference, static_cast<double>(left), static_cast<double>(left),
              "left" + std::to_string(kept.value()));
  }
}

// Shares of the group's devices; its devices without residents; and how many may be opened.
void SlotModel::add_shares(GroupIndex index) {
  const NodeGroup& group = supply_.groups()[index];
  Shares& shares = shares_[index];
  std::map<SizeIndex, std::int64_t> stock;
  const auto count = [&](PodIndex pod) {
    const Kind& kind = kinds_.kinds()[kinds_.kind_of(pod)];
    const GpuRequest& size = kinds_.sizes()[kind.size];
    if (is_shared(size) && group.accepted[kind.filter.value()]) stock[kind.size] += size.devices;
  };
  for (const KeptPods& kept : task_.kept) std::ranges::for_each(kept.pods, count);
  for (const NewPods& unit : task_.placed) std::ranges::for_each(unit.pods, count);
  const DeviceUnits mib = std::max<std::int64_t>(1, group.device_memory_mib), whole = mib * 1'000'000;
  std::vector<std::tuple<DeviceUnits, SizeIndex, std::int64_t>> order;
  for (const auto& [size, pods] : stock) {
    const GpuRequest& request = kinds_.sizes()[size];
    const DeviceUnits units = request.kind == GpuRequestKind::kMemory ? request.share * 1'000'000 : request.share * mib;
    if (units <= whole) order.emplace_back(-units, size, pods);
  }
  std::ranges::sort(order);
  for (const auto& [units, size, pods] : order) {
    shares.sizes.push_back(size);
    shares.sharers.push_back({-units, pods});
  }
  if (shares.sizes.empty()) return;
  shares.opened = builder_.add_column(0, static_cast<double>(group.idle), true, "e" + std::to_string(index.value()));
  add_to_level(shares, whole, of(shares.opened));
  for (const auto& [free, devices] : group.devices) {
    lp::LinearExpression number;
    number.constant = std::ssize(devices);
    add_to_level(shares, free, number);
  }
}

void SlotModel::add_to_level(Shares& shares, DeviceUnits free, const lp::LinearExpression& devices) {
  if (shares.sharers.empty() || free < shares.sharers.back().units) return;
  for (Level& level : shares.levels)
    if (std::ranges::find(level.free, free) != level.free.end()) return level.devices.add(devices);
  std::size_t tries = kTuning.slots.options * (shares.sharers.size() + 1);
  auto fillings = lp::maximal_fillings(free, shares.sharers, tries);
  if (!fillings || fillings->size() > kTuning.slots.options) return shares.rest.add(devices, free);
  std::erase_if(*fillings, lp::is_empty);
  for (Level& level : shares.levels)
    if (level.fillings == *fillings) {
      level.free.push_back(free);
      return level.devices.add(devices);
    }
  shares.levels.push_back({std::move(*fillings), {free}, devices, {}});
}

// Which group the pods of each kind go to.
void SlotModel::distribute() {
  for (const KindIndex kind : kinds_.kinds().indices()) {
    if (kinds_.request(kind).kind == GpuRequestKind::kNone) continue;
    std::vector<GroupIndex> groups;
    for (const GroupIndex group : supply_.groups().indices())
      if (supply_.groups()[group].accepted[kinds_.kinds()[kind].filter.value()]) groups.push_back(group);
    if (groups.size() == 1) {
      dealt_[groups[0]][kind] = demand_[kind];
      continue;
    }
    lp::LinearExpression rest = demand_[kind];
    for (const GroupIndex group : groups) {
      const std::int32_t column = builder_.add_column(
          0, lp::kInfinity, true, "x" + std::to_string(kind.value()) + "_" + std::to_string(group.value()));
      dealt_[group][kind].add(column, 1);
      rest.add(column, -1);
    }
    constrain(builder_, rest, 0, 0, "kind" + std::to_string(kind.value()));
  }
}

void SlotModel::add_fillings(GroupIndex index) {
  Shares& shares = shares_[index];
  if (shares.sizes.empty()) return;
  std::vector<lp::LinearExpression> held(shares.sizes.size());
  for (Level& level : shares.levels) {
    lp::LinearExpression used;
    used.add(level.devices, -1);
    for (const lp::Filling& filling : level.fillings) {
      const std::int32_t column = builder_.add_column(0, lp::kInfinity, true, "p" + std::to_string(builder_.columns()));
      level.columns.push_back(column);
      used.add(column, 1);
      for (std::size_t i = 0; i < filling.size(); ++i) held[i].add(column, -filling[i]);
    }
    constrain(builder_, used, -kFree, 0, "level" + std::to_string(builder_.rows()));
  }
  if (!shares.rest.terms.empty() || shares.rest.constant > 0) {
    lp::LinearExpression used;
    used.add(shares.rest, -1);
    for (std::size_t i = 0; i < shares.sizes.size(); ++i) {
      const std::int32_t column = builder_.add_column(0, lp::kInfinity, true, "r" + std::to_string(builder_.columns()));
      shares.rest_columns.push_back(column);
      used.add(column, shares.sharers[i].units);
      held[i].add(column, -1);
    }
    constrain(builder_, used, -kFree, 0, "rest" + std::to_string(index.value()));
  }
  for (std::size_t i = 0; i < shares.sizes.size(); ++i) {
    for (const KindIndex kind : kinds_.kinds().indices())
      if (kinds_.kinds()[kind].size == shares.sizes[i]) held[i].add(dealt_[index][kind], kinds_.request(kind).devices);
    constrain(builder_, held[i], -kFree, 0, "share" + std::to_string(builder_.rows()));
  }
}

void SlotModel::add_rooms(GroupIndex index) {
  const std::vector<lp::WholeSize>& sizes = supply_.whole_sizes();
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    lp::LinearExpression used;
    used.constant = -supply_.groups()[index].room[k];
    for (const KindIndex kind : kinds_.kinds().indices()) {
      const GpuRequest& size = kinds_.request(kind);
      if (is_whole(size) && size.devices >= sizes[k].devices) used.add(dealt_[index][kind], size.devices);
    }
    if (sizes[k].devices == 1 && shares_[index].opened >= 0) used.add(shares_[index].opened, 1);
    for (std::size_t t = 0; t < supply_.node_types().size(); ++t) {
      const NodeType& type = supply_.node_types()[t];
      if (type.group != index) continue;
      for (std::size_t i = 0; i < type.options.size(); ++i) used.add(node_columns_[t][i], -type.options[i].room[k]);
    }
    constrain(builder_, used, -kFree, 0, "room" + std::to_string(builder_.rows()));
  }
}

// --- solving

SlotModel::Outcome SlotModel::solve(cbc::Backend& backend, const cbc::MilpRequest& limits,
                                    std::optional<Work> known) const {
  if (columns() == 0) return {};
  Work unit = 0;
  for (const auto& [column, cost] : moved_work_.terms) unit = std::gcd(unit, cost);
  unit = std::max<Work>(1, unit);
  lp::LinearExpression objective;
  for (const auto& [column, cost] : moved_work_.terms) objective.add(column, cost / unit);
  const lp::Milp milp = builder_.build(objective, -1);
  cbc::MilpRequest request = limits;
  if (known) request.cutoff = -static_cast<double>(*known / unit);
  const cbc::MilpAnswer answer = backend.solve(milp, request);
  Outcome outcome;
  if (answer.status == cbc::SolveStatus::kInfeasible) outcome.least_moved = known;
  if (!answer.x.empty()) outcome.preparation = read(answer.x);
  const bool is_bound = answer.status != cbc::SolveStatus::kInfeasible && answer.status != cbc::SolveStatus::kFailed;
  const std::optional<std::int64_t> least = is_bound ? lp::whole_bound(answer.bound, unit, -1, 0) : std::nullopt;
  if (least) outcome.least_moved = std::max<Work>(0, *least);
  if (!supply_.is_complete()) outcome.least_moved = 0;
  return outcome;
}

// --- from a solution to what is dealt

struct SlotModel::Reading {
  Preparation preparation;
  std::map<NodeIndex, std::map<ResidentIndex, std::int64_t>> off;  // whole users, by node
  std::map<std::pair<NodeIndex, std::int32_t>, std::map<ResidentIndex, std::int64_t>> off_device;
  std::map<KeptIndex, std::vector<PodIndex>> off_of_partial;
  std::map<std::pair<GroupIndex, DeviceUnits>, std::vector<std::pair<NodeIndex, std::int32_t>>> devices;  // by free
};

void SlotModel::read_nodes(const std::vector<double>& x, Reading& reading) const {
  std::map<DeviceTypeIndex, std::map<NodeIndex, std::int64_t>> cleared;
  for (std::size_t t = 0; t < supply_.node_types().size(); ++t) {
    const NodeType& type = supply_.node_types()[t];
    auto node = type.nodes.begin();
    for (std::size_t i = 0; i < type.options.size(); ++i)
      for (std::int64_t n = round_of(node_columns_[t][i], x); n > 0 && node != type.nodes.end(); --n, ++node) {
        for (const auto& [resident, count] : type.options[i].off) reading.off[*node][resident] += count;
        for (const auto& [device_type, count] : type.options[i].cleared) cleared[device_type][*node] += count;
      }
  }
  for (const DeviceTypeIndex index : supply_.device_types().indices()) {
    const DeviceType& type = supply_.device_types()[index];
    std::vector<std::pair<NodeIndex, std::int32_t>> rest;
    for (const auto& device : type.devices) {
      auto& left = cleared[index][device.first];
      if (left > 0) {
        --left;
        for (const auto& [resident, count] : type.residents) reading.off_device[device][resident] += count;
      } else {
        rest.push_back(device);
      }
    }
    auto device = rest.begin();
    for (const DeviceOption& option : device_options_[index])
      for (std::int64_t n = round_of(option.column, x); n > 0 && device != rest.end(); --n, ++device) {
        for (const auto& [resident, count] : option.off) reading.off_device[*device][resident] += count;
        reading.devices[{type.group, option.free}].push_back(*device);
      }
  }
}

// Which pods are off: of equal ones on a node, those with the most cores.
void SlotModel::read_leaving(const std::vector<double>& x, Reading& reading) const {
  std::vector<PodIndex> pods;
  for (const KeptPods& kept : task_.kept) pods.insert(pods.end(), kept.pods.begin(), kept.pods.end());
  std::ranges::sort(pods, {}, [&](PodIndex pod) { return std::pair(kinds_.rank(pod), pod); });
  for (const PodIndex pod : pods) {
    const ResidentIndex resident = supply_.resident_of(pod);
    if (resident.is_none()) continue;
    const Resident& one = supply_.residents()[resident];
    const NodeIndex node = task_.problem.pods[pod].node;
    std::int64_t* off = nullptr;
    if (is_whole(kinds_.request(one.kind)))
      off = &reading.off[node][resident];
    else
      off = &reading.off_device[{node, task_.problem.devices_of(pod)[0]}][resident];
    if (*off == 0) continue;
    --*off;
    if (one.partial.is_none())
      reading.preparation.off.push_back(pod);
    else
      reading.off_of_partial[one.partial].push_back(pod);
  }
  // Those that are not modelled leave as without a model.
  for (const PodIndex pod : choose_left(task_, kinds_).left)
    if (!off_of_partial_.contains(kinds_.kept_of(pod))) reading.preparation.left.push_back(pod);
  for (const auto& [kept, off] : reading.off_of_partial) {
    const std::int64_t moved = round_of(moved_of_partial_[kept.value()], x);
    const auto first_left = off.begin() + std::min<std::ptrdiff_t>(moved, std::ssize(off));
    reading.preparation.off.insert(reading.preparation.off.end(), off.begin(), first_left);
    reading.preparation.left.insert(reading.preparation.left.end(), first_left, off.end());
  }
}

void SlotModel::read_fillings(const std::vector<double>& x, Reading& reading) const {
  for (const GroupIndex group : supply_.groups().indices()) {
    const Shares& shares = shares_[group];
    reading.preparation.parts.push_back(supply_.groups()[group].nodes);
    const DeviceUnits whole = std::max<std::int64_t>(1, supply_.groups()[group].device_memory_mib) * 1'000'000;
    for (const Level& level : shares.levels) {
      std::vector<std::pair<NodeIndex, std::int32_t>> devices;
      for (const DeviceUnits free : level.free) {
        const auto& found = reading.devices[{group, free}];
        devices.insert(devices.end(), found.begin(), found.end());
        const auto others = supply_.groups()[group].devices.find(free);
        if (others != supply_.groups()[group].devices.end())
          devices.insert(devices.end(), others->second.begin(), others->second.end());
      }
      const bool has_idle = std::ranges::find(level.free, whole) != level.free.end();
      auto device = devices.begin();
      for (std::size_t j = 0; j < level.fillings.size(); ++j)
        for (std::int64_t n = round_of(level.columns[j], x); n > 0; --n) {
          Preparation::Device planned;
          if (device != devices.end()) {
            planned.node = device->first;
            planned.device = (device++)->second;
          } else if (has_idle) {
            planned.part = group.value();
          } else {
            break;
          }
          for (std::size_t i = 0; i < shares.sizes.size(); ++i)
            if (level.fillings[j][i] > 0) planned.sharers[shares.sizes[i]] = level.fillings[j][i];
          reading.preparation.devices.push_back(std::move(planned));
        }
    }
  }
}

Preparation SlotModel::read(const std::vector<double>& x) const {
  Reading reading;
  read_nodes(x, reading);
  read_leaving(x, reading);
  read_fillings(x, reading);
  return std::move(reading.preparation);
}

}  // namespace muster::slots
