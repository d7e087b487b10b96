#include "solver/column_generation/node_content.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "model/base/tuning.h"

namespace muster::column_generation {

using formulation::Configuration, formulation::DemandIndex, formulation::NodeResidual, formulation::ResidualClass;

NodeContent::NodeContent(const RestrictedMaster& restricted, const std::vector<MultiplierGrid>& grids,
                         const std::vector<std::vector<double>>& price)
    : restricted_(restricted),
      grids_(grids),
      price_(price),
      kinds_(grids.size()),
      counts_(restricted.demand.classes.size(), 0) {}

void NodeContent::reset() {
  for (Kind& kind : kinds_) kind.by_gain.clear();
}

Configuration NodeContent::make(const ResidualOnGrid& at, const std::vector<std::int64_t>& left) {
  left_ = &left;
  const ResidualClass& residual = restricted_.supply.residuals[grids_[at.kind].residuals()[at.position]];
  const std::size_t pair = choose(at).pair;
  find_best(at, pair, residual);
  std::ranges::stable_sort(best_, std::greater<>(), [&](DemandIndex d) { return bulk(d, residual); });
  NodeResidual space(restricted_.configuration_input.problem, residual);
  Configuration configuration;
  for (const DemandIndex d : best_) put(d, residual, space, configuration);
  if (kinds_[at.kind].by_gain.empty()) sort_by_gain(at.kind, pair);
  for (const DemandIndex d : kinds_[at.kind].by_gain)
    while (put(d, residual, space, configuration)) {
    }
  std::ranges::sort(used_);
  for (const DemandIndex d : used_) configuration.counts.emplace_back(d, std::exchange(counts_[d.value()], 0));
  used_.clear();
  return configuration;
}

MultiplierGrid::Choice NodeContent::choose(const ResidualOnGrid& at) {
  const MultiplierGrid::Choice choice = grids_[at.kind].choose(at.position, kinds_[at.kind].pair);
  kinds_[at.kind].pair = choice.pair;
  return choice;
}

const PodClass& NodeContent::class_of(DemandIndex d) const {
  return restricted_.configuration_input.problem.pod_classes[restricted_.demand.classes[d].pod_class];
}

double NodeContent::first_request(DemandIndex d, const MultiplierGrid& grid) const {
  return static_cast<double>(class_of(d).request[grid.first_resource()]);
}

// Pods that are harder to place come first: more devices, then larger shares.
std::pair<std::int32_t, DeviceUnits> NodeContent::bulk(DemandIndex d, const ResidualClass& residual) const {
  const PodClass& pod_class = class_of(d);
  if (pod_class.gpu.kind == GpuRequestKind::kNone) return {-1, 0};
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) return {pod_class.gpu.devices, 0};
  return {0, share_units(pod_class, restricted_.configuration_input.problem.node_classes[residual.node_class])};
}

// The most valuable content of those of some pairs of multipliers, made to fit.
void NodeContent::find_best(const ResidualOnGrid& at, std::size_t pair, const ResidualClass& residual) {
  const MultiplierGrid& grid = grids_[at.kind];
  const std::size_t first = pair % grid.steps(), row = pair - first;
  double best = -1;
  best_.clear();
  for (std::size_t a = first - std::min(first, kTuning.generation.grid.tried);
       a < std::min(grid.steps(), first + kTuning.generation.grid.tried + 1); ++a) {
    content_.clear();
    grid.trace(at.position, row + a, [&](DemandIndex d, double pods) {
      if (pods > 0.5) content_.push_back(d);
    });
    const double worth = make_fit(at.kind, grid.floor(pair), residual);
    if (worth <= best) continue;
    best = worth;
    best_.swap(content_);
  }
}

// Leaves out of the content what is worth least for its use of the first resource, until it fits. Returns its value,
// with what is left of that resource.
double NodeContent::make_fit(std::size_t kind, double floor, const ResidualClass& residual) {
  const MultiplierGrid& grid = grids_[kind];
  const std::vector<double>& price = price_[kind];
  std::ranges::stable_sort(content_, [&](DemandIndex a, DemandIndex b) {
    return price[a.value()] * first_request(b, grid) > price[b.value()] * first_request(a, grid);
  });
  free_.assign(residual.free.begin(), residual.free.end());
  double worth = 0;
  std::size_t kept = 0;
  for (const DemandIndex d : content_) {
    const std::vector<Amount>& request = class_of(d).request;
    bool fits = counts_[d.value()] < (*left_)[d.value()];
    for (std::size_t r = 0; fits && r < free_.size(); ++r) fits = request[r] == 0 || request[r] <= free_[r];
    if (!fits) continue;
    for (std::size_t r = 0; r < free_.size(); ++r) free_[r] -= request[r];
    ++counts_[d.value()];
    worth += price[d.value()];
    content_[kept++] = d;
  }
  content_.resize(kept);
  for (const DemandIndex d : content_) counts_[d.value()] = 0;
  return worth + floor * static_cast<double>(free_[grid.first_resource()]);
}

bool NodeContent::may_put(DemandIndex d, const ResidualClass& residual) const {
  if (counts_[d.value()] >= (*left_)[d.value()] || !std::ranges::binary_search(residual.demands, d)) return false;
  const PodClass& pod_class = class_of(d);
  if (pod_class.anti_affinity_owned.empty() && pod_class.anti_affinity_matched.empty()) return true;
  return std::ranges::none_of(used_, [&](DemandIndex other) {
    return restricted_.anti_affinity.conflict(restricted_.demand.classes[d].pod_class,
                                              restricted_.demand.classes[other].pod_class, residual.nodes.front());
  });
}

bool NodeContent::put(DemandIndex d, const ResidualClass& residual, NodeResidual& space, Configuration& configuration) {
  if (!may_put(d, residual) || !space.add(class_of(d))) return false;
  configuration.steps.push_back({d, space.last_devices()});
  if (counts_[d.value()]++ == 0) used_.push_back(d);
  return true;
}

// What fills a node up: pods with devices by what they gain beyond the first resource, if they are worth more than
// others without devices would be; then those.
void NodeContent::sort_by_gain(std::size_t kind, std::size_t pair) {
  const MultiplierGrid& grid = grids_[kind];
  std::vector<std::tuple<bool, double, DemandIndex>> gains;
  for (const DemandIndex d : grid.demands()) {
    const double price = price_[kind][d.value()], use = first_request(d, grid);
    if (class_of(d).gpu.kind == GpuRequestKind::kNone)
      gains.emplace_back(false, price / std::max(use, 1.0), d);
    else if (price >= grid.floor(pair) * use)
      gains.emplace_back(true, price - grid.first_multiplier(pair) * use, d);
  }
  std::ranges::sort(gains, std::greater<>());
  for (const auto& [has_devices, gain, d] : gains) kinds_[kind].by_gain.push_back(d);
}

}  // namespace muster::column_generation
