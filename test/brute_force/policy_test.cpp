// The search over evictions and moves against hand-made instances, and the engines against it.
//
// MUSTER_POLICY_MILP: the MILP engine is compared, too.
#include <cstdlib>

#include <gtest/gtest.h>

#include "io/snapshot_reader.h"
#include "model/referee.h"
#include "test/brute_force/campaign.h"
#include "test/brute_force/outcomes.h"
#include "test/brute_force/policy_instance.h"
#include "test/brute_force/policy_search.h"

namespace muster::brute_force {
namespace {

constexpr std::int64_t kMostStates = 3'000'000;

TEST(PolicyInstance, IsTheSameForTheSameSeed) {
  EXPECT_EQ(policy_instance(42), policy_instance(42));
  EXPECT_NE(policy_instance(42), policy_instance(43));
}

TEST(Engines, AgreeWithBruteForceWhereRunningPodsMayGo) {
  const bool with_milp = std::getenv("MUSTER_POLICY_MILP") != nullptr;
  Campaign campaign({policy_instance, {kMostStates, with_milp, true}, 1000});
  campaign.run();
  campaign.print();
  campaign.expect_agreement();
}

}  // namespace
}  // namespace muster::brute_force
