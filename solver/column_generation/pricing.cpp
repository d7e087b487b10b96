#include "solver/column_generation/pricing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::column_generation {
namespace {

constexpr double kBelow = 1 / kTuning.pricing.factor;
constexpr double kLargestStride = kTuning.pricing.factor - 1;

}  // namespace

Pricing::Pricing(const formulation::ConfigurationInput& input, const formulation::ResidualClass& residual)
    : in_(input), residual_(residual) {
  MUSTER_REQUIRE(residual.residents.empty());
  const NodeClass& node_class = input.problem.node_classes[residual.node_class];
  const DeviceUnits capacity = (node_class.device_memory_mib == 0 ? 1 : node_class.device_memory_mib) * 1'000'000;
  DeviceUnits grain = capacity;
  for (formulation::DemandIndex d : residual.demands) {
    const PodClass& pod_class = input.problem.pod_classes[input.demand.classes[d].pod_class];
    if (pod_class.gpu.kind == GpuRequestKind::kFraction || pod_class.gpu.kind == GpuRequestKind::kMemory)
      grain = std::gcd(grain, share_units(pod_class, node_class));
  }
  grain = std::max(grain, capacity / kTuning.pricing.grains);
  for (DeviceUnits units : residual.free_devices) {
    if (units == capacity)
      ++idle_;
    else
      partial_levels_.push_back(static_cast<std::int32_t>((units + grain - 1) / grain));
  }
  idle_level_ = static_cast<std::int32_t>((capacity + grain - 1) / grain);
  items_.reserve(residual.demands.size());
  for (std::size_t at = 0; at < residual.demands.size(); ++at) {
    const formulation::DemandIndex d = residual.demands[at];
    const PodClass& pod_class = input.problem.pod_classes[input.demand.classes[d].pod_class];
    Item item{d, &pod_class, static_cast<double>(residual.stock[at])};
    for (std::size_t r = 0; r < residual.free.size(); ++r)
      if (pod_class.request[r] > 0)
        item.most = std::min(item.most, static_cast<double>(residual.free[r] / pod_class.request[r]));
    if (pod_class.gpu.kind == GpuRequestKind::kWhole) {
      item.whole = pod_class.gpu.devices;
    } else if (pod_class.gpu.kind != GpuRequestKind::kNone) {
      item.devices = pod_class.gpu.devices;
      item.size = static_cast<std::int32_t>(share_units(pod_class, node_class) / grain);
    }
    items_.push_back(item);
  }
  for (std::size_t r = 0; r < residual.free.size(); ++r) {
    double wanted = 0;
    for (const Item& item : items_) wanted += item.most * static_cast<double>(item.pod_class->request[r]);
    if (wanted <= static_cast<double>(residual.free[r])) continue;
    resources_.push_back(r);
    free_.push_back(static_cast<double>(residual.free[r]));
  }
  request_.reserve(items_.size() * resources_.size());
  for (const Item& item : items_)
    for (std::size_t r : resources_) request_.push_back(static_cast<double>(item.pod_class->request[r]));
  multiplier_.assign(resources_.size(), 0.0);
  stock_price_.assign(items_.size(), 0.0);
  std::map<std::int32_t, std::vector<std::size_t>> whole;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].whole > 0 && items_[i].whole <= idle_) whole[items_[i].whole].push_back(i);
    if (items_[i].size > 0 && items_[i].size <= idle_level_) by_size_.push_back(i);
  }
  for (auto& [devices, items] : whole) whole_users_.push_back({devices, std::move(items), {}, {}});
}

std::vector<double> Pricing::profits(const std::vector<double>& price) const {
  std::vector<double> profit(items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    profit[i] = price[items_[i].demand.value()];
    for (std::size_t r = 0; r < resources_.size(); ++r) profit[i] -= multiplier_[r] * request_of(i, r);
    profit[i] -= stock_price_[i];
  }
  return profit;
}

