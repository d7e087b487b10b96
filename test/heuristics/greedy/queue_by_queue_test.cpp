#include <span>
#include <string>

#include <gtest/gtest.h>

#include "heuristics/greedy/pass_admission.h"
#include "test/heuristics/greedy/greedy_case.h"

namespace muster::greedy {
namespace {

// Two queues with two gangs each; every gang asks for one GPU.
class QueueByQueueTest : public testing::Test {
 protected:
  QueueByQueueTest() {
    for (const char* queue : {"a", "b"}) cluster_.shares.share_work[cluster_.problem.queue(queue)] = {4000, 0};
    admission_.begin(Pass::kWithinShare);
  }

  std::span<GangEntry> entries() { return sequence_.entries(sequence_.sections().front()); }
  GangEntry& entry(const std::string& name) {
    for (GangEntry& one : entries()) {
      if (one.gang == cluster_.problem.gang(name)) return one;
    }
    ADD_FAILURE() << name;
    return entries().front();
  }
  // Counts each gang that has its turn.
  std::string turns() {
    QueueByQueue turns(*cluster_.problem, admission_, failures_, entries());
    std::string names;
    while (!turns.is_empty()) {
      const GangEntry& next = turns.next();
      names += (names.empty() ? "" : " ") + cluster_.name_of(next.gang);
      admission_.count(next.queue, {1000, 0});
      turns.pop();
    }
    return names;
  }

  GreedyCase cluster_{R"("nodes":[{"name":"n","gpus":{"count":8}}],"queues":[{"name":"a"},{"name":"b"}],
      "pods":[{"name":"a0","queue":"a","created":1,"gpu":{"count":1}},
              {"name":"a1","queue":"a","created":2,"gpu":{"count":1}},
              {"name":"b0","queue":"b","created":3,"gpu":{"count":1}},
              {"name":"b1","queue":"b","created":4,"gpu":{"count":1}}])"};
  PassAdmission admission_{*cluster_.problem, cluster_.shares};
  GangSequence sequence_{cluster_.initial.waiting_gangs(),
                         gang_sort_keys(cluster_.state, cluster_.initial.waiting_gangs(), {}, cluster_.none_excluded),
                         cluster_.none_excluded};
  KnownFailures failures_{cluster_.initial.waiting_gangs().shapes()};
};

TEST_F(QueueByQueueTest, TakesTurnsBetweenQueuesThatAreEquallyFull) { EXPECT_EQ(turns(), "a0 b0 a1 b1"); }

TEST_F(QueueByQueueTest, LetsTheQueueThatIsFurthestBelowItsShareGoFirst) {
  admission_.count(cluster_.problem.queue("a"), {2000, 0});
  EXPECT_EQ(turns(), "b0 b1 a0 a1");
}

TEST_F(QueueByQueueTest, LeavesOutGangsThatAreKnownToFail) {
  failures_.note_no_room(entry("a0"));
  EXPECT_EQ(turns(), "b0 b1") << "a0 and a1 have one shape";
}

TEST_F(QueueByQueueTest, LooksAheadWithinTheQueue) {
  QueueByQueue turns(*cluster_.problem, admission_, failures_, entries());
  turns.next();
  ASSERT_NE(turns.ahead(1), nullptr);
  EXPECT_EQ(turns.ahead(1)->gang, cluster_.problem.gang("a1"));
  EXPECT_EQ(turns.ahead(2), nullptr);
}

}  // namespace
}  // namespace muster::greedy
