#include "solver/column_generation/multiplier_grid.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "model/base/require.h"
#include "model/base/tuning.h"

// Compiled for wider registers, too, where the processor has them; without fused operations, so that results are alike.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MUSTER_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define MUSTER_WIDE
#endif

namespace muster::column_generation {
namespace {

// Of each pair, what is gained with one more pod of a size, where that is better.
MUSTER_WIDE void take_better(const double* before, const double* used_before, const double* profit,
                             const double* of_pod, double* value, double* use, std::size_t width) {
  for (std::size_t p = 0; p < width; ++p) {
    const double with = before[p] + profit[p];
    const bool is_better = with > value[p];
    use[p] = is_better ? used_before[p] + of_pod[p] : use[p];
    value[p] = is_better ? with : value[p];
  }
}

}  // namespace

MultiplierGrid::MultiplierGrid(const formulation::ConfigurationInput& input, const formulation::Supply& supply,
                               std::vector<formulation::ResidualClassIndex> residuals)
    : residuals_(std::move(residuals)) {
  MUSTER_REQUIRE(!residuals_.empty());
  add_items(input, supply);
  choose_resources(input, supply);
}

void MultiplierGrid::add_items(const formulation::ConfigurationInput& input, const formulation::Supply& supply) {
  const NodeClass& node_class = input.problem.node_classes[supply.residuals[residuals_.front()].node_class];
  const DeviceUnits capacity = (node_class.device_memory_mib == 0 ? 1 : node_class.device_memory_mib) * 1'000'000;
  std::vector<bool> is_wanted(input.demand.classes.size(), false);
  for (const formulation::ResidualClassIndex residual : residuals_)
    for (const formulation::DemandIndex d : supply.residuals[residual].demands) is_wanted[d.value()] = true;
  DeviceUnits grain = capacity;
  std::map<DeviceUnits, std::vector<Item>> shares;
  std::map<std::int32_t, std::vector<Item>> wholes;
  for (const formulation::DemandIndex d : input.demand.classes.indices()) {
    if (!is_wanted[d.value()]) continue;
    demands_.push_back(d);
    const PodClass& pod_class = input.problem.pod_classes[input.demand.classes[d].pod_class];
    const Item item{d, pod_class.gpu.devices, static_cast<double>(input.demand.classes[d].count)};
    if (pod_class.gpu.kind == GpuRequestKind::kNone) {
      without_devices_.push_back(item);
    } else if (pod_class.gpu.kind == GpuRequestKind::kWhole) {
      wholes[pod_class.gpu.devices].push_back({d, 1, item.count});
    } else {
      const DeviceUnits units = share_units(pod_class, node_class);
      grain = std::gcd(grain, units);
      shares[units].push_back(item);
    }
  }
  grain = std::max(grain, capacity / kTuning.pricing.grains);
  device_.most = static_cast<std::int32_t>((capacity + grain - 1) / grain);
  for (auto& [units, items] : shares) {
    if (units >= grain)
      shares_.push_back({static_cast<std::int32_t>(units / grain), std::move(items), {}, {}});
    else
      without_devices_.insert(without_devices_.end(), items.begin(), items.end());  // too small to count
  }
  for (auto& [devices, items] : wholes) wholes_.push_back({devices, std::move(items), {}, {}});
  std::map<Pattern, std::size_t> known;
  for (const formulation::ResidualClassIndex residual : residuals_) {
    Pattern pattern;
    for (const DeviceUnits units : supply.residuals[residual].free_devices) {
      if (units == capacity)
        ++pattern.idle;
      else
        pattern.partial.push_back(static_cast<std::int32_t>((units + grain - 1) / grain));
    }
    std::ranges::sort(pattern.partial);
    idle_.most = std::max(idle_.most, pattern.idle);
    const auto [found, is_new] = known.try_emplace(pattern, patterns_.size());
    if (is_new) patterns_.push_back(std::move(pattern));
    pattern_of_.push_back(found->second);
  }
}

// The two of which most is asked for, in proportion to what there is.
void MultiplierGrid::choose_resources(const formulation::ConfigurationInput& input, const formulation::Supply& supply) {
  std::vector<double> asked, free;
  const auto for_each_item = [&](const auto& visit) {
    for (Item& item : without_devices_) visit(item);
    for (std::vector<Size>* sizes : {&shares_, &wholes_})
      for (Size& size : *sizes)
        for (Item& item : size.items) visit(item);
  };
  for (const formulation::ResidualClassIndex residual : residuals_) {
    free.resize(supply.residuals[residual].free.size(), 0);
    for (std::size_t r = 0; r < free.size(); ++r)
      free[r] += static_cast<double>(supply.residuals[residual].count()) *
                 std::max(0.0, static_cast<double>(supply.residuals[residual].free[r]));
  }
  asked.resize(free.size(), 0);
  for_each_item([&](const Item& item) {
    const formulation::DemandClass& demand = input.demand.classes[item.demand];
    const PodClass& pod_class = input.problem.pod_classes[demand.pod_class];
    for (std::size_t r = 0; r < asked.size(); ++r)
      asked[r] += static_cast<double>(demand.count) * static_cast<double>(pod_class.request[r]);
  });
  std::vector<std::size_t> order(free.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t r) { return asked[r] / std::max(1.0, free[r]); });
  for (std::size_t k = 0; k < 2; ++k) {
    resource_[k] = order[std::min(k, order.size() - 1)];
    for (const formulation::ResidualClassIndex residual : residuals_)
      free_[k].push_back(std::max(0.0, static_cast<double>(supply.residuals[residual].free[resource_[k]])));
  }
  for_each_item([&](Item& item) {
    const PodClass& pod_class = input.problem.pod_classes[input.demand.classes[item.demand].pod_class];
    for (std::size_t k = 0; k < 2; ++k) item.request[k] = static_cast<double>(pod_class.request[resource_[k]]);
  });
}