// table_[l]: the maximum value of shares on one device with l grains of room, no item more often than `remaining`. Of
// each size the most profitable pods first. An item that is available often enough for a whole device counts as
// unlimited, which is cheaper; an item that is at least as large as such an item and worth no more is left out.
void Pricing::fill_device_table(const std::vector<double>& profit, const std::vector<double>& remaining) {
  sizes_.clear();
  for (const std::size_t i : by_size_)
    if (profit[i] > 0 && remaining[i] >= 1) sizes_.push_back({profit[i] / items_[i].devices, items_[i].size, i});
  std::sort(sizes_.begin(), sizes_.end(), [](const Copy& a, const Copy& b) {
    return a.size != b.size ? a.size < b.size : (a.profit != b.profit ? a.profit > b.profit : a.item < b.item);
  });
  copies_.clear();
  plenty_.clear();
  double dominating = 0;
  for (std::size_t i = 0; i < sizes_.size();) {
    const std::int32_t size = sizes_[i].size;
    auto residual = static_cast<std::int64_t>(idle_level_ / size);  // copies of this size that one device can hold
    for (; i < sizes_.size() && sizes_[i].size == size; ++i) {
      if (residual <= 0 || sizes_[i].profit <= dominating) continue;
      if (remaining[sizes_[i].item] >= static_cast<double>(residual)) {
        plenty_.push_back(sizes_[i]);
        dominating = sizes_[i].profit;
        residual = 0;
        continue;
      }
      for (auto n = static_cast<std::int64_t>(remaining[sizes_[i].item]); n > 0 && residual > 0; --n, --residual)
        copies_.push_back(sizes_[i]);
    }
  }
  const std::size_t levels = static_cast<std::size_t>(idle_level_) + 1;
  table_.assign(levels, 0.0);
  taken_.assign(copies_.size() * levels, 0);
  for (std::size_t c = 0; c < copies_.size(); ++c) {
    const auto size = static_cast<std::size_t>(copies_[c].size);
    for (std::size_t level = levels - 1; level >= size; --level) {
      const double value = table_[level - size] + copies_[c].profit;
      if (value <= table_[level]) continue;
      table_[level] = value;
      taken_[c * levels + level] = 1;
    }
  }
  last_plenty_.assign(levels, -1);
  for (std::size_t level = 0; level < levels; ++level)
    for (std::size_t p = 0; p < plenty_.size() && static_cast<std::size_t>(plenty_[p].size) <= level; ++p) {
      const double value = table_[level - static_cast<std::size_t>(plenty_[p].size)] + plenty_[p].profit;
      if (value <= table_[level]) continue;
      table_[level] = value;
      last_plenty_[level] = static_cast<std::int32_t>(p);
    }
}

// The content that the table found best for a device with that much free.
void Pricing::open_device(std::int32_t level, std::vector<double>& amount) const {
  const std::size_t levels = static_cast<std::size_t>(idle_level_) + 1;
  for (std::int32_t p; (p = last_plenty_[static_cast<std::size_t>(level)]) >= 0;) {
    const Copy& copy = plenty_[static_cast<std::size_t>(p)];
    amount[copy.item] += 1.0 / items_[copy.item].devices;
    level -= copy.size;
  }
  for (std::size_t c = copies_.size(); c-- > 0;) {
    if (taken_[c * levels + static_cast<std::size_t>(level)] == 0) continue;
    amount[copies_[c].item] += 1.0 / items_[copies_[c].item].devices;
    level -= copies_[c].size;
  }
}

