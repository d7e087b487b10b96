#include "solver/online/online_placer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

#include "heuristics/policies/online_tie_break.h"
#include "model/base/require.h"
#include "model/base/tuning.h"
#include "solver/online/online_bids.h"
#include "solver/online/online_states.h"

namespace muster::online {

namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

// All that follows from one solve.
struct Prices {
  policies::OnlineValue value;
  policies::OnlineUsable usable;
  policies::OnlineHosts hosts;
};

// The gain of one class in one state: by a device that is already in use (or by none), and by idle ones.
struct Gain {
  std::uint32_t stamp = 0;
  bool fits = false, is_exact = false;  // not exact: `part` is an upper bound of both
  std::uint8_t level = 0;               // of the device in use
  std::uint8_t type = 0;                // of the state
  float part = kNone, fresh = kNone;
  policies::OnlineHosts::Kinds part_lost = 0, fresh_lost = 0;
};

struct Met {  // a class
  policies::OnlineClass pod;
  std::int64_t cpu = 0, memory = 0;
  std::vector<Gain> gains;  // by state
};

}  // namespace

struct OnlinePlacer::Implementation {
  Implementation(const std::vector<policies::OnlineType>& all_types, const std::vector<std::size_t>& type_of_node)
      : types(all_types), bidder(all_types), nodes(types, type_of_node), use(types, type_of_node) {
    adopt(make_prices(types, {}, {}, {}));
    next_solve = interval();
  }

  void value_state(State& state) {
    const policies::OnlineCapacity room = room_of(state.key, state.levels());
    const policies::OnlineValue::Valued valued = prices->value.value(room);
    state.value = valued.value;
    state.point = valued.point;
    state.usable = static_cast<float>(prices->usable.of(room));
    state.hosted = hosted_by(state);
    state.is_valued = true;
  }

  // --- Prices

  static Prices make_prices(const std::vector<policies::OnlineType>& of, const std::vector<policies::OnlineClass>& pods,
                            const std::vector<double>& frequencies, const std::vector<double>& bids) {
    return {policies::OnlineValue(of, pods, bids, frequencies), policies::OnlineUsable(pods, frequencies, of.size()),
            policies::OnlineHosts(of, pods, frequencies)};
  }

  void adopt(Prices news) {
    prices = std::move(news);
    nodes.forget_values();
    hosts.assign(prices->hosts.size(), 0);
    for (const State& state : nodes.all()) count_hosts(state, static_cast<std::int32_t>(state.nodes.size()));
    price_hosts();
    std::vector<const policies::OnlineClass*> known;
    for (const Met& met : classes) known.push_back(&met.pod);
    use.group(known);
  }

  policies::OnlineHosts::Kinds hosted_by(const State& state) const {
    const policies::OnlineCapacity room = room_of(state.key, state.levels());
    return prices->hosts.hosted(room.type, room.cpu, room.memory, state.whole());
  }
  void count_hosts(const State& state, std::int32_t count) {
    const policies::OnlineHosts::Kinds hosted = hosted_by(state);
    for (std::size_t i = 0; i < hosts.size(); ++i) hosts[i] += (hosted >> i & 1) != 0 ? count : 0;
  }
  void price_hosts() { prices->hosts.price(hosts, coming_demand(arrived / use.devices()) * use.devices()); }

  OnlineForecast forecast() const {
    OnlineForecast result;
    for (const Met& met : classes) result.classes.push_back(met.pod);
    result.counts = counts;
    result.supply.resize(types.size());
    for (const State& state : nodes.all()) {
      OnlineSupply& supply = result.supply[state.key.type];
      const auto count = static_cast<std::int32_t>(state.nodes.size());
      supply.cpu += count * static_cast<double>(state.key.cpu) / 1000;
      supply.memory += count * static_cast<double>(state.key.memory) / 1024;
      for (const std::uint8_t level : state.levels()) supply.devices[level] += count;
    }
    result.arrived = arrived / use.devices();
    result.devices = use.devices();
    return result;
  }

