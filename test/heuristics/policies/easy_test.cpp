// EASY backfilling: what starts beside the gangs that wait for their reservations.
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "heuristics/policies/baselines.h"
#include "test/support/plan.h"

namespace muster::policies {
namespace {

using test::Case;
using Names = std::set<std::string>;

// The time of all snapshots here is 1,000,000 s. Runs since 100 s, and for so many more seconds from now on.
std::string ends_in(int seconds) { return R"("started":999900,"expectedDuration":)" + std::to_string(100 + seconds); }
// Waits since an instant, and would take so long.
std::string waits(int created, int seconds) {
  return R"("created":)" + std::to_string(created) + R"(,"expectedDuration":)" + std::to_string(seconds);
}

constexpr const char* kNoRule = R"("overTime":{"reserveAfter":"never"})";

// Names of the pods that EASY places, once the plan has been checked.
Names easy(const test::Cluster& text) {
  const Case cluster(test::Cluster(text).policy(kNoRule));
  const Plan plan = solve_easy(*cluster, cluster.shares());
  test::expect_legal(cluster, plan);
  EXPECT_TRUE(plan.evictions.empty());
  return test::placed_pods(cluster, plan);
}

// One GPU of four is free for 1,000 s more.
test::Cluster nearly_full() { return test::Cluster().node("n0", 4).running("r", "n0", 3, ends_in(1000)); }

TEST(Easy, StartsBeforeTheHeadWhatEndsInTime) {
  const auto text = [](int first, int second) {
    return nearly_full().pod("head", 4, waits(1, 50)).pod("a", 1, waits(2, first)).pod("b", 1, waits(3, second));
  };
  EXPECT_EQ(easy(text(1000, 10)), Names{"a"});
  EXPECT_EQ(easy(text(1001, 1000)), Names{"b"});
  EXPECT_EQ(easy(text(1001, 1001)), Names{});
}

TEST(Easy, StartsBeforeTheHeadWhatLeavesItsDevices) {
  const auto text = [](int head) {
    return test::Cluster()
        .node("n0", 4)
        .running("r", "n0", 2, ends_in(1000))
        .pod("head", head, waits(1, 50))
        .pod("a", 1, waits(2, 9000))
        .pod("b", 1, waits(3, 9000));
  };
  EXPECT_EQ(easy(text(3)), Names{"a"});
  EXPECT_EQ(easy(text(4)), Names{});
  EXPECT_EQ(easy(text(2)), (Names{"head"}));
}

TEST(Easy, TheHeadStartsAtTheFirstEndAtWhichItFits) {
  const auto text = [](int seconds) {
    return test::Cluster()
        .node("n0", 4)
        .running("early", "n0", 1, ends_in(500))
        .running("late", "n0", 2, ends_in(1000))
        .pod("head", 2, waits(1, 50))
        .pod("next", 1, waits(2, seconds));
  };
  EXPECT_EQ(easy(text(500)), Names{"next"});
  EXPECT_EQ(easy(text(600)), Names{});
}

TEST(Easy, OthersGoToNodesThatAreNotReserved) {
  const Case cluster(test::Cluster()
                         .node("n0", 4)
                         .node("n1", 3)
                         .running("r", "n0", 3, ends_in(1000))
                         .running("s", "n1", 1, ends_in(100000))
                         .pod("head", 4, waits(1, 50))
                         .pod("long", 1, waits(2, 9000))
                         .pod("short", 1, waits(3, 900))
                         .policy(kNoRule));
  const Plan plan = solve_easy(*cluster, cluster.shares());
  test::expect_legal(cluster, plan);
  EXPECT_EQ(test::nodes_of(cluster, plan, {"head", "long", "short"}), "- n1 n0") << "n0 is the better fit of both";
}

TEST(Easy, ReservesForEachPodOfAGang) {
  test::Cluster text;
  text.node("n0", 2).node("n1", 2).node("n2", 2);
  text.running("r", "n0", 1, ends_in(1000)).running("s", "n1", 1, ends_in(2000)).running("t", "n2", 1, ends_in(3000));
  text.gang("head", waits(1, 50)).pods("h", 2, 2, R"("gang":"head")").pod("next", 1, waits(2, 2500));
  const Case cluster(text.policy(kNoRule));
  const Plan plan = solve_easy(*cluster, cluster.shares());
  EXPECT_EQ(test::nodes_of(cluster, plan, {"h-0", "h-1", "next"}), "- - n2") << "the third node is not needed";
}

// A queue with 6 GPUs, of which 2 are left; 3 come back.
test::Cluster quota_of_six() {
  const std::string strict = R"("queue":"a","preemptible":false,)";
  return test::Cluster()
      .node("n0", 16)
      .queue("a", R"("gpu":{"quota":6})")
      .running("r", "n0", 3, strict + ends_in(1000))
      .running("s", "n0", 1, strict + ends_in(100000))
      .pod("head", 4, strict + waits(1, 50))
      .pod("long0", 1, strict + waits(2, 9000))
      .pod("long1", 1, strict + waits(3, 9000));
}

TEST(Easy, KeepsRoomInTheQuotaOfTheHead) {
  const std::string strict = R"("queue":"a","preemptible":false,)";
  EXPECT_EQ(easy(quota_of_six()), Names{"long0"});
  EXPECT_EQ(easy(quota_of_six().pod("short", 1, strict + waits(4, 900))), (Names{"long0", "short"}));
  EXPECT_EQ(easy(quota_of_six().pod("guest", 2, R"("queue":"a",)" + waits(4, 9000))), (Names{"long0", "guest"}))
      << "preemptible gangs need none of it";
}

TEST(Easy, AQueueKeepsItsDevicesFromOthers) {
  const auto text = [](int seconds) {
    return nearly_full()
        .queue("a")
        .queue("b")
        .pod("head", 4, R"("queue":"a",)" + waits(1, 50))
        .pod("other", 1, R"("queue":"b",)" + waits(2, seconds));
  };
  EXPECT_EQ(easy(text(900)), Names{"other"});
  EXPECT_EQ(easy(text(1100)), Names{});
}

TEST(Easy, EachQueueHasAHeadOfItsOwn) {
  const std::string b = R"("queue":"b",)";
  const Case cluster(test::Cluster()
                         .node("n0", 4)
                         .node("n1", 4)
                         .queue("a")
                         .queue("b")
                         .running("r", "n0", 3, ends_in(1000))
                         .running("s", "n1", 3, ends_in(2000))
                         .pod("head", 4, R"("queue":"a",)" + waits(1, 50))
                         .pod("head-b", 4, b + waits(2, 50))
                         .pod("p", 1, b + waits(3, 1500))
                         .pod("q", 1, b + waits(4, 2500))
                         .policy(kNoRule));
  const Plan plan = solve_easy(*cluster, cluster.shares());
  EXPECT_EQ(test::nodes_of(cluster, plan, {"head", "head-b", "p", "q"}), "- - n1 -");
}

TEST(Easy, AGangThatFitsAtNoEndIsNoHead) {
  EXPECT_EQ(easy(nearly_full().pod("huge", 5, waits(1, 50)).pod("next", 1, waits(2, 9000))), Names{"next"});
  EXPECT_EQ(
      easy(nearly_full().pod("huge", 5, waits(1, 50)).pod("head", 4, waits(2, 50)).pod("next", 1, waits(3, 9000))),
      Names{})
      << "the next one is";
}

TEST(Easy, IsBackfillingWhereNoDurationsAreKnown) {
  const std::string created = R"("created":)";
  EXPECT_EQ(easy(test::Cluster()
                     .node("n0", 4)
                     .running("r", "n0", 3)
                     .pod("head", 4, created + "1")
                     .pod("next", 1, created + "2")),
            Names{"next"});
}

TEST(Easy, TakesGangsByAgeWhateverTheirPriority) {
  EXPECT_EQ(easy(test::Cluster()
                     .node("n0", 2)
                     .pod("urgent", 2, R"("priority":50,)" + waits(2, 50))
                     .pod("first", 1, waits(1, 50))),
            Names{"first"});
}

Names shortest_first(const test::Cluster& text) {
  const Case cluster(test::Cluster(text).policy(kNoRule));
  const Plan plan = solve_shortest_first(*cluster, cluster.shares());
  test::expect_legal(cluster, plan);
  return test::placed_pods(cluster, plan);
}

TEST(ShortestFirst, TakesTheLeastAreaFirst) {
  const test::Cluster text = test::Cluster()
                                 .node("n0", 4)
                                 .pod("old", 2, waits(1, 400))
                                 .pod("short", 3, waits(2, 200))
                                 .pod("thin", 1, waits(3, 700));
  EXPECT_EQ(shortest_first(text), (Names{"short", "thin"})) << "600 and 700 GPU seconds, before 800";
}

TEST(ShortestFirst, TakesGangsThatAreNotPreemptibleBeforeOthers) {
  EXPECT_EQ(shortest_first(test::Cluster()
                               .node("n0", 2)
                               .pod("short", 1, waits(1, 60))
                               .pod("strict", 2, R"("preemptible":false,)" + waits(2, 9000))),
            Names{"strict"});
}

TEST(ShortestFirst, PassesOverWhatDoesNotFit) {
  EXPECT_EQ(shortest_first(nearly_full().pod("short", 2, waits(1, 60)).pod("long", 1, waits(2, 9000))), Names{"long"});
}

}  // namespace
}  // namespace muster::policies