// Geometric, around the price of all items for their use of the resource. The first begins where no pod without devices
// gains, as nothing else limits their number.
void MultiplierGrid::set_multipliers(const std::vector<double>& price) {
  std::array<double, 2> value{{0, 0}}, use{{0, 0}};
  for (const std::vector<Size>* sizes : {&shares_, &wholes_})
    for (const Size& size : *sizes)
      for (const Item& item : size.items)
        for (std::size_t k = 0; k < 2; ++k) {
          value[k] += price[item.demand.value()];
          use[k] += item.request[k];
        }
  const auto step_of = [&](std::size_t k, std::size_t step, std::size_t steps) {
    if (step == 0 || use[k] == 0) return 0.0;
    const double most = kTuning.generation.grid.most * value[k] / use[k];
    return most *
           std::pow(kTuning.generation.grid.range, static_cast<double>(step) / static_cast<double>(steps - 1) - 1);
  };
  for (std::vector<double>& multipliers : multiplier_) multipliers.clear();
  tied_.clear();
  unbounded_.clear();
  for (std::size_t b = 0; b < kTuning.generation.grid.second; ++b) {
    const double second = step_of(1, b, kTuning.generation.grid.second);
    double least = 0, unbounded = 0;
    std::int32_t tied = -1;
    for (std::size_t i = 0; i < without_devices_.size(); ++i) {
      const Item& item = without_devices_[i];
      const double left = price[item.demand.value()] - second * item.request[1];
      if (left > 0 && item.request[0] <= 0) unbounded += left * item.count;
      if (left <= 0 || item.request[0] <= 0 || left / item.request[0] <= least) continue;
      least = left / item.request[0];
      tied = static_cast<std::int32_t>(i);
    }
    tied_.push_back(tied);
    for (std::size_t a = 0; a < kTuning.generation.grid.first; ++a) {
      multiplier_[0].push_back(least + step_of(0, a, kTuning.generation.grid.first));
      multiplier_[1].push_back(second);
      unbounded_.push_back(unbounded);
    }
  }
}