  // Pods between two solves. The more classes and types there are, the longer a solve takes.
  std::int64_t interval() const {
    return std::llround(kTuning.online.interval * static_cast<double>(classes.size() + types.size()));
  }

  // For what is known and free now, once `pods` have arrived.
  void solve(std::int64_t pods) {
    next_solve = pods + interval();
    const OnlineForecast input = forecast();
    adopt(make_prices(types, input.classes, input.counts, bidder.bids(input)));
  }

  // --- One pod

  // Counts one more of the class. Returns its position.
  std::size_t meet(const policies::OnlineClass& pod) {
    const auto found = std::ranges::find(classes, pod, &Met::pod);
    const auto position = static_cast<std::size_t>(found - classes.begin());
    if (found == classes.end()) {
      classes.push_back({pod, std::llround(pod.cpu * 1000), std::llround(pod.memory * 1024), {}});
      counts.push_back(0);
    }
    counts[position] += 1;
    return position;
  }

  static bool fits(const Met& pod, const State& state) {
    if (!pod.pod.accepts_type(state.key.type) || pod.cpu > state.key.cpu || pod.memory > state.key.memory) return false;
    if (pod.pod.devices == 0) return true;
    std::int32_t found = 0;
    for (const std::uint8_t level : state.levels()) found += level >= pod.pod.level ? 1 : 0;
    return found >= pod.pod.devices;
  }

  struct After {
    StateKey key;  // cpu and memory only; the devices as before
    policies::OnlineCapacity room;
    const policies::OnlineValue::Table* table;
  };
  After after(const Met& pod, const State& state) {
    After result{state.key, {}, nullptr};
    result.key.cpu -= pod.cpu;
    result.key.memory -= pod.memory;
    result.room = room_of(result.key, state.levels());
    const std::size_t bucket = prices->value.bucket(result.room.type, result.room.cpu, result.room.memory);
    result.table = &prices->value.table(result.room.type, bucket);
    return result;
  }

  // An upper bound of the gain: the value afterwards at the prices that are least before.
  float bound(const Met& pod, State& state) {
    if (!state.is_valued) value_state(state);
    const After then = after(pod, state);
    const std::size_t g = state.point;
    const policies::OnlineValue::Table& table = *then.table;
    float sum = prices->value.cpu_price(g) * static_cast<float>(then.room.cpu) +
                prices->value.memory_price(g) * static_cast<float>(then.room.memory);
    float best = pod.pod.devices == 0 ? 0 : kNone;
    const bool is_fraction = pod.pod.devices == 1 && pod.pod.level < policies::kDeviceLevels;
    const auto wanted = static_cast<std::size_t>(pod.pod.level);
    for (const std::uint8_t level : state.levels()) {
      if (level == policies::kDeviceLevels || level == 0) continue;
      sum += table.cut[level][g];
      if (is_fraction && level >= wanted) best = std::max(best, table.cut[level - wanted][g] - table.cut[level][g]);
    }
    const auto whole = static_cast<std::size_t>(state.whole()), devices = static_cast<std::size_t>(pod.pod.devices);
    sum += table.whole[whole][g];
    if (devices > 0 && whole >= devices) {
      const float rest = is_fraction ? table.cut[policies::kDeviceLevels - wanted][g] : 0;
      best = std::max(best, table.whole[whole - devices][g] + rest - table.whole[whole][g]);
    }
    return sum + best - state.value;
  }

