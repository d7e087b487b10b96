// What could be placed if every node were empty. The reasons themselves are tested by reports.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "model/explain/fit_reasons.h"
#include "test/support/case.h"

namespace muster::explain {
namespace {

// Both nodes are full; b is cordoned.
const std::string kCluster =
    R"("nodes":[{"name":"a","gpus":{"count":4}},{"name":"b","gpus":{"count":8},"unschedulable":true}],)"
    R"("gangs":[{"name":"mixed"}],"pods":[{"name":"r","node":"a","gpu":{"count":4}},{"name":"s","node":"b",)"
    R"("gpu":{"count":8}},{"name":"four","gpu":{"count":4}},{"name":"eight","gpu":{"count":8}},)"
    R"({"name":"nine","gpu":{"count":9}},{"name":"m","gang":"mixed","gpu":{"count":3}},)"
    R"({"name":"n","gang":"mixed","gpu":{"count":2}}])";

bool never_fits(std::string_view gang, const std::vector<std::string_view>& names, bool with_filters) {
  const test::Case built(kCluster);
  const AfterPlan end = after_plan(*built, {});
  const SupplySums supplies(*built, RemainingCapacity::after(*built, end));
  std::vector<PodIndex> pods;
  for (const std::string_view name : names) pods.push_back(built.pod(name));
  VisitBudget budget(1'000'000);
  EmptyCluster empty(*built, budget);
  return empty.never_fits(built.gang(gang), need_of_pods(*built, pods), supplies, with_filters);
}

TEST(EmptyCluster, HasRoomForWhatOnlyPresentPodsKeepOut) { EXPECT_FALSE(never_fits("four", {"four"}, true)); }

TEST(EmptyCluster, HasNoRoomForMoreThanANodeHas) { EXPECT_TRUE(never_fits("nine", {"nine"}, false)); }

TEST(EmptyCluster, AppliesFiltersOnlyIfAsked) {
  EXPECT_FALSE(never_fits("eight", {"eight"}, false));
  EXPECT_TRUE(never_fits("eight", {"eight"}, true));
}

TEST(EmptyCluster, CountsPodsOfTwoClassesTogether) {
  EXPECT_FALSE(never_fits("mixed", {"m", "n"}, false));
  EXPECT_TRUE(never_fits("mixed", {"m", "n"}, true));
}

}  // namespace
}  // namespace muster::explain