// The node with its counted resources priced by the multipliers: devices one by one.
Pricing::Content Pricing::relaxed(const std::vector<double>& price) {
  const std::vector<double> profit = profits(price);
  Content content{0, std::vector<double>(items_.size(), 0.0), 0, {}};
  std::vector<double> stock(items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    stock[i] = items_[i].most * std::max(1, items_[i].devices);
    if (profit[i] <= 0 || items_[i].whole > 0 || items_[i].size > 0) continue;
    content.value += profit[i] * items_[i].most;
    content.amount[i] = items_[i].most;
  }
  if (idle_ == 0 && partial_levels_.empty()) return content;
  fill_device_table(profit, stock);
  for (std::int32_t level : partial_levels_) {
    content.value += table_[static_cast<std::size_t>(level)];
    open_device(level, content.amount);
  }
  if (idle_ > 0) divide_idle_devices(profit, content);
  for (std::int32_t n = 0; n < content.shared_devices; ++n) open_device(idle_level_, content.amount);
  return content;
}

// Which idle devices pods of whole devices get and how many are shared: for each number of devices a pod may ask for,
// its pods by profit.
void Pricing::divide_idle_devices(const std::vector<double>& profit, Content& content) {
  const auto idle = static_cast<std::size_t>(idle_);
  const std::size_t width = idle + 1;
  const double shared = table_[static_cast<std::size_t>(idle_level_)];
  division_.resize(width);
  for (std::size_t n = 0; n <= idle; ++n) division_[n] = shared * static_cast<double>(n);
  for (WholeUsers& users : whole_users_) {
    const auto k = static_cast<std::size_t>(users.devices);
    std::vector<std::size_t>& pods = users.pods;  // most profitable first, one entry a pod
    pods.clear();
    for (const std::size_t i : users.items)
      if (profit[i] > 0) pods.push_back(i);
    std::stable_sort(pods.begin(), pods.end(), [&](std::size_t a, std::size_t b) { return profit[a] > profit[b]; });
    const std::vector<std::size_t> kinds = pods;
    pods.clear();
    for (std::size_t item : kinds)
      for (double n = 0; n < items_[item].most && pods.size() < idle / k; ++n) pods.push_back(item);
    users.taken.assign(width, 0);
    for (std::size_t n = idle; n >= k; --n) {  // downwards: what is below is still without these users
      double sum = 0;
      double best = division_[n];
      for (std::size_t m = 1; m * k <= n && m <= pods.size(); ++m) {
        sum += profit[pods[m - 1]];
        if (division_[n - m * k] + sum <= best) continue;
        best = division_[n - m * k] + sum;
        users.taken[n] = static_cast<std::int32_t>(m);
      }
      division_[n] = best;
    }
  }
  content.value += division_[idle];
  std::size_t left = idle;
  for (std::size_t u = whole_users_.size(); u-- > 0;) {
    const WholeUsers& users = whole_users_[u];
    const auto m = static_cast<std::size_t>(users.taken[left]);
    for (std::size_t i = 0; i < m; ++i) content.amount[users.pods[i]] += 1;
    left -= m * static_cast<std::size_t>(users.devices);
  }
  content.shared_devices = static_cast<std::int32_t>(left);
}

// The content with the stock of shares divided: device after device takes its best of what is left.
Pricing::Content Pricing::within_counts(const std::vector<double>& price, const Content& content) {
  Content result = content;
  const std::vector<double> profit = profits(price);
  std::vector<double> remaining(items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    remaining[i] = items_[i].devices == 1 ? items_[i].most : 0;  // pods of several devices are put down afterwards
    if (items_[i].size > 0 && items_[i].devices == 1) result.amount[i] = 0;
  }
  std::vector<std::int32_t> levels = partial_levels_;
  levels.insert(levels.end(), static_cast<std::size_t>(content.shared_devices), idle_level_);
  bool is_stale = true;  // the table knows more pods than there are left
  std::vector<double> added(items_.size());
  for (std::int32_t level : levels) {
    if (is_stale) fill_device_table(profit, remaining);
    is_stale = false;
    std::fill(added.begin(), added.end(), 0.0);
    open_device(level, added);
    std::vector<std::size_t>& items = result.on_devices.emplace_back();
    for (const std::size_t i : by_size_) {
      if (added[i] == 0) continue;
      for (double n = 0.5; n < added[i]; ++n) items.push_back(i);
      remaining[i] -= added[i];
      is_stale = is_stale || remaining[i] < static_cast<double>(idle_level_ / items_[i].size);
    }
  }
  return result;
}