  void make_exact(const Met& pod, State& state, Gain& gain) {
    const After then = after(pod, state);
    const policies::OnlineValue::Row sum = prices->value.terms(then.room, *then.table);
    const std::int32_t whole = state.whole();
    std::vector<std::uint8_t>& levels = scratch_levels;
    const auto total = [&](float value) {
      const auto usable =
          static_cast<float>(prices->usable.of({then.room.type, then.room.cpu, then.room.memory, levels}));
      return value - state.value + static_cast<float>(kTuning.online.usable) * (usable - state.usable);
    };
    const auto lost = [&](std::int32_t left) {
      return state.hosted & ~prices->hosts.hosted(then.room.type, then.room.cpu, then.room.memory, left);
    };
    gain.is_exact = true;
    gain.part = kNone;
    levels.assign(state.levels().begin(), state.levels().end());
    const std::int32_t devices = pod.pod.devices;
    const bool is_fraction = devices == 1 && pod.pod.level < policies::kDeviceLevels;
    if (devices == 0) {
      gain.part = total(policies::least_of(sum));
      gain.part_lost = lost(whole);
      return;
    }
    const policies::OnlineValue::Table& table = *then.table;
    const auto wanted = static_cast<std::size_t>(pod.pod.level);
    for (std::size_t i = 0; is_fraction && i < levels.size(); ++i) {
      const std::uint8_t level = levels[i];
      if (level < wanted || level == policies::kDeviceLevels || (i > 0 && levels[i - 1] == level)) continue;
      const float least = policies::least_of(
          policies::sum_of(policies::difference_of(sum, table.cut[level]), table.cut[level - wanted]));
      if (least - state.value <= gain.part) continue;  // usable devices never rise
      levels[i] = static_cast<std::uint8_t>(level - wanted);
      const float value = total(least);
      levels[i] = level;
      if (value <= gain.part) continue;
      gain.part = value;
      gain.level = level;
      gain.part_lost = lost(whole);
    }
    if (whole < devices) return;
    const auto before = static_cast<std::size_t>(whole), left = static_cast<std::size_t>(whole - devices);
    policies::OnlineValue::Row changed =
        policies::sum_of(policies::difference_of(sum, table.whole[before]), table.whole[left]);
    if (is_fraction) changed = policies::sum_of(changed, table.cut[policies::kDeviceLevels - wanted]);
    const float least = policies::least_of(changed);
    if (least - state.value <= gain.part) return;  // and it does not leave more hosts either
    for (std::size_t i = 0; i < static_cast<std::size_t>(devices); ++i)
      levels[levels.size() - 1 - i] = static_cast<std::uint8_t>(policies::kDeviceLevels - wanted);
    gain.fresh = total(least);
    gain.fresh_lost = lost(whole - devices);
  }

  float score(const Gain& gain) const {
    return std::max(gain.part - prices->hosts.premium(gain.part_lost),
                    gain.fresh - prices->hosts.premium(gain.fresh_lost));
  }

  // Not exact yet.
  Gain looked_at(const Met& pod, std::size_t slot) {
    State& state = nodes.all()[slot];
    Gain gain;
    gain.stamp = nodes.stamp(slot);
    gain.type = static_cast<std::uint8_t>(state.key.type);
    gain.fits = fits(pod, state);
    if (gain.fits) gain.part = bound(pod, state);
    return gain;
  }

  // The best state for the pod; nodes.all().size(): none. `open`: by slot, those that may be taken; empty: all.
  std::size_t best_state(Met& pod, std::span<const std::uint8_t> open = {}) {
    pod.gains.resize(nodes.all().size());
    const auto work = static_cast<float>(pod.pod.work());
    std::size_t best = nodes.all().size();
    float best_score = kNone;
    candidates.clear();
    for (std::size_t slot = 0; slot < nodes.all().size(); ++slot) {
      if (nodes.stamp(slot) == 0 || (!open.empty() && open[slot] == 0)) continue;
      Gain& gain = pod.gains[slot];
      if (gain.stamp != nodes.stamp(slot)) gain = looked_at(pod, slot);
      if (!gain.fits) continue;
      const float s = score(gain) + work * use.shift(gain.type);
      if (s < best_score) continue;
      if (!gain.is_exact) {
        candidates.emplace_back(s, slot);
      } else if (s > best_score) {
        best_score = s;
        best = slot;
      }
    }
    const auto is_less = [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    };
    std::ranges::make_heap(candidates, is_less);
    while (!candidates.empty() && candidates.front().first >= best_score) {
      const std::size_t slot = candidates.front().second;
      std::ranges::pop_heap(candidates, is_less);
      candidates.pop_back();
      make_exact(pod, nodes.all()[slot], pod.gains[slot]);
      const float s = score(pod.gains[slot]) + work * use.shift(pod.gains[slot].type);
      if (s > best_score || (s == best_score && slot < best)) {
        best_score = s;
        best = slot;
      }
    }
    return best;
  }

