#include "model/objective/fair_share.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster {
namespace {

// A queue of one GPU quota, and what its pods ask for.
struct QueueShape {
  std::string name;
  std::string gpu;        // "quota", "limit", "weight" of gpu, as JSON members
  std::string requested;  // GPUs of its pending pod, a decimal; empty: no pod
  int priority = 100;
  std::string parent = {};
};

// Fair shares of GPUs in millionths, by queue, in a cluster with this many GPUs. One node, so that nothing depends on
// fit.
std::vector<Amount> gpu_shares(int gpus, const std::vector<QueueShape>& shapes, const std::string& policy = {}) {
  test::Cluster cluster;
  if (!policy.empty()) cluster.policy(policy);
  cluster.node("n", gpus);
  for (const QueueShape& one : shapes) {
    const std::string parent = one.parent.empty() ? "" : R"("parent":")" + one.parent + "\",";
    cluster.queue(one.name, parent + R"("priority":)" + std::to_string(one.priority) + R"(,"gpu":{)" + one.gpu + "}");
    const std::size_t point = one.requested.find('.');
    const std::string whole = one.requested.substr(0, point), in_queue = R"("queue":")" + one.name + "\"";
    if (!whole.empty() && whole != "0") cluster.pod(one.name + "-whole", std::stoi(whole), in_queue);
    if (point != std::string::npos)
      cluster.pod(one.name + "-part", in_queue + R"(,"gpu":{"fraction":0)" + one.requested.substr(point) + "}");
  }
  const test::Case built(cluster);
  std::vector<Amount> result;
  for (const QueueAmounts& amounts : built.shares().share) result.push_back(amounts[kQueueGpu]);
  return result;
}

std::vector<Amount> whole(const std::vector<Amount>& gpus) {
  std::vector<Amount> result;
  for (const Amount gpu : gpus) result.push_back(gpu * 1'000'000);
  return result;
}

const std::string kNoQuota = R"("quota":0)";

TEST(FairShare, EachQueueFirstGetsItsQuotaButNoMoreThanItRequests) {
  EXPECT_EQ(gpu_shares(10, {{"a", R"("quota":4,"weight":0)", "9"},
                            {"b", R"("quota":4,"weight":0)", "3"},
                            {"c", R"("quota":4,"weight":0)", ""}}),
            whole({4, 3, 0}));
}

TEST(FairShare, WhatIsLeftGoesByWeightInWholeGpus) {
  // Offers of 10: 2.5 and 7.5, so 2 and 7; the parts cut off are equal, and the one left over goes to the queue named
  // first.
  EXPECT_EQ(gpu_shares(10, {{"a", R"("quota":0,"weight":1)", "10"}, {"b", R"("quota":0,"weight":3)", "10"}}),
            whole({3, 7}));
}

TEST(FairShare, WhatRoundingLeavesGoesToTheLargestPartCutOff) {
  // Offers of 10 by 3, 2, 2: 4.29, 2.86, 2.86. Two are left over.
  EXPECT_EQ(gpu_shares(10, {{"a", R"("quota":0,"weight":3)", "10"},
                            {"b", R"("quota":0,"weight":2)", "10"},
                            {"c", R"("quota":0,"weight":2)", "10"}}),
            whole({4, 3, 3}));
  // By 2, 1, 1: 5, 2.5, 2.5.
  EXPECT_EQ(gpu_shares(10, {{"a", R"("quota":0,"weight":2)", "10"}, {"b", kNoQuota, "10"}, {"c", kNoQuota, "10"}}),
            whole({5, 3, 2}));
}

TEST(FairShare, QueueThatNeedsLessThanItsOfferLeavesTheRestForAnotherRound) {
  // Offers of 12: 4, 4, 4; a takes 1, and 3 more are offered to b and c as 1.5 and 1.5.
  EXPECT_EQ(gpu_shares(12, {{"a", kNoQuota, "1"}, {"b", kNoQuota, "12"}, {"c", kNoQuota, "12"}}), whole({1, 6, 5}));
}

TEST(FairShare, QueueOfWeightZeroGetsNothingBeyondItsQuota) {
  EXPECT_EQ(gpu_shares(10, {{"a", R"("quota":2,"weight":0)", "10"}, {"b", R"("quota":2)", "5"}}), whole({2, 5}));
}

