#include "solver/engine/first_prices.h"

#include <algorithm>
#include <utility>

#include "solver/column_generation/aggregate.h"

namespace muster::engine {

bool FirstPrices::has_center() const {
  return whole_.stability_center.size() == static_cast<std::size_t>(whole_.formulation->model().rows());
}

void FirstPrices::find(const LevelId& id, const column_generation::PricingTask& task, double divisor) {
  if (has_center()) return;
  whole_.stability_center.clear();
  if (options_.memory != nullptr) {
    std::vector<double> pods = options_.memory->recall(problem_, whole_.demand, id);
    for (double& price : pods) price /= divisor;
    if (!pods.empty()) whole_.stability_center = column_generation::prices_of_pods(whole_, task, pods, backend_);
  }
  const bool is_recalled = !whole_.stability_center.empty();
  if (is_recalled || !options_.runs("aggregate")) return;
  column_generation::AggregatePrices first = column_generation::aggregate_prices(whole_, task, backend_);
  whole_.stability_center = std::move(first.price);
  asked_ = std::move(first.asked);
}

void FirstPrices::remember(const LevelId& id, double divisor) const {
  if (options_.memory == nullptr || !has_center()) return;
  std::vector<double> pods(whole_.demand.classes.size(), 0.0);
  for (const formulation::ResidualClassIndex residual : whole_.supply.residuals.indices())
    for (const formulation::DemandIndex d : whole_.supply.residuals[residual].demands) {
      const auto row = static_cast<std::size_t>(whole_.formulation->supply_row(d, residual));
      pods[d.value()] = std::max(pods[d.value()], divisor * whole_.stability_center[row]);
    }
  options_.memory->keep(problem_, whole_.demand, id, pods);
}

}  // namespace muster::engine
