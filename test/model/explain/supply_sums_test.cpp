// Sums of what is free and of what is asked for.
#include "model/explain/supply_sums.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster::explain {
namespace {

const std::string kCluster = R"("nodes":[{"name":"a","resources":{"cpu":"8"},"gpus":{"count":4}},)"
                             R"({"name":"b","resources":{"cpu":"8"},"gpus":{"count":4},"unschedulable":true}],"pods":[)"
                             R"({"name":"r","node":"a","gpu":{"count":1}},{"name":"p","gpu":{"count":2}},)"
                             R"({"name":"f","gpu":{"fraction":0.5},"resources":{"cpu":"20"}}])";

std::vector<NeedItem> items_of(const test::Case& built, std::string_view pod) {
  return need_of_pods(*built, {built.pod(pod)}).items;
}

TEST(SupplySums, CountWhatIsFreeOnTheNodesThatAClassMayUse) {
  const test::Case built(kCluster);
  const AfterPlan end = after_plan(*built, {});
  SupplySums supplies(*built, RemainingCapacity::after(*built, end));
  const PodClassIndex pod_class = built->pods[built.pod("p")].pod_class;
  EXPECT_EQ(supplies.free_for(pod_class).gpu, 3'000'000);
  EXPECT_EQ(supplies.free({pod_class}).amounts[kCpu.value()], 8'000);
}

TEST(SupplySums, CountTheCapacityOfAllNodesWithoutFilters) {
  const test::Case built(kCluster);
  const AfterPlan end = after_plan(*built, {});
  const SupplySums supplies(*built, RemainingCapacity::after(*built, end));
  const PodClassIndex pod_class = built->pods[built.pod("p")].pod_class;
  EXPECT_EQ(supplies.capacity({pod_class}, false).gpu, 8'000'000);
  EXPECT_EQ(supplies.capacity({pod_class}, true).gpu, 4'000'000);
}

TEST(DemandSum, CountsAFractionByItsPartOfADevice) {
  const test::Case built(kCluster);
  EXPECT_EQ(demand_of(*built, items_of(built, "f")).gpu, 500'000);
  EXPECT_EQ(demand_of(*built, items_of(built, "p")).gpu, 2'000'000);
}

TEST(DemandSum, NamesTheFirstResourceThatIsShort) {
  const test::Case built(kCluster);
  const AfterPlan end = after_plan(*built, {});
  SupplySums supplies(*built, RemainingCapacity::after(*built, end));
  const PodClassIndex p = built->pods[built.pod("p")].pod_class, f = built->pods[built.pod("f")].pod_class;
  EXPECT_EQ(first_short(*built, demand_of(*built, items_of(built, "p")), supplies.free_for(p)), "");
  EXPECT_EQ(first_short(*built, demand_of(*built, items_of(built, "f")), supplies.free_for(f)), "cpu");
}

TEST(FirstOther, IsTheFirstByNameInAnyOrderOfTheSnapshot) {
  const test::Case built(R"("nodes":[{"name":"a","resources":{"z/z":1,"b/b":1,"a/a":1}}],"pods":[{"name":"p"}])");
  const auto is_late = [&](ResourceIndex resource) { return built->resource_name(resource) > "a/a"; };
  EXPECT_EQ(built->resource_name(first_other(*built, is_late)), "b/b");
  EXPECT_TRUE(first_other(*built, [](ResourceIndex) { return false; }).is_none());
}

}  // namespace
}  // namespace muster::explain