  // On this node in the state (none: any), by the better of the two gains.
  OnlinePlace chosen(const Met& pod, std::size_t slot, std::optional<std::size_t> node = {}) const {
    const Gain& gain = pod.gains[slot];
    const bool takes_part =
        gain.part - prices->hosts.premium(gain.part_lost) >= gain.fresh - prices->hosts.premium(gain.fresh_lost);
    const std::uint8_t level = takes_part ? gain.level : std::uint8_t{policies::kDeviceLevels};
    OnlinePlace place;
    place.node = node.value_or(static_cast<std::size_t>(nodes.all()[slot].nodes.back()));
    const std::vector<std::uint8_t>& devices = nodes.devices(place.node);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (place.devices.size() == static_cast<std::size_t>(pod.pod.devices)) break;
      if (devices[i] == level) place.devices.push_back(static_cast<std::int32_t>(i));
    }
    return place;
  }

  // The pod comes (1) or leaves (-1).
  void change(const Met& pod, const OnlinePlace& place, std::int32_t sign) {
    count_hosts(nodes.of(place.node), -1);
    use.use(nodes.of(place.node).key.type, sign * pod.pod.work());
    nodes.take(place.node, sign * pod.cpu, sign * pod.memory, place.devices, sign * pod.pod.level);
    count_hosts(nodes.of(place.node), 1);
  }

  std::optional<OnlinePlace> place(const policies::OnlineClass& pod) {
    if (seen >= next_solve) solve(seen);
    Met& one = classes[meet(pod)];
    arrived += pod.work();
    ++seen;
    price_hosts();
    const std::size_t slot = best_state(one);
    if (slot == nodes.all().size()) return std::nullopt;
    OnlinePlace place = chosen(one, slot);
    change(one, place, 1);
    return place;
  }

  // --- A batch: what OnlineBatch asks for

  const policies::OnlineClass& pod_of(std::size_t index) const { return classes[index].pod; }
  std::optional<OnlinePlace> best_place(std::size_t index) {
    const std::size_t slot = best_state(classes[index]);
    if (slot == nodes.all().size()) return std::nullopt;
    return chosen(classes[index], slot);
  }
  void change(std::size_t index, const OnlinePlace& place, std::int32_t sign) { change(classes[index], place, sign); }

  double value_of(State& state) {
    if (!state.is_valued) value_state(state);
    return state.value + kTuning.online.usable * state.usable + prices->hosts.premium(state.hosted);
  }
  double worth(std::size_t node) { return value_of(nodes.of(node)); }
  double weight() const { return weight_of(arrived / use.devices()); }
  double worth_of_nodes() {
    double sum = 0;
    for (State& state : nodes.all())
      sum += state.nodes.empty() ? 0 : static_cast<double>(state.nodes.size()) * value_of(state);
    return sum;
  }
  double balance() const { return use.balance(); }

  std::vector<std::optional<OnlinePlace>> place_batch(std::span<const policies::OnlineClass> pods) {
    std::vector<std::size_t> class_of_pod;
    for (const policies::OnlineClass& pod : pods) class_of_pod.push_back(meet(pod));
    const auto count = static_cast<std::int64_t>(pods.size());
    if (seen + count + count / 2 >= next_solve) solve(seen + count);  // at the batch that ends nearest to it
    seen += count;
    for (const policies::OnlineClass& pod : pods) arrived += pod.work();
    return OnlineBatch(*this, std::move(class_of_pod)).place(static_cast<std::uint64_t>(seen));
  }

  std::vector<policies::OnlineType> types;
  OnlineBidder bidder;
  NodeStates nodes;
  TypeBalance use;
  double arrived = 0;
  std::vector<Met> classes;
  std::vector<double> counts;
  std::optional<Prices> prices;
  std::vector<std::int32_t> hosts;  // by kind of pods of several devices: nodes that can take one
  std::int64_t seen = 0, next_solve = 0;
  std::vector<std::pair<float, std::size_t>> candidates;
  std::vector<std::uint8_t> scratch_levels;
};

