#include "solver/column_generation/price_memory.h"

#include <algorithm>

#include "model/base/tuning.h"

namespace muster::column_generation {

PriceMemory::Kind PriceMemory::kind_of(const Problem& problem, const formulation::DemandClass& demand) {
  const PodClass& pod_class = problem.pod_classes[demand.pod_class];
  return {pod_class.request, pod_class.gpu.kind, pod_class.gpu.devices, pod_class.gpu.share, demand.weighted_work};
}

std::vector<double> PriceMemory::recall(const Problem& problem, const formulation::Demand& demand,
                                        const LevelId& level) const {
  const auto known = prices_.find(level);
  if (known == prices_.end()) return {};
  std::vector<double> price(demand.classes.size(), 0.0);
  double pods = 0, known_pods = 0;
  for (formulation::DemandIndex d : demand.classes.indices()) {
    const auto count = static_cast<double>(demand.classes[d].count);
    pods += count;
    const auto found = known->second.find(kind_of(problem, demand.classes[d]));
    if (found == known->second.end()) continue;
    price[d.value()] = found->second;
    known_pods += count;
  }
  if (known_pods <= pods / 2) return {};
  return price;
}

void PriceMemory::keep(const Problem& problem, const formulation::Demand& demand, const LevelId& level,
                       const std::vector<double>& price) {
  std::map<Kind, double>& prices = prices_[level];
  prices.clear();
  for (formulation::DemandIndex d : demand.classes.indices()) {
    double& kept = prices[kind_of(problem, demand.classes[d])];
    kept = std::max(kept, price[d.value()]);
  }
}

}  // namespace muster::column_generation