// Value of the Lagrangian dual at the current multipliers; stores the content and its use.
double Pricing::dual(const std::vector<double>& price) {
  last_ = relaxed(price);
  double value = last_.value;
  used_.assign(resources_.size(), 0.0);
  for (std::size_t r = 0; r < resources_.size(); ++r) {
    for (std::size_t i = 0; i < items_.size(); ++i) used_[r] += last_.amount[i] * request_of(i, r);
    value += multiplier_[r] * free_[r];
  }
  for (std::size_t i = 0; i < items_.size(); ++i) value += stock_price_[i] * items_[i].most;
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
    if (request_of(i, r) > 0) high = std::max(high, price[items_[i].demand.value()] / request_of(i, r));
  double low = 0;
  if (before > 0) {  // start around the last value
    multiplier_[r] = before * kTuning.pricing.factor;
    dual(price);
    (used_[r] > free_[r] ? low : high) = before * kTuning.pricing.factor;
    if (high == before * kTuning.pricing.factor) {
      multiplier_[r] = before * kBelow;
      dual(price);
      (used_[r] > free_[r] ? low : high) = before * kBelow;
    }
  }
  for (int step = 0; step < kTuning.pricing.bisections; ++step) {
    multiplier_[r] = (low + high) / 2;
    dual(price);
    (used_[r] > free_[r] ? low : high) = multiplier_[r];
  }
  multiplier_[r] = high;
}

// Whether one more pod of the item exists, and may be placed next to those that are counted.
bool Pricing::may_put(std::size_t item, const std::vector<std::int64_t>& counts) const {
  const formulation::DemandClass& demand = in_.demand.classes[items_[item].demand];
  if (counts[item] >= residual_.stock[item]) return false;
  const PodClass& pod_class = *items_[item].pod_class;
  if (pod_class.anti_affinity_owned.empty() && pod_class.anti_affinity_matched.empty()) return true;
  for (std::size_t other = 0; other < items_.size(); ++other)
    if (counts[other] > 0 &&
        in_.anti_affinity.conflict(demand.pod_class, in_.demand.classes[items_[other].demand].pod_class,
                                   residual_.nodes.front()))
      return false;
  return true;
}

void Pricing::put(std::size_t item, std::int64_t count, formulation::NodeResidual& space,
                  formulation::Configuration& configuration, std::vector<std::int64_t>& counts) const {
  for (std::int64_t n = 0; n < count && may_put(item, counts); ++n) {
    if (!space.add(*items_[item].pod_class)) return;
    configuration.steps.push_back({items_[item].demand, space.last_devices()});
    ++counts[item];
  }
}

// Puts pods that share one device on that device, as the table divided them; those that do not fit are left out.
void Pricing::put_on(std::int32_t device, const std::vector<std::size_t>& items, formulation::NodeResidual& space,
                     formulation::Configuration& configuration, std::vector<std::int64_t>& counts) const {
  const NodeClass& node_class = in_.problem.node_classes[residual_.node_class];
  for (std::size_t item : items) {
    const PodClass& pod_class = *items_[item].pod_class;
    if (!may_put(item, counts)) continue;
    if (!space.has_resources(pod_class)) continue;
    if (space.free_devices()[static_cast<std::size_t>(device)] < share_units(pod_class, node_class)) continue;
    space.add_on(pod_class, {device});
    configuration.steps.push_back({items_[item].demand, {device}});
    ++counts[item];
  }
}

// A device that nothing is on; -1: none.
std::int32_t Pricing::idle_device(const formulation::NodeResidual& space) const {
  const DeviceUnits capacity = residual_.free_devices.empty() ? 0 : residual_.free_devices.back();
  for (std::size_t i = partial_levels_.size(); i < space.free_devices().size(); ++i)
    if (space.free_devices()[i] == capacity) return static_cast<std::int32_t>(i);
  return -1;
}

