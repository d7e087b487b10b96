// What a reason is about, and which gangs have equal reasons.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "model/explain/reason.h"
#include "test/support/case.h"

namespace muster::explain {
namespace {

const std::string kCluster =
    R"("nodes":[{"name":"a","gpus":{"count":4}}],"gangs":[{"name":"g"},{"name":"h"},{"name":"mixed"},)"
    R"({"name":"runs","minMember":1}],"pods":[{"name":"g0","gang":"g","gpu":{"count":2}},{"name":"g1","gang":"g",)"
    R"("gpu":{"count":2}},{"name":"h0","gang":"h","gpu":{"count":2}},{"name":"h1","gang":"h","gpu":{"count":2}},)"
    R"({"name":"m0","gang":"mixed","gpu":{"count":1}},{"name":"m1","gang":"mixed","gpu":{"count":3}},)"
    R"({"name":"r0","gang":"runs","node":"a","gpu":{"count":1}},{"name":"r1","gang":"runs","gpu":{"count":1}}])";

TEST(ReasonSubject, NeedsTheWholeMinimumOfAGangThatDoesNotRun) {
  const test::Case built(kCluster);
  const AfterPlan end = after_plan(*built, {});
  const ReasonSubject subject = reason_subject(*built, end, built.gang("mixed"), true);
  EXPECT_EQ(subject.need.pods, 2);
  EXPECT_EQ(subject.need.items.size(), 2U);
  EXPECT_FALSE(subject.has_present);
}

TEST(ReasonSubject, NeedsOnePodOfAGangWhoseMinimumRuns) {
  const test::Case built(kCluster);
  const AfterPlan end = after_plan(*built, {});
  const ReasonSubject subject = reason_subject(*built, end, built.gang("runs"), false);
  EXPECT_EQ(subject.need.pods, 1);
  EXPECT_TRUE(subject.has_present);
}

TEST(ReasonSignature, IsTheSameForGangsThatAreEqualInAllButTheName) {
  const test::Case built(kCluster);
  const AfterPlan end = after_plan(*built, {});
  const auto of = [&](std::string_view gang) {
    return signature(*built, reason_subject(*built, end, built.gang(gang), true));
  };
  EXPECT_EQ(of("g"), of("h"));
  EXPECT_NE(of("g"), of("mixed"));
}

TEST(ReasonSignature, IsPlainOnlyForGangsOfEqualWaitingPods) {
  const test::Case built(kCluster);
  const AfterPlan end = after_plan(*built, {});
  const auto of = [&](std::string_view gang) { return plain_signature(*built, end, built.gang(gang)); };
  EXPECT_TRUE(of("g"));
  EXPECT_EQ(of("g"), of("h"));
  EXPECT_FALSE(of("mixed"));
  EXPECT_FALSE(of("runs"));
}

TEST(ReasonSubject, TakesTheSmallestSubgroupsOfVeryManyOfWhichSomeAreEnough) {
  constexpr int kGroups = 120, kWanted = 100;
  std::string groups, pods;
  for (int i = 0; i < kGroups; ++i) {
    const std::string number = std::to_string(i), comma = i == 0 ? "" : ",";
    groups += comma + R"({"name":"s)" + number + R"(","minMember":1})";
    pods += comma + R"({"name":"p)" + number + R"(","gang":"g","subgroup":"s)" + number + R"(","gpu":{"count":)" +
            std::to_string(1 + i % 2) + "}}";
  }
  const test::Case built(R"("nodes":[{"name":"a","gpus":{"count":4}}],"gangs":[{"name":"g","minSubgroups":)" +
                         std::to_string(kWanted) + R"(,"subgroups":[)" + groups + R"(]}],"pods":[)" + pods + "]");
  const ReasonSubject subject = reason_subject(*built, after_plan(*built, {}), built.gang("g"), true);
  EXPECT_TRUE(subject.need.possible);
  EXPECT_EQ(subject.need.pods, kWanted);
  ASSERT_EQ(subject.need.items.size(), 2U);
  EXPECT_EQ(subject.need.items[1].pods.size(), 60U) << "all that ask for one GPU";
}

TEST(ReasonSubject, NeedsAllOfVeryManySubgroups) {
  constexpr int kGroups = 3'000;
  std::string groups, pods;
  for (int i = 0; i < kGroups; ++i) {
    const std::string number = std::to_string(i), comma = i == 0 ? "" : ",";
    groups += comma + R"({"name":"s)" + number + R"(","minMember":1})";
    pods += comma + R"({"name":"p)" + number + R"(","gang":"g","subgroup":"s)" + number + R"("})";
  }
  const test::Case built(R"("nodes":[{"name":"a"}],"gangs":[{"name":"g","subgroups":[)" + groups + R"(]}],"pods":[)" +
                         pods + "]");
  EXPECT_EQ(reason_subject(*built, after_plan(*built, {}), built.gang("g"), true).need.pods, kGroups);
}

}  // namespace
}  // namespace muster::explain
