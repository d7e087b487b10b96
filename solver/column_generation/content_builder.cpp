#include "solver/column_generation/content_builder.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace muster::column_generation {

void ContentBuilder::set_prices(const std::vector<double>& price) {
  std::vector<double> density(node_.items.size());
  for (std::size_t i = 0; i < node_.items.size(); ++i) {
    double use = 1e-9 + (node_.items[i].whole + node_.items[i].devices * static_cast<double>(node_.items[i].size) /
                                                    std::max(1, node_.idle_level)) /
                            std::max(1.0, static_cast<double>(node_.residual.free_devices.size()));
    for (std::size_t r = 0; r < node_.resources.size(); ++r)
      use += node_.request_of(i, r) / std::max(1.0, node_.free[r]);
    density[i] = price[node_.items[i].demand.value()] / use;
  }
  by_density_.resize(node_.items.size());
  std::iota(by_density_.begin(), by_density_.end(), std::size_t{0});
  std::stable_sort(by_density_.begin(), by_density_.end(),
                   [&](std::size_t x, std::size_t y) { return density[x] > density[y]; });
  by_bulk_ = by_density_;
  const auto bulk = [&](std::size_t i) { return node_.items[i].whole * 10'000 + node_.items[i].size; };
  std::stable_sort(by_bulk_.begin(), by_bulk_.end(), [&](std::size_t x, std::size_t y) { return bulk(x) > bulk(y); });
}

void ContentBuilder::build(const std::vector<double>& price, const RelaxedNode::Content& content,
                           PricedContents& result) const {
  Filling filling(node_);
  for (std::size_t i : by_bulk_)
    if (node_.items[i].whole > 0 && content.amount[i] > 0.5) put(i, std::lround(content.amount[i]), filling);
  for (std::size_t device = 0; device < content.on_devices.size(); ++device) {
    const std::int32_t at =
        device < node_.partial_levels.size() ? static_cast<std::int32_t>(device) : idle_device(filling.space);
    if (at >= 0) put_on(at, content.on_devices[device], filling);
  }
  for (std::size_t i : by_bulk_)
    if (node_.items[i].whole == 0 && (node_.items[i].size == 0 || node_.items[i].devices > 1) &&
        content.amount[i] > 0.5)
      put(i, std::lround(content.amount[i]), filling);
  finish(price, filling, result);
}

void ContentBuilder::build(const std::vector<double>& price, const std::vector<const DeviceBundle*>& bundles,
                           PricedContents& result) const {
  Filling filling(node_);
  const auto is_whole = [&](const DeviceBundle* bundle) { return node_.items[bundle->items.front()].whole > 0; };
  for (const DeviceBundle* bundle : bundles)
    if (is_whole(bundle)) put(bundle->items.front(), 1, filling);
  for (const DeviceBundle* bundle : bundles)
    if (const std::int32_t at = is_whole(bundle) ? -1 : idle_device(filling.space); at >= 0)
      put_on(at, bundle->items, filling);
  finish(price, filling, result);
}

// Whether one more pod of the item exists, and may be placed next to those that are counted.
bool ContentBuilder::may_put(std::size_t item, const std::vector<std::int64_t>& counts) const {
  const formulation::DemandClass& demand = node_.in.demand.classes[node_.items[item].demand];
  if (counts[item] >= node_.residual.stock[item]) return false;
  const PodClass& pod_class = *node_.items[item].pod_class;
  if (pod_class.anti_affinity_owned.empty() && pod_class.anti_affinity_matched.empty()) return true;
  for (std::size_t other = 0; other < node_.items.size(); ++other)
    if (counts[other] > 0 &&
        node_.in.anti_affinity.conflict(demand.pod_class, node_.in.demand.classes[node_.items[other].demand].pod_class,
                                        node_.residual.nodes.front()))
      return false;
  return true;
}

void ContentBuilder::put(std::size_t item, std::int64_t count, Filling& filling) const {
  for (std::int64_t n = 0; n < count && may_put(item, filling.counts); ++n) {
    if (!filling.space.add(*node_.items[item].pod_class)) return;
    filling.configuration.steps.push_back({node_.items[item].demand, filling.space.last_devices()});
    ++filling.counts[item];
  }
}

// Puts pods that share one device on that device, as the table divided them; those that do not fit are left out.
void ContentBuilder::put_on(std::int32_t device, const std::vector<std::size_t>& items, Filling& filling) const {
  const NodeClass& node_class = node_.in.problem.node_classes[node_.residual.node_class];
  for (std::size_t item : items) {
    const PodClass& pod_class = *node_.items[item].pod_class;
    if (!may_put(item, filling.counts)) continue;
    if (!filling.space.has_resources(pod_class)) continue;
    if (filling.space.free_devices()[static_cast<std::size_t>(device)] < share_units(pod_class, node_class)) continue;
    filling.space.add_on(pod_class, {device});
    filling.configuration.steps.push_back({node_.items[item].demand, {device}});
    ++filling.counts[item];
  }
}

// A device that nothing is on; -1: none.
std::int32_t ContentBuilder::idle_device(const formulation::NodeResidual& space) const {
  const DeviceUnits capacity = node_.residual.free_devices.empty() ? 0 : node_.residual.free_devices.back();
  for (std::size_t i = node_.partial_levels.size(); i < space.free_devices().size(); ++i)
    if (space.free_devices()[i] == capacity) return static_cast<std::int32_t>(i);
  return -1;
}

// Fills up the rest in order of value per use, and keeps the configuration if it is new.
void ContentBuilder::finish(const std::vector<double>& price, Filling& filling, PricedContents& result) const {
  for (std::size_t i : by_density_)
    if (price[node_.items[i].demand.value()] > 0) put(i, node_.residual.stock[i], filling);
  double worth = 0;
  for (std::size_t i = 0; i < node_.items.size(); ++i) {
    if (filling.counts[i] == 0) continue;
    filling.configuration.counts.emplace_back(node_.items[i].demand, static_cast<std::int32_t>(filling.counts[i]));
    worth += static_cast<double>(filling.counts[i]) * price[node_.items[i].demand.value()];
  }
  for (const formulation::Configuration& known : result.configurations)
    if (known.counts == filling.configuration.counts) return;
  result.configurations.push_back(std::move(filling.configuration));
  result.worth.push_back(worth);
}

}  // namespace muster::column_generation