// Makes the relaxed content fit: whole devices first, then the shared ones one by one, then the rest; then fills up.
void Pricing::build(const std::vector<double>& price, const Content& content, Result& result) {
  formulation::NodeResidual space(in_.problem, residual_);
  formulation::Configuration configuration;
  std::vector<std::int64_t> counts(items_.size(), 0);
  for (std::size_t i : by_bulk_)
    if (items_[i].whole > 0 && content.amount[i] > 0.5)
      put(i, std::lround(content.amount[i]), space, configuration, counts);
  for (std::size_t device = 0; device < content.on_devices.size(); ++device) {
    const std::int32_t at = device < partial_levels_.size() ? static_cast<std::int32_t>(device) : idle_device(space);
    if (at >= 0) put_on(at, content.on_devices[device], space, configuration, counts);
  }
  for (std::size_t i : by_bulk_)
    if (items_[i].whole == 0 && (items_[i].size == 0 || items_[i].devices > 1) && content.amount[i] > 0.5)
      put(i, std::lround(content.amount[i]), space, configuration, counts);
  finish(price, space, std::move(configuration), std::move(counts), result);
}

// Fills up the rest in order of value per use, and keeps the configuration if it is new.
void Pricing::finish(const std::vector<double>& price, formulation::NodeResidual& space,
                     formulation::Configuration configuration, std::vector<std::int64_t> counts, Result& result) {
  for (std::size_t i : by_density_)
    if (price[items_[i].demand.value()] > 0) put(i, residual_.stock[i], space, configuration, counts);
  double worth = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (counts[i] == 0) continue;
    configuration.counts.emplace_back(items_[i].demand, static_cast<std::int32_t>(counts[i]));
    worth += static_cast<double>(counts[i]) * price[items_[i].demand.value()];
  }
  for (const formulation::Configuration& known : result.configurations)
    if (known.counts == configuration.counts) return;
  result.configurations.push_back(std::move(configuration));
  result.worth.push_back(worth);
}

// The two orders in which items are placed, at these prices: large ones first, and those with the most value for their
// use.
void Pricing::sort_items(const std::vector<double>& price) {
  std::vector<double> density(items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    double use =
        1e-9 + (items_[i].whole + items_[i].devices * static_cast<double>(items_[i].size) / std::max(1, idle_level_)) /
                   std::max(1.0, static_cast<double>(residual_.free_devices.size()));
    for (std::size_t r = 0; r < resources_.size(); ++r) use += request_of(i, r) / std::max(1.0, free_[r]);
    density[i] = price[items_[i].demand.value()] / use;
  }
  by_density_.resize(items_.size());
  std::iota(by_density_.begin(), by_density_.end(), std::size_t{0});
  std::stable_sort(by_density_.begin(), by_density_.end(),
                   [&](std::size_t x, std::size_t y) { return density[x] > density[y]; });
  by_bulk_ = by_density_;
  const auto bulk = [&](std::size_t i) { return items_[i].whole * 10'000 + items_[i].size; };
  std::stable_sort(by_bulk_.begin(), by_bulk_.end(), [&](std::size_t x, std::size_t y) { return bulk(x) > bulk(y); });
}

// Subgradient steps on the stock's multipliers: an item that the devices take more often than it is available gets more
// expensive.
void Pricing::divide_stock(const std::vector<double>& price, int steps, Result& result) {
  for (int step = 0; step < steps; ++step) {
    const double value = dual(price);
    result.dual_bound = std::min(result.dual_bound, value);
    double norm = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const double over = last_.amount[i] - items_[i].most;
      if (over > 0.5 || stock_price_[i] > 0) norm += over * over;
    }
    const double best = result.worth.empty() ? 0 : *std::max_element(result.worth.begin(), result.worth.end());
    if (norm < 0.25 || value <= best * (1 + 1e-9)) return;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const double over = last_.amount[i] - items_[i].most;
      if (over > 0.5 || stock_price_[i] > 0)
        stock_price_[i] = std::max(0.0, stock_price_[i] + (value - best) / norm * over);
    }
  }
}