void MultiplierGrid::find_best(std::vector<Size>& sizes, const std::vector<double>& price) const {
  for (Size& size : sizes) {
    size.profit.assign(pairs(), 0.0);
    size.use.assign(pairs(), 0.0);
    size.best.assign(pairs(), -1);
    for (std::size_t i = 0; i < size.items.size(); ++i) {
      const Item& item = size.items[i];
      const double worth = price[item.demand.value()];
      if (worth <= 0) continue;
      const double parts = item.devices;
      for (std::size_t p = 0; p < pairs(); ++p) {
        const double profit =
            (worth - multiplier_[0][p] * item.request[0] - multiplier_[1][p] * item.request[1]) / parts;
        if (profit <= size.profit[p]) continue;
        size.profit[p] = profit;
        size.use[p] = item.request[0] / parts;
        size.best[p] = static_cast<std::int32_t>(i);
      }
    }
  }
}

// An unbounded knapsack over `sizes`; each further unit of what is free is worth at least `each` (null: nothing).
void MultiplierGrid::fill_table(const std::vector<Size>& sizes, const double* each, const double* each_use,
                                Table& table) const {
  const auto most = static_cast<std::size_t>(table.most);
  const std::size_t width = pairs();
  table.value.assign((most + 1) * width, 0.0);
  table.use.assign((most + 1) * width, 0.0);
  for (std::size_t n = 1; n <= most; ++n) {
    for (std::size_t p = 0; p < width; ++p) {
      table.value[n * width + p] = table.value[(n - 1) * width + p] + (each == nullptr ? 0 : each[p]);
      table.use[n * width + p] = table.use[(n - 1) * width + p] + (each == nullptr ? 0 : each_use[p]);
    }
    for (const Size& size : sizes) {
      const auto amount = static_cast<std::size_t>(size.amount);
      if (amount > n) continue;
      take_better(table.value.data() + (n - amount) * width, table.use.data() + (n - amount) * width,
                  size.profit.data(), size.use.data(), table.value.data() + n * width, table.use.data() + n * width,
                  width);
    }
  }
}

void MultiplierGrid::set_prices(const std::vector<double>& price) {
  set_multipliers(price);
  find_best(shares_, price);
  find_best(wholes_, price);
  fill_table(shares_, nullptr, nullptr, device_);
  const std::size_t whole = static_cast<std::size_t>(device_.most) * pairs();
  fill_table(wholes_, device_.value.data() + whole, device_.use.data() + whole, idle_);
}

double MultiplierGrid::use_of(std::size_t position, std::size_t pair) const {
  const Pattern& pattern = patterns_[pattern_of_[position]];
  double use = idle_.use[static_cast<std::size_t>(pattern.idle) * pairs() + pair];
  for (const std::int32_t level : pattern.partial) use += device_.use[static_cast<std::size_t>(level) * pairs() + pair];
  return use;
}

double MultiplierGrid::bound_at(std::size_t position, std::size_t pair) const {
  const Pattern& pattern = patterns_[pattern_of_[position]];
  double value = free_[0][position] * multiplier_[0][pair] + free_[1][position] * multiplier_[1][pair] +
                 unbounded_[pair] + idle_.value[static_cast<std::size_t>(pattern.idle) * pairs() + pair];
  for (const std::int32_t level : pattern.partial)
    value += device_.value[static_cast<std::size_t>(level) * pairs() + pair];
  return value;
}

