#include "solver/pricing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace muster {
namespace {

constexpr std::int64_t kMostGrains = 2000;  // levels of a device that the table tells apart
constexpr int kRounds = 2;
constexpr int kBisections = 9;

}  // namespace

Pricing::Pricing(const ConfigurationInput& input, const RoomClass& room) : in_(input), room_(room) {
  const NodeClass& node_class = input.problem.node_classes[room.node_class];
  const DeviceUnits capacity = (node_class.device_memory_mib == 0 ? 1 : node_class.device_memory_mib) * 1'000'000;
  DeviceUnits grain = capacity;
  for (DemandIndex d : room.demands) {
    const PodClass& pod_class = input.problem.pod_classes[input.demand.classes[d].pod_class];
    if (pod_class.gpu.kind == GpuRequestKind::kFraction || pod_class.gpu.kind == GpuRequestKind::kMemory)
      grain = std::gcd(grain, share_units(pod_class, node_class));
  }
  grain = std::max(grain, capacity / kMostGrains);
  for (DeviceUnits units : room.free_devices) {
    if (units == capacity)
      ++idle_;
    else
      partial_levels_.push_back(static_cast<std::int32_t>((units + grain - 1) / grain));
  }
  idle_level_ = static_cast<std::int32_t>((capacity + grain - 1) / grain);
  for (DemandIndex d : room.demands) {
    const PodClass& pod_class = input.problem.pod_classes[input.demand.classes[d].pod_class];
    Item item{d, &pod_class, static_cast<double>(input.demand.classes[d].count)};
    for (std::size_t r = 0; r < room.free.size(); ++r)
      if (pod_class.request[r] > 0)
        item.most = std::min(item.most, static_cast<double>(room.free[r] / pod_class.request[r]));
    if (pod_class.gpu.kind == GpuRequestKind::kWhole) {
      item.whole = pod_class.gpu.devices;
    } else if (pod_class.gpu.kind != GpuRequestKind::kNone) {
      item.devices = pod_class.gpu.devices;
      item.size = static_cast<std::int32_t>(share_units(pod_class, node_class) / grain);
    }
    items_.push_back(item);
  }
  for (std::size_t r = 0; r < room.free.size(); ++r) {
    double wanted = 0;
    for (const Item& item : items_) wanted += item.most * static_cast<double>(item.pod_class->request[r]);
    if (wanted <= static_cast<double>(room.free[r])) continue;
    resources_.push_back(r);
    free_.push_back(static_cast<double>(room.free[r]));
  }
  for (const Item& item : items_) {
    request_.emplace_back();
    for (std::size_t r : resources_) request_.back().push_back(static_cast<double>(item.pod_class->request[r]));
  }
  multiplier_.assign(resources_.size(), 0.0);
}

// table_[l]: the most that shares on one device with l grains of room are worth (unbounded knapsack).
void Pricing::fill_device_table(const std::vector<double>& profit) {
  std::vector<double> best(static_cast<std::size_t>(idle_level_) + 1, 0.0);  // by size: profit of the best item
  std::vector<std::int32_t> best_item(best.size(), -1);
  std::vector<std::int32_t> sizes;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].size <= 0 || profit[i] <= 0) continue;
    const auto size = static_cast<std::size_t>(items_[i].size);
    const double each = profit[i] / items_[i].devices;
    if (best_item[size] < 0) sizes.push_back(items_[i].size);
    if (each > best[size]) {
      best[size] = each;
      best_item[size] = static_cast<std::int32_t>(i);
    }
  }
  std::sort(sizes.begin(), sizes.end());
  table_.assign(best.size(), 0.0);
  table_item_.assign(best.size(), -1);
  for (std::size_t level = 1; level < table_.size(); ++level) {
    table_[level] = table_[level - 1];
    table_item_[level] = -1;  // leaves one grain
    for (std::int32_t size : sizes) {
      if (static_cast<std::size_t>(size) > level) break;
      const double value = table_[level - static_cast<std::size_t>(size)] + best[static_cast<std::size_t>(size)];
      if (value > table_[level]) {
        table_[level] = value;
        table_item_[level] = best_item[static_cast<std::size_t>(size)];
      }
    }
  }
}

