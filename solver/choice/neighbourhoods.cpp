#include "solver/choice/neighbourhoods.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "model/base/tuning.h"

namespace muster::choice {
namespace {

constexpr LoopTuning kLoop = kTuning.milp.loop;

constexpr double kSame = 1e-6;  // tolerance of two values of a column

// The same with every library.
template <class T>
void shuffle(std::vector<T>& values, std::mt19937_64& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

// Whether the column decides what is reclaimed at all, on which grounds.
bool is_reclaim(const formulation::ColumnOwner& owner) { return owner.gang.is_none() && owner.channel.has_value(); }

double drawn_part(std::mt19937_64& random) {
  constexpr double kRange = 18446744073709551616.0;  // 2^64
  return static_cast<double>(random()) / kRange;
}

}  // namespace

// What is being freed.
struct Neighbourhoods::Part {
  Indexed<formulation::GangClassIndex, bool> gangs;
  Indexed<NodeIndex, bool> nodes;
  std::vector<bool> zones, channels;  // empty: all
  std::size_t columns = 0;

  void add(formulation::GangClassIndex index, const GangPart& gang) {
    if (gangs[index] || gang.columns.empty()) return;
    gangs[index] = true;
    columns += gang.columns.size();
    for (const NodeIndex node : gang.nodes) nodes[node] = true;
  }
};

Neighbourhoods::Neighbourhoods(const Problem& problem, const formulation::Demand& demand,
                               const formulation::PlacementZones& zones,
                               const std::vector<formulation::EvictionChannel>& channels,
                               std::vector<formulation::ColumnOwner> owners)
    : demand_(demand),
      zones_(zones),
      channels_(channels),
      owners_(std::move(owners)),
      gangs_(demand.gang_classes.size()),
      running_on_(problem.nodes.size()),
      zone_count_(zones.nodes.size()),
      has_reclaims_(std::ranges::any_of(owners_, is_reclaim)) {
  for (std::size_t column = 0; column < owners_.size(); ++column)
    if (!owners_[column].gang.is_none()) {
      GangPart& gang = gangs_[owners_[column].gang];
      gang.columns.push_back(static_cast<std::int32_t>(column));
      if (owners_[column].channel) gang.channels.insert(*owners_[column].channel);
      ++gang_columns_;
    }
  for (const formulation::GangClassIndex index : demand.gang_classes.indices()) {
    GangPart& gang = gangs_[index];
    for (const formulation::RunningCellIndex cell : demand.gang_classes[index].running)
      for (const PodIndex pod : demand.running[cell].pods) gang.nodes.push_back(problem.pods[pod].node);
    std::ranges::sort(gang.nodes);
    gang.nodes.erase(std::ranges::unique(gang.nodes).begin(), gang.nodes.end());
    gang.runs = !gang.nodes.empty();
    for (const NodeIndex node : gang.nodes) running_on_[node].push_back(index);
  }
}

Neighbourhood Neighbourhoods::from(std::int32_t first) const {
  Neighbourhood result{std::vector<bool>(owners_.size(), false), {}};
  std::fill(result.is_free.begin() + first, result.is_free.end(), true);
  return result;
}

std::optional<Neighbourhood> Neighbourhoods::above(std::int32_t priority, const lp::LinearExpression& level) const {
  Neighbourhood result = all();
  result.is_left_out.resize(owners_.size());
  for (const formulation::GangClassIndex index : gangs_.indices())
    if (demand_.gang_classes[index].priority < priority)
      for (const std::int32_t column : gangs_[index].columns)
        result.is_left_out[static_cast<std::size_t>(column)] = true;
  for (const auto& [column, coefficient] : level.terms) result.is_left_out[static_cast<std::size_t>(column)] = false;
  bool is_any = false;
  for (std::size_t column = 0; column < owners_.size(); ++column)
    if (result.is_left_out[column]) {
      is_any = true;
      result.is_free[column] = false;
    }
  if (!is_any) return std::nullopt;
  return result;
}

Neighbourhood Neighbourhoods::completing(const std::vector<double>& x, const std::vector<bool>& is_left_out) const {
  Neighbourhood result = all();
  for (std::size_t column = 0; column < owners_.size(); ++column)
    if (!owners_[column].gang.is_none() && !is_left_out[column])
      result.set.emplace_back(static_cast<std::int32_t>(column), x[column]);
  return result;
}

Neighbourhood Neighbourhoods::free(NeighbourhoodKind kind, std::size_t size, const LevelId& level, const Around& around,
                                   std::mt19937_64& random) const {
  const std::vector<double>& x = around.x;
  const bool settles_reclaims = kind != NeighbourhoodKind::kChannels && has_reclaims_;
  if (size >= gang_columns_ && kind != NeighbourhoodKind::kReclaims && !settles_reclaims) return all();
  Part part{Indexed<formulation::GangClassIndex, bool>(gangs_.size(), false),
            Indexed<NodeIndex, bool>(running_on_.size(), false),
            {},
            {}};
  Gangs order;
  for (const formulation::GangClassIndex index : gangs_.indices()) order.push_back(index);
  shuffle(order, random);
  const auto add_until = [&](const Gangs& gangs, std::size_t columns) {
    for (auto gang = gangs.begin(); gang != gangs.end() && part.columns < columns; ++gang)
      part.add(*gang, gangs_[*gang]);
  };
  switch (kind) {
    case NeighbourhoodKind::kReclaims:
      return other_reclaims(std::move(order), size, x, random);
    case NeighbourhoodKind::kQueues: {
      std::map<QueueIndex, std::uint64_t> rank;
      for (const formulation::GangClass& gang : demand_.gang_classes) rank.try_emplace(gang.queue, random());
      std::ranges::stable_sort(order, {}, [&](auto gang) { return rank.at(demand_.gang_classes[gang].queue); });
      add_until(order, size);
      break;
    }
    case NeighbourhoodKind::kPriority: {
      Gangs waiting, running;
      for (const auto gang : order) {
        if (gangs_[gang].runs)
          running.push_back(gang);
        else if (demand_.gang_classes[gang].priority >= level.priority)
          waiting.push_back(gang);
      }
      add_until(waiting, static_cast<std::size_t>(kLoop.waiting * static_cast<double>(size)));
      add_until(running, size);
      break;
    }
    case NeighbourhoodKind::kNodes:
      std::erase_if(order, [&](auto gang) { return gangs_[gang].runs; });
      add_until(order, size / 2);
      add_nodes(size, random, part);
      break;
    case NeighbourhoodKind::kZones:
      add_zones(order, size, x, random, part);
      break;
    case NeighbourhoodKind::kRelaxation:
      add_until(order, static_cast<std::size_t>(kLoop.waiting * static_cast<double>(size)));
      break;
    case NeighbourhoodKind::kChannels:
      add_channels(order, size, random, part);
      break;
  }
  Neighbourhood result{std::vector<bool>(owners_.size()), {}};
  for (std::size_t column = 0; column < owners_.size(); ++column) {
    const formulation::ColumnOwner& owner = owners_[column];
    const bool is_used = !owner.gang.is_none() && x[column] > 0.5;
    result.is_free[column] =
        (!settles_reclaims || !is_reclaim(owner)) && (owner.gang.is_none() || part.gangs[owner.gang]) &&
        (owner.node.is_none() || part.nodes[owner.node]) &&
        (owner.zone.is_none() || part.zones.empty() || part.zones[owner.zone.value()] || is_used) &&
        (!owner.channel || part.channels.empty() || part.channels[*owner.channel] || is_used);
    if (kind == NeighbourhoodKind::kRelaxation && std::abs(around.relaxed[column] - x[column]) > kSame)
      result.is_free[column] = true;
  }
  return result;
}

Neighbourhood Neighbourhoods::other_reclaims(Gangs order, std::size_t size, const std::vector<double>& x,
                                             std::mt19937_64& random) const {
  std::map<std::size_t, bool> is_active;  // by channel
  for (std::size_t column = 0; column < owners_.size(); ++column)
    if (is_reclaim(owners_[column])) is_active[*owners_[column].channel] |= x[column] > 0.5;
  std::set<std::size_t> given_up, opened;
  const auto drawn = [&] { return random() % 2 == 0; };
  const bool is_all = drawn(), may_open = drawn();
  for (const auto& [channel, active] : is_active) {
    if (active && (is_all || drawn())) given_up.insert(channel);
    if (!active && may_open && drawn()) opened.insert(channel);
  }
  Part part{Indexed<formulation::GangClassIndex, bool>(gangs_.size(), false),
            Indexed<NodeIndex, bool>(running_on_.size(), false),
            {},
            {}};
  for (const std::size_t channel : given_up)
    for (const formulation::GangClassIndex gang : channels_[channel].claimants) part.add(gang, gangs_[gang]);
  for (std::size_t column = 0; column < owners_.size(); ++column) {
    const formulation::ColumnOwner& owner = owners_[column];
    if (!owner.gang.is_none() && owner.channel && given_up.contains(*owner.channel) && x[column] > 0.5)
      part.add(owner.gang, gangs_[owner.gang]);
  }
  const auto is_near = [&](formulation::GangClassIndex gang) {
    return std::ranges::any_of(opened, [&](std::size_t channel) {
      return gangs_[gang].channels.contains(channel) || std::ranges::count(channels_[channel].claimants, gang) > 0;
    });
  };
  if (!opened.empty()) std::ranges::stable_partition(order, is_near);
  for (auto gang = order.begin(); gang != order.end() && part.columns < size; ++gang) part.add(*gang, gangs_[*gang]);
  Neighbourhood result{std::vector<bool>(owners_.size()), {}};
  for (std::size_t column = 0; column < owners_.size(); ++column) {
    const formulation::ColumnOwner& owner = owners_[column];
    if (is_reclaim(owner)) {
      const bool is_given_up = given_up.contains(*owner.channel);
      result.is_free[column] = is_given_up || opened.contains(*owner.channel);
      if (is_given_up) result.set.emplace_back(static_cast<std::int32_t>(column), 0);
    } else {
      result.is_free[column] =
          (owner.gang.is_none() || part.gangs[owner.gang]) && (owner.node.is_none() || part.nodes[owner.node]);
    }
  }
  return result;
}

void Neighbourhoods::add_nodes(std::size_t size, std::mt19937_64& random, Part& part) const {
  std::vector<NodeIndex> nodes;
  for (const NodeIndex node : running_on_.indices())
    if (!running_on_[node].empty()) nodes.push_back(node);
  shuffle(nodes, random);
  for (auto node = nodes.begin(); node != nodes.end() && part.columns < size; ++node) {
    part.nodes[*node] = true;
    for (const formulation::GangClassIndex gang : running_on_[*node]) part.add(gang, gangs_[gang]);
  }
}

// At least two zones, between which gangs can change.
void Neighbourhoods::add_zones(const Gangs& order, std::size_t size, const std::vector<double>& x,
                               std::mt19937_64& random, Part& part) const {
  std::vector<Gangs> in_zone(zone_count_);
  for (const formulation::GangClassIndex index : gangs_.indices()) {
    std::vector<bool> zones(zone_count_);
    for (const NodeIndex node : gangs_[index].nodes) zones[zones_.of_node[node].value()] = true;
    for (const std::int32_t column : gangs_[index].columns) {
      const auto j = static_cast<std::size_t>(column);
      if (!owners_[j].zone.is_none() && x[j] > 0.5) zones[owners_[j].zone.value()] = true;
    }
    for (std::size_t zone = 0; zone < zone_count_; ++zone)
      if (zones[zone]) in_zone[zone].push_back(index);
  }
  std::vector<std::size_t> zones(zone_count_);
  for (std::size_t zone = 0; zone < zone_count_; ++zone) zones[zone] = zone;
  shuffle(zones, random);
  part.zones.assign(zone_count_, false);
  const auto count = [&](formulation::GangClassIndex index) {
    return std::ranges::count_if(gangs_[index].columns, [&](std::int32_t column) {
      const formulation::ZoneIndex zone = owners_[static_cast<std::size_t>(column)].zone;
      return zone.is_none() || part.zones[zone.value()];
    });
  };
  std::size_t columns = 0;
  const auto add = [&](formulation::GangClassIndex gang) {
    if (part.gangs[gang]) return;
    part.add(gang, gangs_[gang]);
    columns += static_cast<std::size_t>(count(gang));
  };
  std::size_t chosen = 0;
  for (const std::size_t zone : zones) {
    if (chosen >= 2 && columns >= size / 2) break;
    ++chosen;
    part.zones[zone] = true;
    for (const formulation::GangClassIndex gang : in_zone[zone]) add(gang);
  }
  const auto is_placed = [&](formulation::GangClassIndex gang) {
    return std::ranges::any_of(gangs_[gang].columns,
                               [&](std::int32_t column) { return x[static_cast<std::size_t>(column)] > 0.5; });
  };
  for (auto gang = order.begin(); gang != order.end() && columns < size; ++gang)
    if (!gangs_[*gang].runs && !is_placed(*gang)) add(*gang);
}

void Neighbourhoods::add_channels(const Gangs& order, std::size_t size, std::mt19937_64& random, Part& part) const {
  std::vector<std::size_t> channels(channels_.size());
  for (std::size_t i = 0; i < channels.size(); ++i) channels[i] = i;
  shuffle(channels, random);
  part.channels.assign(channels_.size(), false);
  std::size_t columns = 0;
  for (auto channel = channels.begin(); channel != channels.end() && columns < size; ++channel) {
    part.channels[*channel] = true;
    Gangs claimants = channels_[*channel].claimants;
    shuffle(claimants, random);
    const std::size_t half = columns + (size - columns) / 2;
    for (auto gang = claimants.begin(); gang != claimants.end() && columns < half; ++gang) {
      if (!part.gangs[*gang]) columns += gangs_[*gang].columns.size();
      part.add(*gang, gangs_[*gang]);
    }
    for (auto gang = order.begin(); gang != order.end() && columns < size; ++gang)
      if (gangs_[*gang].channels.contains(*channel)) {
        part.add(*gang, gangs_[*gang]);
        ++columns;
      }
  }
}

bool Neighbourhoods::has(NeighbourhoodKind kind) const {
  if (kind == NeighbourhoodKind::kZones) return zone_count_ > 1;
  return (kind != NeighbourhoodKind::kChannels && kind != NeighbourhoodKind::kReclaims) || channels_.size() > 1;
}

NeighbourhoodPicker::NeighbourhoodPicker(const Neighbourhoods& of) : most_(static_cast<double>(of.gang_columns())) {
  for (std::size_t i = 0; i < states_.size(); ++i)
    states_[i] = {of.has(static_cast<NeighbourhoodKind>(i)), std::min(kLoop.first, most_), 1};
}

NeighbourhoodPicker::Pick NeighbourhoodPicker::next(std::mt19937_64& random) const {
  double sum = 0;
  for (const State& state : states_)
    if (state.is_used) sum += state.rate;
  const auto weight = [&](const State& state) { return state.is_used ? state.rate + kLoop.least * sum : 0; };
  double all = 0;
  for (const State& state : states_) all += weight(state);
  double at = drawn_part(random) * all;
  std::size_t kind = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].is_used) continue;
    kind = i;
    if ((at -= weight(states_[i])) < 0) break;
  }
  return {static_cast<NeighbourhoodKind>(kind), static_cast<std::size_t>(states_[kind].size)};
}

void NeighbourhoodPicker::hear(NeighbourhoodKind kind, bool has_gained, bool is_solved, double effort) {
  State& state = states_[static_cast<std::size_t>(kind)];
  const double least = 1 / kLoop.stop;  // what is solved at once is no better than what is solved in a part of the time
  state.rate = kLoop.memory * state.rate + (1 - kLoop.memory) * (has_gained ? 1 / std::max(least, effort) : 0);
  if (is_solved && effort < 1) {
    // What one kind solves in time, the others may try.
    for (State& other : states_) other.size = std::max(other.size, state.size);
    state.size = std::min(most_, kLoop.growth * state.size);
  }
  if (!is_solved && !has_gained) state.size = std::max(1.0, kLoop.shrink * state.size);
}

}  // namespace muster::choice
