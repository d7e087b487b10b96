// Gangs that have their turn within quotas, and gangs that are kept back: docs/semantics.md, "Over time".
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster {
namespace {

constexpr Nanoseconds kHour = 3600 * kNanosecondsPerSecond;
constexpr std::int64_t kNow = 1'000'000;

// JSON members of what runs since so many hours, or has waited so long, and is expected to take so many in all.
std::string strict(std::string_view queue, double hours) {
  return R"("queue":")" + std::string(queue) + R"(","priority":125,"expectedDuration":)" + std::to_string(hours * 3600);
}
std::string since(std::string_view key, double hours) {
  return ",\"" + std::string(key) + "\":" + std::to_string(static_cast<double>(kNow) - hours * 3600);
}

// A queue with a quota of 8 GPUs, of which a job of 6 hours has held 4 for 2 hours; two nodes of 8.
test::Cluster half_full() {
  return test::Cluster()
      .node("a", 8)
      .node("b", 8)
      .queue("q", R"("gpu":{"quota":8})")
      .running("runs", "a", 4, strict("q", 6) + since("started", 2));
}
std::string waiting(double hours, double waited) { return strict("q", hours) + since("created", waited); }

std::string kept_back_for(const test::Case& cluster, std::string_view pod) {
  const Gang& gang = cluster->gangs[cluster->pods[cluster.pod(pod)].gang];
  return gang.times.kept_back_for.is_none() ? "" : std::string(cluster->gangs[gang.times.kept_back_for].name);
}
const GangTimes& times_of(const test::Case& cluster, std::string_view pod) {
  return cluster->gangs[cluster->pods[cluster.pod(pod)].gang].times;
}

TEST(Turns, WhatWouldHoldUpTheLargeGangAtTheHeadIsKeptBack) {
  const test::Case cluster(
      half_full().pod("head", 8, waiting(1, 30)).pod("short", 1, waiting(3, 0)).pod("long", 1, waiting(5, 0)));
  EXPECT_EQ(times_of(cluster, "runs").expected_end, kNow * kNanosecondsPerSecond + 4 * kHour);
  EXPECT_EQ(times_of(cluster, "head").expected_start, kNow * kNanosecondsPerSecond + 4 * kHour);
  EXPECT_EQ(kept_back_for(cluster, "long"), "head");
  EXPECT_EQ(kept_back_for(cluster, "short"), "") << "it ends before the head can start";
  EXPECT_EQ(kept_back_for(cluster, "head"), "");
  EXPECT_TRUE(times_of(cluster, "short").has_turn);
  EXPECT_FALSE(times_of(cluster, "long").has_turn);
}

TEST(Turns, WhatIsLeftOverOnceTheHeadHasStartedIsFree) {
  const test::Case cluster(test::Cluster()
                               .node("a", 8)
                               .node("b", 8)
                               .queue("q", R"("gpu":{"quota":10})")
                               .running("runs", "a", 4, strict("q", 6) + since("started", 2))
                               .pod("head", 8, waiting(1, 30))
                               .pod("first", 1, waiting(5, 2))
                               .pod("second", 1, waiting(5, 1))
                               .pod("third", 1, waiting(5, 0)));
  EXPECT_EQ(kept_back_for(cluster, "first"), "");
  EXPECT_EQ(kept_back_for(cluster, "second"), "");
  EXPECT_EQ(kept_back_for(cluster, "third"), "head") << "two GPUs are left over";
}

TEST(Turns, NothingIsKeptBackForWhatHasNotWaitedLongOrIsSmallOrComesLater) {
  const auto kept = [](const std::string& head, int gpus, std::string_view policy) {
    return kept_back_for(test::Case(half_full().policy(policy).pod("head", gpus, head).pod("long", 1, waiting(5, 0))),
                         "long");
  };
  EXPECT_EQ(kept(waiting(1, 30), 8, ""), "head");
  EXPECT_EQ(kept(waiting(1, 23), 8, ""), "") << "24 h unless the policy has it otherwise";
  EXPECT_EQ(kept(waiting(1, 23), 8, R"("overTime":{"reserveAfter":"22h"})"), "head");
  EXPECT_EQ(kept(waiting(1, 30), 8, R"("overTime":{"reserveAfter":"never"})"), "");
  EXPECT_EQ(kept(waiting(1, 30), 8, R"("overTime":{"order":"waited"})"), "");
  EXPECT_EQ(kept(waiting(1, 30), 8, R"("nonPreemptibleWithinQuota":false)"), "");
  EXPECT_EQ(kept(waiting(1, 30), 7, ""), "") << "less than a node of eight";
  EXPECT_EQ(kept(waiting(1000, 30), 8, ""), "") << "the other one is before it";
}

TEST(Turns, PreemptibleGangsAndOtherQueuesAreNotKeptBack) {
  const test::Case cluster(half_full()
                               .queue("other", R"("gpu":{"quota":8})")
                               .pod("head", 8, waiting(1, 30))
                               .pod("best", 1, R"("queue":"q","priority":50,"expectedDuration":18000)")
                               .pod("else", 1, strict("other", 5)));
  EXPECT_EQ(kept_back_for(cluster, "best"), "");
  EXPECT_EQ(kept_back_for(cluster, "else"), "");
}

TEST(Turns, GangsCountInTheNearestQueueWithAQuota) {
  const test::Case cluster(test::Cluster()
                               .node("a", 8)
                               .node("b", 8)
                               .queue("top", R"("gpu":{"quota":8})")
                               .queue("x", R"("parent":"top")")
                               .queue("y", R"("parent":"top")")
                               .running("runs", "a", 4, strict("x", 6) + since("started", 2))
                               .pod("head", 8, strict("y", 1) + since("created", 30))
                               .pod("long", 1, strict("x", 5)));
  EXPECT_EQ(kept_back_for(cluster, "long"), "head");
}

// The quota has room for the gang of 8, but both nodes are in use.
TEST(Turns, TheQuotaOfAGangThatWaitsForNodesIsKept) {
  const auto cluster = [](double hours) {
    return test::Case(test::Cluster()
                          .node("a", 8)
                          .node("b", 8)
                          .queue("q", R"("gpu":{"quota":8})")
                          .queue("else")
                          .running("u", "a", 1, strict("else", 6) + since("started", 2))
                          .running("v", "b", 1, strict("else", 9) + since("started", 2))
                          .pod("large", 8, waiting(1, 5))
                          .pod("small", 1, waiting(hours, 0)));
  };
  EXPECT_EQ(times_of(cluster(5), "large").expected_start, kNow * kNanosecondsPerSecond + 4 * kHour);
  EXPECT_TRUE(times_of(cluster(5), "large").has_turn);
  EXPECT_EQ(kept_back_for(cluster(5), "small"), "large");
  EXPECT_EQ(kept_back_for(cluster(3), "small"), "") << "it ends before the node is empty";
}

TEST(Turns, AGangThatWillNeverFindNodesHoldsUpNoOther) {
  const auto with_node = [](std::string_view more) {
    return test::Case(test::Cluster()
                          .node("a", 8)
                          .node("b", 8, more)
                          .queue("q", R"("gpu":{"quota":9})")
                          .queue("else")
                          .running("u", "a", 1, strict("else", 6) + since("started", 2))
                          .gang("large", waiting(1, 5))
                          .pods("large", 1, 8, R"("gang":"large","nodeSelector":{"k":"v"})")
                          .pod("small", 1, waiting(50, 0))
                          .pod("smaller", 1, waiting(60, 0)));
  };
  EXPECT_EQ(kept_back_for(with_node(R"("labels":{"k":"v"})"), "smaller"), "large") << "node b is empty";
  EXPECT_EQ(kept_back_for(with_node(R"("labels":{"k":"w"})"), "smaller"), "") << "no node lets it in";
}

// Of 4 GPUs that are left, `first` has 2 and `second` 2.
test::Cluster two_turns(std::string_view more) {
  return half_full()
      .pod("first", 2, waiting(1, 3) + std::string(more))
      .pod("second", 2, waiting(1, 2))
      .pod("third", 2, waiting(1, 1))
      .pod("fourth", 1, waiting(2, 1));
}

TEST(Turns, TheQuotaOfThoseThatHaveTheirTurnGoesToNoOther) {
  const test::Case cluster(two_turns(""));
  EXPECT_TRUE(times_of(cluster, "first").has_turn);
  EXPECT_TRUE(times_of(cluster, "second").has_turn);
  EXPECT_EQ(kept_back_for(cluster, "third"), "first");
  EXPECT_EQ(kept_back_for(cluster, "fourth"), "first");
  EXPECT_EQ(times_of(cluster, "first").expected_start, kNow * kNanosecondsPerSecond);
}

TEST(Turns, WhatWaitsForMoreThanDevicesKeepsNoQuota) {
  const auto kept = [](std::string_view more, std::string_view pod) {
    const test::Case cluster(two_turns(more));
    EXPECT_TRUE(times_of(cluster, "first").has_turn) << more;
    return kept_back_for(cluster, pod);
  };
  for (const char* more :
       {R"(,"nodeSelector":{"no":"node"})", R"(,"resources":{"cpu":1000})", R"(,"hostPorts":[{"port":80}])",
        R"(,"labels":{"a":"b"},"podAntiAffinity":[{"topologyKey":"k","labelSelector":{"matchLabels":{"a":"b"}}}])"}) {
    EXPECT_EQ(kept(more, "third"), "") << "two GPUs are left over, with" << more;
    EXPECT_EQ(kept(more, "fourth"), "second") << more;
  }
}

TEST(Turns, WhatALimitOrAnotherQuotaKeepsOutKeepsNoQuota) {
  const auto kept = [](std::string_view top, std::string_view leaf) {
    return kept_back_for(test::Case(test::Cluster()
                                        .node("a", 8, R"("resources":{"cpu":64})")
                                        .node("b", 8, R"("resources":{"cpu":64})")
                                        .queue("top", top)
                                        .queue("q", R"("parent":"top","gpu":{"quota":4})" + std::string(leaf))
                                        .queue("else", R"("parent":"top","gpu":{"quota":2})")
                                        .pod("first", 4, waiting(1, 3) + R"(,"resources":{"cpu":2})")
                                        .pod("next", 1, waiting(1, 1))
                                        .pod("other", 2, strict("else", 1))),
                         "next");
  };
  EXPECT_EQ(kept(R"("gpu":{"quota":6})", ""), "first");
  EXPECT_EQ(kept(R"("gpu":{"quota":5})", ""), "") << "the gangs of both leaves may not start together";
  EXPECT_EQ(kept(R"("gpu":{"quota":6,"limit":5})", ""), "");
  EXPECT_EQ(kept(R"("gpu":{"quota":6})", R"(,"cpu":{"quota":1})"), "");
  EXPECT_EQ(kept(R"("gpu":{"quota":6})", R"(,"cpu":{"limit":1})"), "");
  EXPECT_EQ(kept(R"("gpu":{"quota":6})", R"(,"cpu":{"limit":2})"), "first");
}

TEST(Turns, TheQuotaOfLowerPrioritiesIsNotKept) {
  const test::Case cluster(
      half_full()
          .pod("low", 4, waiting(1, 3))
          .pod("high", 3, R"("queue":"q","priority":130,"expectedDuration":3600,"nodeSelector":{"no":"node"})")
          .pod("next", 2, R"("queue":"q","priority":130,"expectedDuration":7200)"));
  EXPECT_TRUE(times_of(cluster, "high").has_turn);
  EXPECT_FALSE(times_of(cluster, "next").has_turn);
  EXPECT_EQ(kept_back_for(cluster, "next"), "");
}

TEST(Turns, ThoseWithATurnFillTheQuota) {
  const test::Case cluster(
      half_full().pod("three", 3, waiting(1, 3)).pod("two", 2, waiting(1, 2)).pod("also-two", 2, waiting(1, 1)));
  EXPECT_FALSE(times_of(cluster, "three").has_turn) << "two and two fill more";
  EXPECT_TRUE(times_of(cluster, "two").has_turn);
  EXPECT_TRUE(times_of(cluster, "also-two").has_turn);
}

TEST(Turns, WithoutDurationsGangsAreAsSeniorAsTheyHaveWaited) {
  const auto seniority = [](std::string_view policy, std::string_view more) {
    return times_of(test::Case(test::Cluster().node("a", 8).policy(policy).pod(
                        "p", 8, std::string(more) + since("created", 1))),
                    "p")
        .seniority;
  };
  EXPECT_EQ(seniority("", R"("priority":5)"), 3'600);
  EXPECT_EQ(seniority("", R"("expectedDuration":"1h")"), 8'000) << "4 x (1 h + 1 h) / 1 h";
  EXPECT_EQ(seniority(R"("expectedDurations":[])", R"("priority":5)"), 500) << "4 x 2 h / 16 h";
  EXPECT_EQ(seniority(R"("overTime":{"order":"waited"})", R"("expectedDuration":"1h")"), 3'600);
}

TEST(Turns, AnExpectedEndIsTakenAsItIsTold) {
  const auto end = [](const std::string& told) {
    const test::Case cluster(half_full().running("p", "b", 1, strict("q", 1) + since("started", 3) + told));
    return times_of(cluster, "p").expected_end - kNow * kNanosecondsPerSecond;
  };
  EXPECT_EQ(end(""), 3 * kHour / 2) << "it should have ended";
  EXPECT_EQ(end(R"(,"expectedEnd":)" + std::to_string(kNow + 7200)), 2 * kHour);
  EXPECT_EQ(end(R"(,"expectedEnd":5)"), 60 * kNanosecondsPerSecond);
}

// Of three nodes of 8, `a` is empty in four hours and `b` in seven; `large` has its turn for `a`, and `other` for `b`.
test::Cluster two_blocked() {
  return test::Cluster()
      .node("a", 8)
      .node("b", 8)
      .node("c", 4)
      .queue("q", R"("gpu":{"quota":16})")
      .queue("else")
      .running("u", "a", 1, strict("else", 6) + since("started", 2))
      .running("v", "b", 1, strict("else", 9) + since("started", 2))
      .pod("large", 8, waiting(10, 5))
      .pod("other", 8, waiting(20, 5))
      .pod("long", 2, R"("queue":"else","expectedDuration":18000)")
      .pod("short", 2, R"("queue":"else","expectedDuration":14400)")
      .pod("twin", 2, R"("queue":"else","expectedDuration":14400)")
      .pod("cpu", R"("queue":"else","expectedDuration":18000,"resources":{"cpu":1})");
}

bool may_start_on(const test::Case& cluster, std::string_view pod, std::string_view node) {
  const PodClass& pod_class = cluster->class_of(cluster.pod(pod));
  return pod_class.allowed[cluster->nodes[cluster.node(node)].node_class.value()];
}
std::string holder_of(const test::Case& cluster, std::string_view node) {
  const GangIndex gang = cluster->class_of(cluster.node(node)).held_for;
  return gang.is_none() ? "" : std::string(cluster->gangs[gang].name);
}

TEST(Holds, ANodeIsHeldForTheFirstGangThatWaitsForIt) {
  const test::Case cluster(two_blocked());
  EXPECT_EQ(holder_of(cluster, "a"), "large");
  EXPECT_EQ(holder_of(cluster, "b"), "") << "one hold, unless the policy has it otherwise";
  EXPECT_TRUE(may_start_on(cluster, "large", "a"));
  EXPECT_FALSE(may_start_on(cluster, "other", "a"));
  EXPECT_FALSE(may_start_on(cluster, "long", "a"));
  EXPECT_TRUE(may_start_on(cluster, "long", "c"));
  EXPECT_TRUE(may_start_on(cluster, "short", "a")) << "it ends when the node is empty";
  EXPECT_TRUE(may_start_on(cluster, "cpu", "a")) << "it asks for no GPUs";
  EXPECT_EQ(cluster->pods[cluster.pod("short")].pod_class, cluster->pods[cluster.pod("twin")].pod_class);
  EXPECT_NE(cluster->pods[cluster.pod("short")].pod_class, cluster->pods[cluster.pod("long")].pod_class);
}

TEST(Holds, ThePolicySaysHowMany) {
  const test::Case none(two_blocked().policy(R"("overTime":{"holds":0})"));
  EXPECT_EQ(holder_of(none, "a"), "");
  EXPECT_TRUE(may_start_on(none, "long", "a"));
  const test::Case two(two_blocked().policy(R"("overTime":{"holds":2})"));
  EXPECT_EQ(holder_of(two, "a"), "large");
  EXPECT_EQ(holder_of(two, "b"), "other");
  EXPECT_FALSE(may_start_on(two, "large", "b")) << "it would not end before that node is empty";
  EXPECT_FALSE(may_start_on(two, "long", "a"));
  EXPECT_TRUE(may_start_on(two, "long", "b")) << "it ends before";
  const test::Case never(two_blocked().policy(R"("overTime":{"holds":2,"reserveAfter":"never"})"));
  EXPECT_EQ(holder_of(never, "a"), "");
}

TEST(Holds, NodesThatAreEmptyNowAreHeldUntilTheLastIs) {
  const test::Case cluster(test::Cluster()
                               .node("a", 8)
                               .node("b", 8)
                               .node("c", 8)
                               .queue("q", R"("gpu":{"quota":16})")
                               .queue("else")
                               .running("u", "a", 1, strict("else", 6) + since("started", 2))
                               .running("v", "c", 1, strict("else", 9) + since("started", 2))
                               .gang("large", waiting(10, 5))
                               .pods("large", 2, 8, R"("gang":"large")")
                               .pod("long", 1, R"("queue":"else","expectedDuration":18000)"));
  EXPECT_EQ(holder_of(cluster, "a"), "large");
  EXPECT_EQ(holder_of(cluster, "b"), "large");
  EXPECT_EQ(holder_of(cluster, "c"), "");
  EXPECT_FALSE(may_start_on(cluster, "long", "b"));
}

TEST(Holds, WhatCountsByClassesStaysAsItWas) {
  const test::Case with(two_blocked()), without(two_blocked().policy(R"("overTime":{"holds":0})"));
  ASSERT_EQ(with->objective.expected_workload.size(), without->objective.expected_workload.size());
  for (std::size_t i = 0; i < with->objective.expected_workload.size(); ++i) {
    const ExpectedClass& expected = with->objective.expected_workload[i];
    EXPECT_EQ(expected.weight_millionths, without->objective.expected_workload[i].weight_millionths);
    for (const char* node : {"a", "b", "c"}) {
      EXPECT_EQ(with->pod_classes[expected.pod_class].allowed[with->nodes[with.node(node)].node_class.value()],
                without->pod_classes[without->objective.expected_workload[i].pod_class]
                    .allowed[without->nodes[without.node(node)].node_class.value()]);
    }
  }
  std::size_t nodes = 0;
  for (const NodeClassIndex index : with->node_classes.indices()) {
    EXPECT_TRUE(std::ranges::is_sorted(with->node_classes[index].nodes));
    nodes += with->node_classes[index].nodes.size();
    for (const NodeIndex node : with->node_classes[index].nodes) EXPECT_EQ(with->nodes[node].node_class, index);
  }
  EXPECT_EQ(nodes, 3U);
}

}  // namespace
}  // namespace muster
