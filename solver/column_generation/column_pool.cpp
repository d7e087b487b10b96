#include "solver/column_generation/column_pool.h"

#include <algorithm>
#include <tuple>

#include "model/base/tuning.h"
#include "solver/formulation/decode.h"

namespace muster::column_generation {
ColumnPool::ColumnPool(const formulation::ConfigurationInput& input, const formulation::Supply& supply)
    : in_(input),
      supply_(supply),
      configurations_(supply.residuals.size()),
      known_(supply.residuals.size()),
      pricing_(supply.residuals.size()) {
  for (formulation::DemandIndex d : input.demand.classes.indices()) {
    const formulation::DemandClass& demand = input.demand.classes[d];
    if (!demand.stays.is_none()) continue;
    demand_of_[{demand.pod_class, demand.weighted_work, demand.nominated_node}] = d;
  }
}

std::optional<std::size_t> ColumnPool::list_all(const Limits& limits) {
  if (supply_.residuals.size() > limits.columns) return std::nullopt;
  if (std::ranges::any_of(supply_.residuals, [&](const formulation::ResidualClass& residual) {
        return formulation::surely_has_more(in_, residual, limits.states);
      }))
    return std::nullopt;
  std::size_t states = limits.states, columns = 0;
  Indexed<formulation::ResidualClassIndex, std::vector<formulation::Configuration>> listed(supply_.residuals.size());
  for (formulation::ResidualClassIndex residual : supply_.residuals.indices()) {
    std::optional<std::vector<formulation::Configuration>> all =
        formulation::enumerate_configurations(in_, supply_.residuals[residual], states, limits.stop);
    if (!all || (columns += all->size()) > limits.columns) return std::nullopt;
    listed[residual] = std::move(*all);
  }
  configurations_ = std::move(listed);
  return limits.states - states;
}

bool ColumnPool::add(formulation::ResidualClassIndex residual, formulation::Configuration configuration) {
  const std::size_t before = configurations_[residual].size();
  position(residual, std::move(configuration));
  return configurations_[residual].size() > before;
}

std::uint32_t ColumnPool::position(formulation::ResidualClassIndex residual, formulation::Configuration configuration) {
  const auto [found, is_new] = known_[residual].try_emplace(configuration.counts, configurations_[residual].size());
  if (is_new) configurations_[residual].push_back(std::move(configuration));
  return static_cast<std::uint32_t>(found->second);
}

void ColumnPool::add_contents(const ClusterState& end_state, const ClusterState& base) {
  for (formulation::ResidualClassIndex residual : supply_.residuals.indices())
    for (NodeIndex node : supply_.residuals[residual].nodes)
      if (std::optional<formulation::Configuration> configuration = contents_of(node, end_state, base))
        add(residual, std::move(*configuration));
}

std::optional<formulation::Configuration> ColumnPool::contents_of(NodeIndex node, const ClusterState& end_state,
                                                                  const ClusterState& base) const {
  formulation::Configuration configuration;
  std::map<formulation::DemandIndex, std::int32_t> counts;
  for (const PodIndex pod : end_state.pods_on(node)) {
    if (base.is_present(pod)) continue;
    const Place& place = end_state.place_of(pod);
    const Pod& p = in_.problem.pods[pod];
    if (p.status == PodStatus::kRunning && place == snapshot_place(in_.problem, pod)) continue;
    formulation::Configuration::Step step;
    const auto demand = demand_of_.find({p.pod_class, p.weighted_work, p.nominated_node});
    if (demand == demand_of_.end()) return std::nullopt;
    step.demand = demand->second;
    for (std::int32_t device : place.devices) {
      const std::vector<std::int32_t>& devices = supply_.devices[node];
      const auto at = std::find(devices.begin(), devices.end(), device);
      if (at == devices.end()) return std::nullopt;
      step.devices.push_back(static_cast<std::int32_t>(at - devices.begin()));
    }
    std::sort(step.devices.begin(), step.devices.end());
    ++counts[step.demand];
    configuration.steps.push_back(std::move(step));
  }
  if (configuration.steps.empty()) return std::nullopt;
  configuration.counts.assign(counts.begin(), counts.end());
  return configuration;
}

Pricing& ColumnPool::pricing(formulation::ResidualClassIndex residual) {
  if (!pricing_[residual]) pricing_[residual].emplace(in_, supply_.residuals[residual]);
  return *pricing_[residual];
}

}  // namespace muster::column_generation
