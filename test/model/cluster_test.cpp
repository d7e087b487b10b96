#include "test/support/cluster.h"

#include <string>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster {
namespace {

TEST(Cluster, IsReadAsTheObjectsThatWerePutIntoIt) {
  const test::Case problem(test::Cluster()
                               .node("n0", 4, R"("resources":{"cpu":8})")
                               .node("n1", 2)
                               .queue("a")
                               .gang("train", R"("queue":"a")")
                               .pods("train", 2, 1, R"("gang":"train")")
                               .pod("alone", 2)
                               .with(R"("policy":{"actions":["place"]})"));
  EXPECT_EQ(problem->nodes.size(), 2U);
  EXPECT_EQ(problem->pods.size(), 3U);
  EXPECT_EQ(problem->gangs[problem.gang("train")].pods.size(), 2U);
  EXPECT_EQ(problem->gangs[problem.gang("train")].queue, problem.queue("a"));
  EXPECT_FALSE(problem.snapshot().policy.actions.preempt);
}

TEST(Cluster, HasNoListsOfWhatWasNotGiven) {
  EXPECT_EQ(test::Cluster().node("n", 1).at(5).line(),
            R"({"format":"muster/v1","time":5,"nodes":[{"name":"n","gpus":{"count":1}}]})");
}

}  // namespace
}  // namespace muster
