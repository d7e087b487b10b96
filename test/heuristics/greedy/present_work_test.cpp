#include "heuristics/greedy/present_work.h"

#include <gtest/gtest.h>

#include "test/heuristics/greedy/greedy_case.h"

namespace muster::greedy {
namespace {

// A GPU runs at priority 5 and one at priority 0; a gang of two GPUs waits, and an elastic one runs a surplus pod.
class PresentWorkTest : public testing::Test {
 protected:
  PresentWorkTest() { admission_.begin(Pass::kWithinQuota); }

  // What is counted so far, in GPUs: the quota is ten.
  double counted() {
    for (double gpus = 0; gpus < 10; ++gpus) {
      if (!admission_.admits(leaf_, {1000, 0})) return 10 - gpus;
      admission_.count(leaf_, {1000, 0});
    }
    return 0;
  }

  GreedyCase cluster_{
      R"("nodes":[{"name":"n","gpus":{"count":8}}],"queues":[{"name":"q"}],"gangs":[{"name":"g","queue":"q"}],
      "pods":[{"name":"high","queue":"q","priority":5,"gpu":{"count":1},"node":"n"},
              {"name":"low","queue":"q","gpu":{"count":1},"node":"n"},
              {"name":"g0","gang":"g","gpu":{"count":1}},{"name":"g1","gang":"g","gpu":{"count":1}}])"};
  QueueIndex leaf_ = cluster_.problem.queue("q");
  const WorkPair ten_ = cluster_.shares.quota_work[leaf_] = {10'000, 0};
  PassAdmission admission_{*cluster_.problem, cluster_.shares};
};

TEST_F(PresentWorkTest, IsCountedDownToAPriorityAndOnce) {
  PresentSums sums(cluster_.initial, cluster_.state);
  sums.begin_pass();
  EXPECT_TRUE(sums.count(0, admission_));
  EXPECT_TRUE(sums.count(0, admission_));
  EXPECT_EQ(counted(), 1);
}

TEST_F(PresentWorkTest, OfAllPrioritiesFromTheLastOneIsCounted) {
  PresentSums sums(cluster_.initial, cluster_.state);
  sums.begin_pass();
  EXPECT_TRUE(sums.count(1, admission_));
  EXPECT_EQ(counted(), 2);
}

TEST_F(PresentWorkTest, FollowsPodsThatComeAndLeave) {
  PresentSums sums(cluster_.initial, cluster_.state);
  cluster_.state.take(cluster_.problem.pod("low"));
  cluster_.state.put(cluster_.problem.pod("g0"), cluster_.problem.node("n"), {2});
  EXPECT_TRUE(sums.count(1, admission_));
  EXPECT_EQ(counted(), 1) << "half of a gang does not count";
  cluster_.state.put(cluster_.problem.pod("g1"), cluster_.problem.node("n"), {3});
  admission_.clear();
  sums.begin_pass();
  EXPECT_TRUE(sums.count(1, admission_));
  EXPECT_EQ(counted(), 3);
}

TEST_F(PresentWorkTest, TakesTheMinimumOfAGangAsToldAndDoesNotCountItTwice) {
  PresentSums sums(cluster_.initial, cluster_.state);
  cluster_.state.put(cluster_.problem.pod("g0"), cluster_.problem.node("n"), {2});
  cluster_.state.put(cluster_.problem.pod("g1"), cluster_.problem.node("n"), {3});
  sums.note_minimum(cluster_.waiting("g"));
  EXPECT_TRUE(sums.count(1, admission_));
  EXPECT_EQ(counted(), 4);
}

TEST_F(PresentWorkTest, BeyondTheShareDependsOnTheOrder) {
  cluster_.shares.share_work[leaf_] = {1000, 0};
  admission_.begin(Pass::kWithinShare);
  PresentSums sums(cluster_.initial, cluster_.state);
  EXPECT_TRUE(sums.count(0, admission_));
  EXPECT_FALSE(sums.count(1, admission_));
}

TEST_F(PresentWorkTest, IsCountedUnitByUnitForGangsOfTheSection) {
  cluster_.state.put(cluster_.problem.pod("g0"), cluster_.problem.node("n"), {2});
  cluster_.state.put(cluster_.problem.pod("g1"), cluster_.problem.node("n"), {3});
  const WaitingGangs& gangs = cluster_.initial.waiting_gangs();
  const GangSequence sequence(gangs, gang_sort_keys(cluster_.state, gangs, {}, cluster_.none_excluded),
                              cluster_.none_excluded);
  count_present_units(cluster_.state, sequence, sequence.sections().front(), admission_);
  EXPECT_EQ(counted(), 2) << "only g is in the sequence";
}

}  // namespace
}  // namespace muster::greedy