TEST(FairShare, FractionalWeightsAreExact) {
  EXPECT_EQ(gpu_shares(10, {{"a", R"("quota":0,"weight":0.1)", "10"}, {"b", R"("quota":0,"weight":0.4)", "10"}}),
            whole({2, 8}));
}

TEST(FairShare, UnlimitedQuotaIsTheTotalAndQuotasAreNeverScaledDown) {
  EXPECT_EQ(gpu_shares(10, {{"a", "", "10"}, {"b", "", "7"}, {"c", R"("quota":4)", "5"}}), whole({10, 7, 4}));
}

TEST(FairShare, LimitBoundsTheShareEvenBelowTheQuota) {
  EXPECT_EQ(gpu_shares(10, {{"a", R"("quota":5,"limit":3)", "10"}, {"b", R"("quota":2)", "10"}}), whole({3, 7}));
}

TEST(FairShare, HigherPriorityTakesOfWhatIsLeftFirst) {
  // Quotas 2 and 2; of the 6 left, a (named last) takes the 3 it lacks, and b the rest.
  EXPECT_EQ(gpu_shares(10, {{"b", R"("quota":2)", "10", 100}, {"a", R"("quota":2)", "5", 200}}), whole({5, 5}));
}

TEST(FairShare, WhatRoundingLeavesIsHandedOutOverAllPrioritiesAtTheEnd) {
  // Of 3, the higher two are offered 1.5 each: 1 and 1. The one left is offered to c as a whole before any is handed
  // out.
  EXPECT_EQ(gpu_shares(3, {{"a", kNoQuota, "3", 200}, {"b", kNoQuota, "3", 200}, {"c", kNoQuota, "3", 100}}),
            whole({1, 1, 1}));
}

TEST(FairShare, RequestsOfFractionsLeaveFractions) {
  // Offers of 4: 2 and 2. a takes the 1.5 it lacks; half a GPU is no whole unit, so it comes at the end.
  EXPECT_EQ(gpu_shares(4, {{"a", kNoQuota, "1.5"}, {"b", kNoQuota, "4"}}), (std::vector<Amount>{1'500'000, 2'500'000}));
}

TEST(FairShare, ChildrenDivideTheirParentsShareOnFourLevels) {
  // 16 at the top: r gets 12 (quota) and s 4. Under r: x 8, y 4. Under x: m and n halve it. Under m: all for the one
  // leaf that asks.
  EXPECT_EQ(gpu_shares(16, {{"r", R"("quota":12)", ""},
                            {"s", R"("quota":4)", "9"},
                            {"x", R"("quota":8)", "", 100, "r"},
                            {"y", R"("quota":4)", "9", 100, "r"},
                            {"m", kNoQuota, "", 100, "x"},
                            {"n", kNoQuota, "9", 100, "x"},
                            {"l", kNoQuota, "9", 100, "m"},
                            {"k", kNoQuota, "", 100, "m"}}),
            whole({12, 4, 8, 4, 4, 4, 4, 0}));
}

TEST(FairShare, ChildrensQuotasMayExceedTheirParentsShare) {
  EXPECT_EQ(gpu_shares(10, {{"r", R"("quota":4,"limit":4)", ""},
                            {"a", R"("quota":4)", "9", 100, "r"},
                            {"b", R"("quota":3)", "9", 100, "r"}}),
            whole({4, 4, 3}));
}

TEST(FairShare, WhatRunsCountsAsRequestedAndWhatIsReleasingOrGatedDoesNot) {
  const test::Case built(
      R"("nodes":[{"name":"n","gpus":{"count":8,"memory":"1000Mi"}},{"name":"large",
      "gpus":{"count":1,"memory":"2000Mi"}}],"queues":[{"name":"a"}],"pods":[
      {"name":"1","queue":"a","node":"n","gpu":{"count":1}},{"name":"2","queue":"a",
      "node":"n","status":"releasing","gpu":{"count":1}},
      {"name":"3","queue":"a","status":"gated","gpu":{"count":1}},{"name":"4","queue":"a","gpu":{"memory":"250Mi"}},
      {"name":"5","queue":"a","node":"large","gpu":{"memory":"500Mi"}}])");
  EXPECT_EQ(compute_fair_shares(*built).requestable[QueueIndex(0)][kQueueGpu], 1'500'000);
}