void Pricing::open_device(std::int32_t level, double times, std::vector<double>& amount) const {
  while (level > 0) {
    const std::int32_t item = table_item_[static_cast<std::size_t>(level)];
    if (item < 0) {
      --level;
      continue;
    }
    const Item& chosen = items_[static_cast<std::size_t>(item)];
    amount[static_cast<std::size_t>(item)] += times / chosen.devices;
    level -= chosen.size;
  }
}

// The node with its counted resources priced by the multipliers: devices one by one.
Pricing::Content Pricing::relaxed(const std::vector<double>& price) {
  std::vector<double> profit(items_.size());
  Content content{0, std::vector<double>(items_.size(), 0.0)};
  std::vector<std::pair<double, std::int32_t>> whole(static_cast<std::size_t>(idle_) + 1, {0.0, -1});
  for (std::size_t i = 0; i < items_.size(); ++i) {
    profit[i] = price[items_[i].demand.value()];
    for (std::size_t r = 0; r < resources_.size(); ++r) profit[i] -= multiplier_[r] * request_[i][r];
    if (profit[i] <= 0) continue;
    if (items_[i].whole > 0) {
      if (items_[i].whole <= idle_ && profit[i] > whole[static_cast<std::size_t>(items_[i].whole)].first)
        whole[static_cast<std::size_t>(items_[i].whole)] = {profit[i], static_cast<std::int32_t>(i)};
    } else if (items_[i].size == 0) {
      content.value += profit[i] * items_[i].most;
      content.amount[i] = items_[i].most;
    }
  }
  if (idle_level_ > 0 && (idle_ > 0 || !partial_levels_.empty())) fill_device_table(profit);
  for (std::int32_t level : partial_levels_) {
    content.value += table_[static_cast<std::size_t>(level)];
    open_device(level, 1, content.amount);
  }
  if (idle_ == 0) return content;
  const double shared = table_[static_cast<std::size_t>(idle_level_)];
  std::vector<double> best(static_cast<std::size_t>(idle_) + 1, 0.0);
  std::vector<std::int32_t> taken(best.size(), 0);  // devices of the last step; 0: one device is shared
  for (std::size_t n = 1; n < best.size(); ++n) {
    best[n] = best[n - 1] + shared;
    for (std::size_t k = 1; k <= n; ++k)
      if (whole[k].second >= 0 && best[n - k] + whole[k].first > best[n]) {
        best[n] = best[n - k] + whole[k].first;
        taken[n] = static_cast<std::int32_t>(k);
      }
  }
  content.value += best.back();
  for (std::size_t n = best.size() - 1; n > 0;) {
    if (taken[n] == 0) {
      open_device(idle_level_, 1, content.amount);
      --n;
    } else {
      content.amount[static_cast<std::size_t>(whole[static_cast<std::size_t>(taken[n])].second)] += 1;
      n -= static_cast<std::size_t>(taken[n]);
    }
  }
  return content;
}

// Value of the Lagrangian dual at the present multipliers; leaves the content and its use behind.
double Pricing::dual(const std::vector<double>& price) {
  last_ = relaxed(price);
  double value = last_.value;
  used_.assign(resources_.size(), 0.0);
  for (std::size_t r = 0; r < resources_.size(); ++r) {
    for (std::size_t i = 0; i < items_.size(); ++i) used_[r] += last_.amount[i] * request_[i][r];
    value += multiplier_[r] * free_[r];
  }
  return value;
}

