#include "heuristics/greedy/pass_admission.h"

#include <gtest/gtest.h>

#include "test/heuristics/greedy/greedy_case.h"

namespace muster::greedy {
namespace {

constexpr WorkPair kOneGpu{1000, 0}, kTwoGpus{2000, 0};

// One leaf queue with a share of two GPUs and a quota of three.
class PassAdmissionTest : public testing::Test {
 protected:
  PassAdmissionTest() {
    cluster_.shares.share_work[leaf_] = {2000, 0};
    cluster_.shares.quota_work[leaf_] = {3000, 0};
  }

  GreedyCase cluster_{R"("nodes":[{"name":"n","gpus":{"count":8}}],"queues":[{"name":"q"}],
                         "pods":[{"name":"a","queue":"q","gpu":{"count":1}}])"};
  QueueIndex leaf_ = cluster_.problem.queue("q");
  PassAdmission admission_{*cluster_.problem, cluster_.shares};
};

TEST_F(PassAdmissionTest, AdmitsUnitsWholeWithinTheShare) {
  admission_.begin(Pass::kWithinShare);
  admission_.count(leaf_, kOneGpu);
  EXPECT_TRUE(admission_.admits(leaf_, kOneGpu));
  EXPECT_FALSE(admission_.admits(leaf_, kTwoGpus));
}

TEST_F(PassAdmissionTest, AdmitsUnitsPartlyWithinTheQuota) {
  admission_.begin(Pass::kWithinQuota);
  admission_.count(leaf_, kTwoGpus);
  EXPECT_TRUE(admission_.admits(leaf_, kTwoGpus)) << "one GPU is left";
  admission_.count(leaf_, kTwoGpus);
  EXPECT_FALSE(admission_.admits(leaf_, kOneGpu));
}

TEST_F(PassAdmissionTest, AdmitsAllOfTheRest) {
  admission_.begin(Pass::kRest);
  admission_.count(leaf_, {100'000, 0});
  EXPECT_TRUE(admission_.admits(leaf_, kTwoGpus));
}

TEST_F(PassAdmissionTest, DoesNotCountUnitsBeyondTheShare) {
  admission_.begin(Pass::kWithinShare);
  admission_.count(leaf_, {3000, 0});
  EXPECT_TRUE(admission_.admits(leaf_, kTwoGpus));
}

TEST_F(PassAdmissionTest, CountsASumOnlyIfItLiesWithinTheShare) {
  admission_.begin(Pass::kWithinShare);
  EXPECT_TRUE(admission_.count_sum(leaf_, kOneGpu));
  EXPECT_FALSE(admission_.count_sum(leaf_, kTwoGpus));
  EXPECT_TRUE(admission_.admits(leaf_, kOneGpu));
  admission_.begin(Pass::kWithinQuota);
  EXPECT_TRUE(admission_.count_sum(leaf_, {9000, 0})) << "of a quota there may be more";
}

TEST_F(PassAdmissionTest, ForgetsItsCountsOnceCleared) {
  admission_.begin(Pass::kWithinShare);
  admission_.count(leaf_, kTwoGpus);
  EXPECT_DOUBLE_EQ(admission_.fullness(leaf_), 1.0);
  admission_.clear();
  EXPECT_DOUBLE_EQ(admission_.fullness(leaf_), 0.0);
}

}  // namespace
}  // namespace muster::greedy