TEST(PastUsage, IsTakenOffTheWeights) {
  // Half of the GPUs: 1 - 1/2 x 1/2 x 2 is half a weight. Offers of 3.33 and 6.67.
  const std::vector<QueueShape> queues{{"a", R"("quota":0,"usage":5)", "10"}, {"b", kNoQuota, "10"}};
  EXPECT_EQ(gpu_shares(10, queues), whole({3, 7}));
  // 1 - 3/4 x 1/2 x 2 is a quarter.
  EXPECT_EQ(gpu_shares(10, queues, R"("overTime":{"usageFactor":3})"), whole({2, 8}));
  EXPECT_EQ(gpu_shares(10, queues, R"("overTime":{"usageFactor":0})"), whole({5, 5}));
}

TEST(PastUsage, QueueThatHasUsedAllGetsWhatTheOthersLeave) {
  EXPECT_EQ(gpu_shares(10, {{"a", R"("quota":0,"usage":10)", "10"}, {"b", kNoQuota, "10"}}), whole({0, 10}));
  EXPECT_EQ(gpu_shares(10, {{"a", R"("quota":0,"usage":10)", "10"}, {"b", kNoQuota, "3"}}), whole({7, 3}));
  EXPECT_EQ(gpu_shares(10, {{"a", R"("quota":0,"usage":10)", "10"}, {"b", kNoQuota, ""}}), whole({10, 0}));
}

TEST(PastUsage, LeavesQuotasAndPrioritiesAsTheyAre) {
  EXPECT_EQ(gpu_shares(10, {{"a", R"("quota":6,"usage":10)", "10"}, {"b", kNoQuota, "10"}}), whole({6, 4}));
  EXPECT_EQ(gpu_shares(10, {{"a", R"("quota":0,"usage":10)", "8", 200}, {"b", kNoQuota, "10"}}), whole({8, 2}));
}

TEST(PastUsage, ByThePartsOfTheWeightsChangesNothing) {
  EXPECT_EQ(gpu_shares(12, {{"a", R"("quota":0,"weight":2,"usage":4)", "12"}, {"b", R"("quota":0,"usage":2)", "12"}}),
            whole({8, 4}));
  EXPECT_EQ(gpu_shares(12, {{"a", R"("quota":0,"usage":0)", "12"}, {"b", R"("quota":0,"usage":0)", "12"}}),
            whole({6, 6}));
}