OnlinePlacer::OnlinePlacer(const std::vector<policies::OnlineType>& types, const std::vector<std::size_t>& type_of_node)
    : implementation_(std::make_unique<Implementation>(types, type_of_node)) {
  MUSTER_REQUIRE(types.size() <= policies::kMostOnlineTypes);
  MUSTER_REQUIRE_SLOW(std::ranges::all_of(types, [](const policies::OnlineType& type) {
    return static_cast<std::size_t>(type.devices) <= policies::kMostOnlineDevices;
  }));
}
OnlinePlacer::~OnlinePlacer() = default;

std::optional<OnlinePlace> OnlinePlacer::place(const policies::OnlineClass& pod) { return implementation_->place(pod); }
std::vector<std::optional<OnlinePlace>> OnlinePlacer::place_batch(std::span<const policies::OnlineClass> pods) {
  if (pods.size() == 1) return {place(pods[0])};
  return implementation_->place_batch(pods);
}

// --- A cluster that is in use already

void OnlinePlacer::occupy(std::size_t node, const OnlineUse& use) {
  NodeStates& nodes = implementation_->nodes;
  const std::vector<std::uint8_t>& levels = nodes.devices(node);
  MUSTER_REQUIRE(use.levels.size() == levels.size());
  const policies::OnlineCapacity room = room_of(nodes.of(node).key, nodes.of(node).levels());
  implementation_->count_hosts(nodes.of(node), -1);
  nodes.take(node, std::llround(use.cpu * 1000), std::llround(use.memory * 1024), {}, 0);
  for (std::size_t device = 0; device < use.levels.size(); ++device) {
    const std::int32_t position = static_cast<std::int32_t>(device),
                       taken = std::min(use.levels[device], levels[device]);
    if (taken == 0) continue;
    nodes.take(node, 0, 0, {&position, 1}, taken);
    implementation_->use.use(room.type, taken / static_cast<double>(policies::kDeviceLevels));
  }
  implementation_->count_hosts(nodes.of(node), 1);
}

void OnlinePlacer::expect(std::span<const policies::OnlineClass> pods) {
  for (const policies::OnlineClass& pod : pods) implementation_->meet(pod);
  implementation_->solve(implementation_->seen);
  implementation_->price_hosts();
  for (Met& one : implementation_->classes) implementation_->best_state(one);
}

std::optional<OnlinePlace> OnlinePlacer::place_among(const policies::OnlineClass& pod,
                                                     std::span<const std::size_t> nodes) {
  Implementation& all = *implementation_;
  std::vector<std::uint8_t> open(all.nodes.all().size());
  for (const std::size_t node : nodes) open[all.nodes.slot(node)] = 1;
  Met& one = all.classes[all.meet(pod)];
  all.price_hosts();
  const std::size_t slot = all.best_state(one, open);
  if (slot == all.nodes.all().size()) return std::nullopt;
  const auto node = std::ranges::find(nodes, slot, [&](std::size_t candidate) { return all.nodes.slot(candidate); });
  OnlinePlace place = all.chosen(one, slot, *node);
  all.change(one, place, 1);
  return place;
}

}  // namespace muster::online