// Splits a content into what single devices hold: candidates for build_mixed.
void Pricing::add_bundles(const std::vector<double>& price, const Content& content) {
  const auto add = [&](Bundle bundle) {
    for (std::size_t i : bundle.items) {
      bundle.value += price[items_[i].demand.value()];
      bundle.use += request_of(i, scarce_);
    }
    bundles_.push_back(std::move(bundle));
  };
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (items_[i].whole > 0 && content.amount[i] > 0.5) add({{i}, items_[i].whole});
  const Content divided = within_counts(price, content);
  const std::size_t first = partial_levels_.size();
  for (std::size_t device = first; device < std::min(divided.on_devices.size(), first + kTuning.pricing.bundles);
       ++device)
    if (!divided.on_devices[device].empty()) add({divided.on_devices[device], 1});
}

// Chooses among the bundles of several multipliers, each for some of the idle devices, by a dynamic program over
// devices and the scarcest resource (a multiple-choice knapsack): the relaxed content is all of one kind, the best real
// one often a mix.
void Pricing::build_mixed(const std::vector<double>& price, Result& result) {
  if (bundles_.empty() || idle_ == 0) return;
  const double grain = free_[scarce_] / static_cast<double>(kTuning.pricing.mix_levels);
  const std::size_t width = kTuning.pricing.mix_levels + 1;
  const auto devices = static_cast<std::size_t>(idle_);
  std::vector<double> best((devices + 1) * width, 0.0);
  std::vector<std::int32_t> chosen(best.size(), -1);
  for (std::size_t n = 1; n <= devices; ++n)
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t at = n * width + c;
      best[at] = best[at - width];
      for (std::size_t b = 0; b < bundles_.size(); ++b) {
        const auto taken = static_cast<std::size_t>(bundles_[b].devices);
        const auto use = static_cast<std::size_t>(std::ceil(bundles_[b].use / grain - 1e-9));
        if (taken > n || use > c) continue;
        const double value = best[at - taken * width - use] + bundles_[b].value;
        if (value <= best[at]) continue;
        best[at] = value;
        chosen[at] = static_cast<std::int32_t>(b);
      }
    }
  formulation::NodeResidual space(in_.problem, residual_);
  formulation::Configuration configuration;
  std::vector<std::int64_t> counts(items_.size(), 0);
  std::vector<std::size_t> shared;  // bundles of one shared device
  for (std::size_t n = devices, c = kTuning.pricing.mix_levels; n > 0;) {
    const std::int32_t b = chosen[n * width + c];
    if (b < 0) {
      --n;
      continue;
    }
    const Bundle& bundle = bundles_[static_cast<std::size_t>(b)];
    if (items_[bundle.items[0]].whole > 0)
      put(bundle.items[0], 1, space, configuration, counts);
    else
      shared.push_back(static_cast<std::size_t>(b));
    n -= static_cast<std::size_t>(bundle.devices);
    c -= static_cast<std::size_t>(std::ceil(bundle.use / grain - 1e-9));
  }
  for (std::size_t b : shared)
    if (const std::int32_t at = idle_device(space); at >= 0)
      put_on(at, bundles_[b].items, space, configuration, counts);
  finish(price, space, std::move(configuration), std::move(counts), result);
}