TEST(PastUsage, QueuesThatAskForNothingTakeNoWeightFromTheOthers) {
  std::vector<QueueShape> queues{{"a", R"("quota":0,"usage":6)", "12"}, {"b", R"("quota":0,"usage":6)", "12"}};
  for (int i = 0; i < 8; ++i) queues.push_back({"idle" + std::to_string(i), kNoQuota, ""});
  EXPECT_EQ(gpu_shares(12, queues), whole({6, 6, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(PastUsage, OfMoreThanThereIsCountsByItsSum) {
  // Of a larger cluster of the past: three quarters and a quarter, so 1/4 and 3/4 of a weight.
  EXPECT_EQ(gpu_shares(12, {{"a", R"("quota":0,"usage":30)", "12"}, {"b", R"("quota":0,"usage":10)", "12"}}),
            whole({3, 9}));
}

TEST(PastUsage, OfChildrenIsAPartOfTheirParentsShare) {
  // r and s have 8 each. Of those of r, c has used half.
  EXPECT_EQ(gpu_shares(16, {{"r", R"("quota":8)", ""},
                            {"s", R"("quota":8)", "9"},
                            {"c", R"("quota":0,"usage":4)", "9", 100, "r"},
                            {"d", kNoQuota, "9", 100, "r"}}),
            whole({8, 8, 3, 5}));
}

TEST(PastUsage, OfOneResourceLeavesTheOthersAlone) {
  const test::Case built(R"("nodes":[{"name":"n","resources":{"cpu":4,"memory":100},"gpus":{"count":4}}],"queues":[
      {"name":"a","gpu":{"quota":0},"cpu":{"quota":0,"usage":4},"memory":{"quota":0,"usage":50}},
      {"name":"b","gpu":{"quota":0},"cpu":{"quota":0},"memory":{"quota":0}}],"pods":[
      {"name":"p","queue":"a","resources":{"cpu":4,"memory":100},"gpu":{"count":4}},
      {"name":"q","queue":"b","resources":{"cpu":4,"memory":100},"gpu":{"count":4}}])");
  const FairShares shares = compute_fair_shares(*built);
  EXPECT_EQ(shares.share[QueueIndex(0)], (QueueAmounts{2'000'000, 0, 33}));
  EXPECT_EQ(shares.share[QueueIndex(1)], (QueueAmounts{2'000'000, 4'000, 67}));
}

TEST(PastUsage, ExtremesGiveOutAllThatRemains) {
  for (const char* factor : {"0.0000001", "1", "1000000", "1e300"}) {
    for (const char* weight : {"0.000001", "1", "1e9", "1e300"}) {
      for (const char* usage : {"0.000001", "10", "9000000000000"}) {
        const std::string queue = std::string(R"("quota":0,"weight":)") + weight + R"(,"usage":)";
        const std::vector<Amount> shares =
            gpu_shares(10, {{"a", queue + usage, "10"}, {"b", queue + usage, "10"}, {"c", queue + "0", "10"}},
                       std::string(R"("overTime":{"usageFactor":)") + factor + "}");
        EXPECT_EQ(shares[0] + shares[1] + shares[2], 10'000'000) << factor << " " << weight << " " << usage;
        EXPECT_GE(shares[2] + 1'000'000, shares[0]) << factor << " " << weight << " " << usage;
        EXPECT_GE(shares[2] + 1'000'000, shares[1]) << factor << " " << weight << " " << usage;
      }
    }
  }
}

TEST(FairShare, CpuIsDividedInThousandthsAndMemoryInBytes) {
  const test::Case built(R"("nodes":[{"name":"n","resources":{"cpu":"1","memory":100}}],"queues":[
      {"name":"a","cpu":{"quota":0},"memory":{"quota":0}},{"name":"b","cpu":{"quota":0,
      "weight":2},"memory":{"quota":0,"weight":2}}],"pods":[
      {"name":"p","queue":"a","resources":{"cpu":1,"memory":100}},{"name":"q","queue":"b",
      "resources":{"cpu":1,"memory":100}}])");
  const FairShares shares = compute_fair_shares(*built);
  EXPECT_EQ(shares.share[QueueIndex(0)], (QueueAmounts{0, 333, 33}));
  EXPECT_EQ(shares.share[QueueIndex(1)], (QueueAmounts{0, 667, 67}));
}

TEST(FairShare, AsWorkAShareIsItsGpusAndTheLargerOfItsOtherParts) {
  const test::Case built(R"("nodes":[{"name":"n","resources":{"cpu":10,"memory":1000},"gpus":{"count":4}}],"queues":[
      {"name":"a","gpu":{"quota":1.5},"cpu":{"quota":3},"memory":{"quota":400}},{"name":"b"}],"pods":[
      {"name":"p","queue":"a","resources":{"cpu":2,"memory":100},"gpu":{"count":1}}])");
  const FairShares shares = compute_fair_shares(*built);
  EXPECT_EQ(shares.share_work[QueueIndex(0)], (std::array<Work, 2>{1000, 800}));  // a fifth of the cores, of 4 GPUs
  EXPECT_EQ(shares.quota_work[QueueIndex(0)], (std::array<Work, 2>{1500, 1600}));
  EXPECT_EQ(shares.quota_work[QueueIndex(1)], (std::array<Work, 2>{4000, 4000}));
}

// Queue `a` has a pod of priority 50 that runs on two GPUs; a pod of one GPU that waits has priority `waiting`.
bool is_beyond(int waiting, int share) {
  test::Cluster cluster;
  cluster.node("n", 8).queue("a", R"("gpu":{"quota":)" + std::to_string(share) + R"(,"weight":0})").queue("b");
  cluster.pod("other", 1, R"("queue":"b")");  // which might reclaim
  cluster.running("low", "n", 2, R"("queue":"a","priority":50)");
  cluster.pod("waits", 1, R"("queue":"a","priority":)" + std::to_string(waiting));
  const test::Case built(cluster);
  return built.shares().beyond[built->pods[PodIndex(1)].gang];
}

TEST(FairShare, PodsAreBeyondItNextToWhatWaitsWithAHigherPriority) {
  EXPECT_TRUE(is_beyond(100, 2));
  EXPECT_FALSE(is_beyond(100, 3));  // there is room for both
  EXPECT_FALSE(is_beyond(50, 2));   // what waits comes after what runs
  EXPECT_TRUE(is_beyond(50, 1));    // over the share already
}

}  // namespace
}  // namespace muster