// The bound is convex in the multipliers: from the pair of a similar residual class, to the best neighbour, until none
// is better.
MultiplierGrid::Choice MultiplierGrid::choose(std::size_t position, std::size_t start) const {
  MUSTER_REQUIRE_SLOW(start < pairs());
  Choice choice{bound_at(position, start), start, start};
  for (bool is_better = true; is_better;) {
    is_better = false;
    const std::size_t first = choice.pair % steps(), second = choice.pair / steps();
    for (std::size_t b = second - std::min<std::size_t>(second, 1); b < std::min(second + 2, pairs() / steps()); ++b)
      for (std::size_t a = first - std::min<std::size_t>(first, 1); a < std::min(first + 2, steps()); ++a) {
        const double bound = bound_at(position, b * steps() + a);
        if (bound >= choice.dual_bound) continue;
        choice.dual_bound = bound;
        choice.pair = b * steps() + a;
        is_better = true;
      }
  }
  choice.neighbour = choice.pair;
  const double free = free_[0][position];
  const double use = use_of(position, choice.pair);
  if (use > free) {
    while (choice.neighbour % steps() + 1 < steps()) {
      const double other = use_of(position, ++choice.neighbour);
      if (other > free) continue;
      choice.part = (free - other) / (use - other);
      break;
    }
  } else if (use < free && choice.pair % steps() > 0) {
    const double other = use_of(position, choice.pair - 1);
    if (other <= free) return choice;
    choice.neighbour = choice.pair - 1;
    choice.part = (other - free) / (other - use);
  }
  return choice;
}

void MultiplierGrid::trace_device(std::size_t pair, std::int32_t level, double part, const Take& take) const {
  const auto value = [&](std::int32_t at) { return device_.value[static_cast<std::size_t>(at) * pairs() + pair]; };
  while (level > 0) {
    if (value(level) == value(level - 1)) {
      --level;
      continue;
    }
    for (const Size& size : shares_) {
      const std::int32_t amount = size.amount;
      if (amount > level || value(level) != value(level - amount) + size.profit[pair]) continue;
      const Item& item = size.items[static_cast<std::size_t>(size.best[pair])];
      take(item.demand, part / item.devices);
      level -= amount - 1;
      break;
    }
    --level;
  }
}

void MultiplierGrid::trace_idle(std::size_t pair, std::int32_t idle, double part, const Take& take) const {
  const auto value = [&](std::int32_t at) { return idle_.value[static_cast<std::size_t>(at) * pairs() + pair]; };
  while (idle > 0) {
    const auto whole = std::ranges::find_if(wholes_, [&](const Size& size) {
      return size.amount <= idle && size.best[pair] >= 0 &&
             value(idle) == value(idle - size.amount) + size.profit[pair];
    });
    if (whole != wholes_.end()) {
      take(whole->items[static_cast<std::size_t>(whole->best[pair])].demand, part);
      idle -= whole->amount;
    } else {
      trace_device(pair, device_.most, part, take);
      --idle;
    }
  }
}

void MultiplierGrid::trace_part(std::size_t position, std::size_t pair, double part, const Take& take) const {
  const Pattern& pattern = patterns_[pattern_of_[position]];
  trace_idle(pair, pattern.idle, part, take);
  for (const std::int32_t level : pattern.partial) trace_device(pair, level, part, take);
}

void MultiplierGrid::trace(std::size_t position, std::size_t pair, const Take& take) const {
  trace_part(position, pair, 1, take);
}

void MultiplierGrid::trace_mixture(std::size_t position, const Choice& choice, const Take& take) const {
  trace_part(position, choice.pair, choice.part, take);
  if (choice.part < 1) trace_part(position, choice.neighbour, 1 - choice.part, take);
  const std::int32_t tied = tied_[choice.pair / steps()];
  const double left = free_[0][position] - use_of(position, choice.pair);
  if (choice.part < 1 || choice.pair % steps() > 0 || tied < 0 || left <= 0) return;
  const Item& item = without_devices_[static_cast<std::size_t>(tied)];
  take(item.demand, left / item.request[0]);
}

}  // namespace muster::column_generation