// Bundles at multipliers of the scarcest resource around the best one, and their best mix.
void Pricing::mix(const std::vector<double>& price, Result& result) {
  if (resources_.empty()) return;
  const std::vector<double> multiplier = multiplier_;
  for (std::size_t r = 0; r < resources_.size(); ++r)
    if (multiplier_[r] * free_[r] > multiplier_[scarce_] * free_[scarce_]) scarce_ = r;
  if (multiplier_[scarce_] == 0) return;
  const auto add_at = [&](double factor) {
    multiplier_[scarce_] = multiplier[scarce_] * factor;
    result.dual_bound = std::min(result.dual_bound, dual(price));
    add_bundles(price, last_);
  };
  add_at(0);
  for (int power = -kTuning.pricing.mixed; power <= kTuning.pricing.mixed; ++power)
    add_at(std::pow(kTuning.pricing.factor, power));
  multiplier_ = multiplier;
  build_mixed(price, result);
}

Pricing::Result Pricing::price(const std::vector<double>& price, int effort) {
  Result result;
  std::fill(stock_price_.begin(), stock_price_.end(), 0.0);
  bundles_.clear();
  sort_items(price);
  result.dual_bound = dual(price);
  build(price, within_counts(price, last_), result);
  for (int round = 0; round < kTuning.pricing.rounds * effort; ++round) {
    for (std::size_t r = 0; r < resources_.size(); ++r) {
      bisect(r, price);
      result.dual_bound = std::min(result.dual_bound, dual(price));
      build(price, within_counts(price, last_), result);
    }
    divide_stock(price, kTuning.pricing.steps * effort, result);
  }
  mix(price, result);
  return sorted(std::move(result));
}

Pricing::Result Pricing::sorted(Result result) {
  std::vector<std::size_t> order(result.worth.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return result.worth[a] > result.worth[b]; });
  Result best_first{result.dual_bound, {}, {}};
  for (std::size_t i : order) {
    best_first.configurations.push_back(std::move(result.configurations[i]));
    best_first.worth.push_back(result.worth[i]);
  }
  return best_first;
}

// A small one, as the resource's scarcity begins: a tenth of the multiplier at which the most expensive pod would no
// longer be worth placing.
double Pricing::first_multiplier(std::size_t r, const std::vector<double>& price) const {
  double high = 0;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (request_of(i, r) > 0) high = std::max(high, price[items_[i].demand.value()] / request_of(i, r));
  return kTuning.pricing.first_multiplier * high;
}

// Each multiplier follows the sign of its slope, by a factor that shrinks where the sign turns and grows where it does
// not (after Riedmiller and Braun 1993, without the gradient's size); the best ones are kept for the next call.
Pricing::Result Pricing::quick(const std::vector<double>& price) {
  std::fill(stock_price_.begin(), stock_price_.end(), 0.0);
  if (stride_.empty()) {
    stride_.assign(resources_.size(), kLargestStride);
    is_over_.assign(resources_.size(), 0);
    for (std::size_t r = 0; r < resources_.size(); ++r) bisect(r, price);
  }
  sort_items(price);
  Result result;
  result.dual_bound = std::numeric_limits<double>::infinity();
  std::vector<double> best;
  for (int step = 0; step < kTuning.pricing.steps; ++step) {
    const double value = dual(price);
    if (value < result.dual_bound) {
      result.dual_bound = value;
      best = multiplier_;
    }
    if (step == 0 || step + 1 == kTuning.pricing.steps) build(price, within_counts(price, last_), result);
    for (std::size_t r = 0; r < resources_.size(); ++r) {
      const bool is_over = used_[r] > free_[r];
      stride_[r] = (is_over != (is_over_[r] != 0)) ? stride_[r] / 2
                                                   : std::min(kLargestStride, stride_[r] * kTuning.pricing.factor);
      stride_[r] = std::max(stride_[r], kTuning.pricing.least_stride);
      is_over_[r] = is_over ? 1 : 0;
      if (is_over && multiplier_[r] <= 0)
        multiplier_[r] = first_multiplier(r, price);
      else
        multiplier_[r] *= is_over ? 1 + stride_[r] : 1 / (1 + stride_[r]);
    }
  }
  multiplier_ = std::move(best);
  return sorted(std::move(result));
}

}  // namespace muster::column_generation
