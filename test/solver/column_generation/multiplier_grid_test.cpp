#include "solver/column_generation/multiplier_grid.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "test/solver/exact_formulation.h"
#include "test/solver/random_cluster.h"
#include "test/solver/random_milp.h"

namespace muster::column_generation {
namespace {

using test::Case;
using test::ExactFormulation;

std::vector<double> random_prices(const ExactFormulation& f, std::mt19937& random) {
  std::vector<double> price;
  const bool is_mixed = test::pick(random, 0, 1) == 0;
  for (const formulation::DemandClass& demand : f.demand.classes) {
    const double unit = std::uniform_real_distribution<double>(0, 1)(random);
    const auto work = static_cast<double>(demand.weighted_work);
    price.push_back(is_mixed ? std::pow(10.0, 6 * unit - 2) : unit * work);
  }
  return price;
}

// Calls visit(formulation, residual, its grid, prices) for every residual class of random clusters whose running pods
// stay.
template <class Visit>
void for_each_grid(std::uint32_t clusters, const Visit& visit) {
  std::mt19937 random(3);
  for (std::uint32_t seed = 1; seed <= clusters; ++seed) {
    const Case cluster = test::any_cluster(seed);
    SCOPED_TRACE(cluster.line());
    const ExactFormulation f(cluster, false);
    for (const formulation::ResidualClassIndex residual : f.supply.residuals.indices()) {
      if (f.supply.residuals[residual].demands.empty()) continue;
      MultiplierGrid grid(f.configuration_input, f.supply, {residual});
      for (int call = 0; call < 3; ++call) {
        const std::vector<double> price = random_prices(f, random);
        grid.set_prices(price);
        visit(f, f.supply.residuals[residual], grid, price);
      }
    }
    if (testing::Test::HasFailure()) return;
  }
}

double reduced_profit(const formulation::Configuration& configuration, const std::vector<double>& price) {
  double worth = 0;
  for (const auto& [demand, count] : configuration.counts) worth += count * price[demand.value()];
  return worth;
}

// Wherever the way to the best pair begins.
TEST(MultiplierGrid, NoConfigurationIsWorthMoreThanTheBound) {
  std::int64_t calls = 0;
  for_each_grid(400,
                [&](const ExactFormulation& f, const auto& residual, const MultiplierGrid& grid, const auto& price) {
                  std::size_t states = ExactFormulation::kMostConfigurations;
                  const auto all = formulation::enumerate_configurations(f.configuration_input, residual, states);
                  if (!all) return;
                  double best = 0;
                  for (const formulation::Configuration& configuration : *all)
                    best = std::max(best, reduced_profit(configuration, price));
                  for (std::size_t pair = 0; pair < grid.pairs(); pair += 5)
                    EXPECT_GE(grid.choose(0, pair).dual_bound, best * (1 - 1e-9)) << "from pair " << pair;
                  ++calls;
                });
  EXPECT_GE(calls, 2000);
}

// The bound is what the node's free capacity costs, and what the pods on it gain beyond what theirs does.
TEST(MultiplierGrid, TheContentHasTheValueOfTheBound) {
  std::int64_t pods = 0;
  for_each_grid(400,
                [&](const ExactFormulation& f, const auto& residual, const MultiplierGrid& grid, const auto& price) {
                  const MultiplierGrid::Choice choice = grid.choose(0, grid.pairs() / 2);
                  const auto multipliers = grid.multipliers(choice.pair);
                  const auto gain_of = [&](formulation::DemandIndex d) {
                    double gain = price[d.value()];
                    const PodClass& pod_class = f.problem.pod_classes[f.demand.classes[d].pod_class];
                    for (const auto& [resource, multiplier] : multipliers)
                      gain -= multiplier * static_cast<double>(pod_class.request[resource]);
                    return gain;
                  };
                  double value = 0;
                  for (const auto& [resource, multiplier] : multipliers)
                    value += multiplier * std::max(0.0, static_cast<double>(residual.free[resource]));
                  for (const formulation::DemandIndex d : grid.demands()) {  // nothing but their number limits these
                    const PodClass& pod_class = f.problem.pod_classes[f.demand.classes[d].pod_class];
                    if (pod_class.gpu.kind == GpuRequestKind::kNone && pod_class.request[grid.first_resource()] == 0)
                      value += std::max(0.0, gain_of(d)) * static_cast<double>(f.demand.classes[d].count);
                  }
                  grid.trace(0, choice.pair, [&](formulation::DemandIndex d, double count) {
                    value += count * gain_of(d);
                    ++pods;
                  });
                  EXPECT_NEAR(value, choice.dual_bound, 1e-6 * std::max(1.0, choice.dual_bound));
                });
  EXPECT_GE(pods, 1000);
}

TEST(MultiplierGrid, AMixtureUsesNoMoreOfTheFirstResourceThanThereIs) {
  std::int64_t mixtures = 0;
  for_each_grid(400, [&](const ExactFormulation& f, const auto& residual, const MultiplierGrid& grid, const auto&) {
    const MultiplierGrid::Choice choice = grid.choose(0, 0);
    double use = 0;
    grid.trace_mixture(0, choice, [&](formulation::DemandIndex d, double count) {
      const PodClass& pod_class = f.problem.pod_classes[f.demand.classes[d].pod_class];
      use += count * static_cast<double>(pod_class.request[grid.first_resource()]);
    });
    if (choice.part == 1) return;
    const double free = std::max(0.0, static_cast<double>(residual.free[grid.first_resource()]));
    EXPECT_NEAR(use, free, 1e-6 * std::max(1.0, free));
    ++mixtures;
  });
  EXPECT_GE(mixtures, 10);
}

}  // namespace
}  // namespace muster::column_generation