// The dual is convex in each multiplier, with the slope free - used.
void Pricing::bisect(std::size_t r, const std::vector<double>& price) {
  const double before = multiplier_[r];
  multiplier_[r] = 0;
  dual(price);
  if (used_[r] <= free_[r]) return;
  double high = 0;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (request_[i][r] > 0) high = std::max(high, price[items_[i].demand.value()] / request_[i][r]);
  double low = 0;
  if (before > 0) {  // start around the last value
    multiplier_[r] = before * 1.25;
    dual(price);
    (used_[r] > free_[r] ? low : high) = before * 1.25;
    if (high == before * 1.25) {
      multiplier_[r] = before * 0.8;
      dual(price);
      (used_[r] > free_[r] ? low : high) = before * 0.8;
    }
  }
  for (int step = 0; step < kBisections; ++step) {
    multiplier_[r] = (low + high) / 2;
    dual(price);
    (used_[r] > free_[r] ? low : high) = multiplier_[r];
  }
  multiplier_[r] = high;
}

void Pricing::put(std::size_t item, std::int64_t count, NodeRoom& space, Configuration& configuration,
                  std::vector<std::int64_t>& counts) const {
  const DemandClass& demand = in_.demand.classes[items_[item].demand];
  const PodClass& pod_class = *items_[item].pod_class;
  const bool spreads = !pod_class.anti_affinity_owned.empty() || !pod_class.anti_affinity_matched.empty();
  for (std::int64_t n = 0; n < count && counts[item] < demand.count; ++n) {
    for (std::size_t other = 0; spreads && other < items_.size(); ++other)
      if (counts[other] > 0 && in_.anti_affinity.conflict(
                                   demand.pod_class, in_.demand.classes[items_[other].demand].pod_class, room_.nodes.front()))
        return;
    if (!space.add(pod_class)) return;
    configuration.steps.push_back({items_[item].demand, space.last_devices()});
    ++counts[item];
  }
}

// Makes the relaxed content fit: whole devices first, large shares next, then by worth for what is used; then fills up.
void Pricing::build(const std::vector<double>& price, const Content& content, Result& result) {
  NodeRoom space(in_.problem, room_);
  Configuration configuration;
  std::vector<std::int64_t> counts(items_.size(), 0);
  std::vector<std::size_t> order(items_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> density(items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    double use = 1e-9 + (items_[i].whole + items_[i].devices * static_cast<double>(items_[i].size) / std::max(1, idle_level_)) /
                            std::max(1.0, static_cast<double>(room_.free_devices.size()));
    for (std::size_t r = 0; r < resources_.size(); ++r) use += request_[i][r] / std::max(1.0, free_[r]);
    density[i] = price[items_[i].demand.value()] / use;
  }
  const auto bulk = [&](std::size_t i) { return items_[i].whole * 10'000 + items_[i].size; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return bulk(a) != bulk(b) ? bulk(a) > bulk(b) : density[a] > density[b];
  });
  for (std::size_t i : order)
    if (content.amount[i] > 0.5) put(i, std::lround(content.amount[i]), space, configuration, counts);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return density[a] > density[b]; });
  for (std::size_t i : order)
    if (price[items_[i].demand.value()] > 0) put(i, in_.demand.classes[items_[i].demand].count, space, configuration, counts);
  double worth = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (counts[i] == 0) continue;
    configuration.counts.emplace_back(items_[i].demand, static_cast<std::int32_t>(counts[i]));
    worth += static_cast<double>(counts[i]) * price[items_[i].demand.value()];
  }
  for (const Configuration& known : result.configurations)
    if (known.counts == configuration.counts) return;
  result.configurations.push_back(std::move(configuration));
  result.worth.push_back(worth);
}

Pricing::Result Pricing::price(const std::vector<double>& price) {
  Result result;
  result.limit = dual(price);
  build(price, last_, result);
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t r = 0; r < resources_.size(); ++r) {
      bisect(r, price);
      result.limit = std::min(result.limit, dual(price));
      build(price, last_, result);
    }
  std::vector<std::size_t> order(result.worth.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return result.worth[a] > result.worth[b]; });
  Result sorted{result.limit, {}, {}};
  for (std::size_t i : order) {
    sorted.configurations.push_back(std::move(result.configurations[i]));
    sorted.worth.push_back(result.worth[i]);
  }
  return sorted;
}

}  // namespace muster
