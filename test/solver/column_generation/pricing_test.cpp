#include "solver/column_generation/pricing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "test/solver/exact_formulation.h"
#include "test/solver/random_cluster.h"
#include "test/solver/random_milp.h"

namespace muster::column_generation {
namespace {

using test::Case;
using test::ExactFormulation;
using test::pick;

double reduced_profit_of(const formulation::Configuration& configuration, const std::vector<double>& price) {
  double worth = 0;
  for (const auto& [demand, count] : configuration.counts) worth += count * price[demand.value()];
  return worth;
}

double best_reduced_profit(const std::vector<formulation::Configuration>& all, const std::vector<double>& price) {
  double best = 0;
  for (const formulation::Configuration& configuration : all)
    best = std::max(best, reduced_profit_of(configuration, price));
  return best;
}

// Prices of every kind that duals may have: nothing, about the work, far apart, and of a few pods only.
std::vector<double> random_prices(const ExactFormulation& f, std::mt19937& random) {
  std::vector<double> price;
  const int kind = pick(random, 0, 3);
  const auto uniform = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
  for (const formulation::DemandClass& demand : f.demand.classes) {
    double value = uniform();
    if (kind == 1) value = (0.5 + uniform()) * static_cast<double>(demand.weighted_work);
    if (kind == 2) value = std::pow(10.0, 8 * uniform() - 3);
    if (kind == 3) value = pick(random, 0, 2) == 0 ? pick(random, 1, 9) : 0;
    price.push_back(value);
  }
  return price;
}

// Calls visit(formulation, residual, all configurations) of the residual classes of random clusters.
template <class Visit>
void for_each_room(std::uint32_t clusters, const Visit& visit) {
  for (std::uint32_t seed = 1; seed <= clusters; ++seed) {
    const Case cluster = test::any_cluster(seed);
    SCOPED_TRACE(cluster.line());
    const ExactFormulation f(cluster);
    for (const formulation::ResidualClass& residual : f.supply.residuals) {
      std::size_t states = ExactFormulation::kMostConfigurations;
      const auto all = formulation::enumerate_configurations(f.configuration_input, residual, states);
      if (all && all->size() > 1) visit(f, residual, *all);
    }
    if (testing::Test::HasFailure()) return;
  }
}

// Calls visit(formulation, residual, all configurations, pricing, price) thousands of times, of residual classes
// without residents; the pricing of a residual class is kept from call to call, as its multipliers are.
template <class Visit>
void for_each_pricing(std::uint32_t clusters, const Visit& visit) {
  std::mt19937 random(5);
  for_each_room(clusters, [&](const ExactFormulation& f, const formulation::ResidualClass& residual, const auto& all) {
    if (!residual.residents.empty()) return;
    Pricing pricing(f.configuration_input, residual);
    for (int call = 0; call < 8; ++call) visit(f, residual, all, pricing, random_prices(f, random));
  });
}

TEST(Pricing, NoConfigurationIsWorthMoreThanTheLimit) {
  std::int64_t calls = 0;
  for_each_pricing(1500, [&](const auto&, const auto&, const auto& all, Pricing& pricing, const auto& price) {
    const double best = best_reduced_profit(all, price);
    EXPECT_GE(pricing.price(price).dual_bound, best * (1 - 1e-9));
    ++calls;
  });
  EXPECT_GE(calls, 10000);
}

TEST(Pricing, NoConfigurationIsWorthMoreThanTheLimitOfAQuickCall) {
  std::int64_t calls = 0;
  for_each_pricing(1500, [&](const auto&, const auto&, const auto& all, Pricing& pricing, const auto& price) {
    EXPECT_GE(pricing.quick(price).dual_bound, best_reduced_profit(all, price) * (1 - 1e-9));
    ++calls;
  });
  EXPECT_GE(calls, 10000);
}

TEST(Configurations, AreNeverCalledTooManyWhereTheyAreNot) {
  for_each_room(300, [](const ExactFormulation& f, const formulation::ResidualClass& residual, const auto& all) {
    EXPECT_FALSE(formulation::surely_has_more(f.configuration_input, residual, all.size()));
  });
}

TEST(Pricing, ConfigurationsAreAmongThoseThatFit) {
  for_each_pricing(300, [](const auto&, const auto&, const auto& all, Pricing& pricing, const auto& price) {
    for (const formulation::Configuration& found : pricing.price(price).configurations) {
      const auto is_same = [&](const formulation::Configuration& c) { return c.counts == found.counts; };
      EXPECT_TRUE(std::ranges::any_of(all, is_same));
    }
  });
}

TEST(Pricing, StepsOfConfigurationsFitTheRoom) {
  for_each_pricing(300, [](const ExactFormulation& f, const formulation::ResidualClass& residual, const auto&,
                           Pricing& pricing, const auto& price) {
    const NodeClass& node_class = f.problem.node_classes[residual.node_class];
    for (const formulation::Configuration& found : pricing.price(price).configurations) {
      std::vector<DeviceUnits> devices = residual.free_devices;
      std::vector<std::int32_t> counts(f.demand.classes.size(), 0), told = counts;
      for (const auto& [demand, count] : found.counts) told[demand.value()] = count;
      for (const formulation::Configuration::Step& step : found.steps) {
        ++counts[step.demand.value()];
        const PodClass& pod_class = f.problem.pod_classes[f.demand.classes[step.demand].pod_class];
        EXPECT_EQ(step.devices.size(), static_cast<std::size_t>(pod_class.gpu.devices));
        for (std::int32_t device : step.devices) {
          DeviceUnits& left = devices.at(static_cast<std::size_t>(device));
          left -= share_units(pod_class, node_class);
          EXPECT_GE(left, 0);
        }
      }
      EXPECT_EQ(counts, told);
    }
  });
}

TEST(Pricing, WorthIsThatOfTheCountsAndTheBestComesFirst) {
  for_each_pricing(300, [](const auto&, const auto&, const auto&, Pricing& pricing, const auto& price) {
    const Pricing::Result result = pricing.price(price);
    ASSERT_EQ(result.worth.size(), result.configurations.size());
    for (std::size_t i = 0; i < result.worth.size(); ++i) {
      const double worth = reduced_profit_of(result.configurations[i], price);
      EXPECT_NEAR(result.worth[i], worth, 1e-9 * (1 + worth));
      if (i > 0) {
        EXPECT_GE(result.worth[i - 1], result.worth[i]);
      }
    }
  });
}

// A few kinds of pods, of each many times what fits, as it is where configurations are priced: the limit knows no
// counts.
Case crowded(std::mt19937& random) {
  test::Cluster cluster;
  cluster.node("n", R"("resources":{"cpu":32,"memory":"128Gi"},"gpus":{"count":4,"memory":"40Gi"})");
  const char* const gpus[] = {R"({"count":1})",      R"({"count":2})",       R"({"fraction":0.3})",
                              R"({"fraction":0.7})", R"({"memory":"16Gi"})", R"({"fraction":0.5,"devices":2})"};
  for (int shape = 0; shape < 5; ++shape) {
    const std::string spec = R"("resources":{"cpu":)" + std::to_string(pick(random, 2, 12)) + R"(,"memory":")" +
                             std::to_string(pick(random, 4, 40)) + R"(Gi"},"gpu":)" +
                             gpus[static_cast<std::size_t>(pick(random, 0, 5))];
    cluster.pods("p" + std::to_string(shape), 12, spec);
  }
  return Case(cluster);
}

TEST(Pricing, TheLimitIsNearTheBestOnAverage) {
  std::mt19937 random(6);
  double limits = 0, found = 0;
  std::int64_t calls = 0;
  for (int round = 0; round < 40; ++round) {
    const Case cluster = crowded(random);
    const ExactFormulation f(cluster);
    for (const formulation::ResidualClass& residual : f.supply.residuals) {
      std::size_t states = 20'000;
      const auto all = formulation::enumerate_configurations(f.configuration_input, residual, states);
      if (!all) continue;
      Pricing pricing(f.configuration_input, residual);
      for (int call = 0; call < 10; ++call) {
        const std::vector<double> price = random_prices(f, random);
        const double best = best_reduced_profit(*all, price);
        if (best == 0) continue;
        const Pricing::Result result = pricing.price(price);
        limits += result.dual_bound / best;
        found += result.worth.front() / best;
        ++calls;
      }
    }
  }
  ASSERT_GE(calls, 100);
  RecordProperty("mean_limit", std::to_string(limits / static_cast<double>(calls)));
  EXPECT_LE(limits / static_cast<double>(calls), 1.15);
  EXPECT_GE(found / static_cast<double>(calls), 0.85);
}

}  // namespace
}  // namespace muster::column_generation
