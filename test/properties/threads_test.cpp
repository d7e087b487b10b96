// Without clocks the plan and the whole report on it are the same for any number of threads, and every time.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "solver/portfolio/portfolio.h"
#include "test/properties/crowded.h"
#include "test/properties/cycles.h"
#include "test/properties/instances.h"
#include "test/solver/random_cluster.h"
#include "test/support/paths.h"

namespace muster::properties {
namespace {

constexpr test::ClusterShape kEvicting{.may_evict = true, .running = 50};

// In turn: crowded clusters, tiny ones with some of every feature, larger ones with some of every feature, and such as
// are too large for their configurations to be listed.
std::string some_line(std::uint32_t seed) {
  if (seed % 4 == 0) return CrowdedCluster(seed).snapshot().dump();
  if (seed % 4 == 1) return test::random_cluster(seed, kEvicting).line();
  generator::GeneratorOptions options = *generator::generator_preset(seed % 4 == 2 ? "full" : "synth");
  options.cluster.nodes = seed % 4 == 2 ? 6 : 10;
  options.cluster.racks_per_zone = 3;  // of two zones, where there are any: no more racks than nodes
  options.seed = seed;
  return generator::generate_snapshot(options);
}

TEST(Threads, ChangeNothingWithoutClocks) {
  constexpr int kRepetitions = 2;
  portfolio::Portfolio portfolio(test::program());
  for (std::uint32_t seed = 1; seed <= instances(4); ++seed) {
    const auto cluster = Case::if_valid(some_line(seed));
    ASSERT_TRUE(cluster) << seed;
    portfolio::SolveOptions options;
    options.deterministic = true;
    const portfolio::Solution first = portfolio.solve(cluster->snapshot(), cluster->problem(), options);
    for (const std::int32_t threads : {1, 2, 4, 8}) {
      options.threads = threads;
      for (int repetition = 0; repetition < kRepetitions; ++repetition) {
        const portfolio::Solution again = portfolio.solve(cluster->snapshot(), cluster->problem(), options);
        EXPECT_EQ(again.plan, first.plan) << "seed " << seed << ", " << threads << " threads";
        EXPECT_EQ(again.origin, first.origin) << seed;
        EXPECT_EQ(again.proof, first.proof) << seed;
        EXPECT_EQ(again.gap, first.gap) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace muster::properties
