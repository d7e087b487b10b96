// Expected starts on clusters that are small enough to see the answer, and what holds of them on any cluster.
#include "model/forecast/expected_starts.h"

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster::forecast {
namespace {

constexpr std::int64_t kNow = 1'000'000;

std::string since(std::string_view key, double hours) {
  return ",\"" + std::string(key) + "\":" + std::to_string(static_cast<double>(kNow) - hours * 3600);
}
std::string terms(std::string_view queue, int priority, double hours) {
  return R"("queue":")" + std::string(queue) + R"(","priority":)" + std::to_string(priority) +
         R"(,"expectedDuration":)" + std::to_string(hours * 3600);
}
// Not preemptible, and preemptible.
std::string strict(double hours) { return terms("q", 125, hours); }
std::string best(double hours) { return terms("q", 50, hours); }

// Hours from now, and for what; "never" if it is not expected to start.
std::string start_of(const test::Case& cluster, std::string_view gang, const std::function<bool()>& stop = {}) {
  const ExpectedStarts starts = expected_starts(*cluster, cluster.plan(), stop);
  if (starts.empty()) return "unknown";
  const std::optional<ExpectedStart>& start = starts[cluster.gang(gang)];
  if (!start) return "never";
  const Nanoseconds ahead = start->time - kNow * kNanosecondsPerSecond;
  EXPECT_EQ(ahead % (36 * kNanosecondsPerSecond), 0) << ahead;
  return std::to_string(ahead / (36 * kNanosecondsPerSecond)) + " " +
         std::string(start_obstacle_text(start->waits_for));
}

// Two nodes of eight, a queue with a quota of 8 GPUs, all of it in use for four hours more.
test::Cluster full_quota() {
  return test::Cluster()
      .node("a", 8)
      .node("b", 8)
      .queue("q", R"("gpu":{"quota":8})")
      .running("runs", "a", 8, strict(6) + since("started", 2));
}

TEST(ExpectedStarts, WaitForTheQuota) {
  EXPECT_EQ(start_of(test::Case(full_quota().pod("w", 4, strict(1))), "w"), "400 Quota");
  EXPECT_EQ(start_of(test::Case(full_quota().pod("w", 9, strict(1))), "w"), "never") << "beyond the quota";
}

TEST(ExpectedStarts, WaitForTheLimitOfAnyQueueAbove) {
  const test::Case cluster(test::Cluster()
                               .node("a", 8)
                               .node("b", 8)
                               .queue("top", R"("gpu":{"limit":8})")
                               .queue("q", R"("parent":"top")")
                               .running("runs", "a", 8, best(6) + since("started", 2))
                               .pod("w", 4, best(1)));
  EXPECT_EQ(start_of(cluster, "w"), "400 Limit");
}

TEST(ExpectedStarts, WaitForTheLimitOfAnyResource) {
  const test::Case cluster(test::Cluster()
                               .node("a", 8)
                               .node("b", 8)
                               .queue("top", R"("resources":{"pods":{"limit":1}})")
                               .queue("q", R"("parent":"top")")
                               .running("runs", "a", 8, best(6) + since("started", 2))
                               .pod("w", 4, best(1)));
  EXPECT_EQ(start_of(cluster, "w"), "400 Limit");
}

TEST(ExpectedStarts, OfLargePodsWaitForEmptyNodes) {
  const auto cluster = [](int pods) {
    return test::Case(test::Cluster()
                          .node("a", 8)
                          .node("b", 8)
                          .queue("q")
                          .running("u", "a", 1, best(6) + since("started", 4))
                          .running("v", "b", 1, best(6) + since("started", 1))
                          .gang("w", best(1))
                          .pods("w", pods, 8, R"("gang":"w")"));
  };
  EXPECT_EQ(start_of(cluster(1), "w"), "200 Nodes");
  EXPECT_EQ(start_of(cluster(2), "w"), "500 Nodes");
  EXPECT_EQ(start_of(cluster(3), "w"), "never") << "there are two nodes";
}

TEST(ExpectedStarts, OfSmallPodsWaitForDevices) {
  const test::Case cluster(test::Cluster()
                               .node("a", 2)
                               .queue("q")
                               .running("u", "a", 1, best(6) + since("started", 4))
                               .running("v", "a", 1, best(6) + since("started", 1))
                               .pod("w", 1, best(1))
                               .pod("half", R"("gpu":{"fraction":0.5},)" + best(1)));
  EXPECT_EQ(start_of(cluster, "w"), "200 Devices");
  EXPECT_EQ(start_of(cluster, "half"), "300 Devices") << "once the other one has ended";
}

TEST(ExpectedStarts, WaitForCpuWhereThatIsShort) {
  const test::Case cluster(test::Cluster()
                               .node("a", R"("resources":{"cpu":4},"gpus":{"count":2})")
                               .queue("q")
                               .running("u", "a", 1, R"("resources":{"cpu":3},)" + best(6) + since("started", 4))
                               .pod("w", 1, R"("resources":{"cpu":2},)" + best(1))
                               .pod("plain", R"("resources":{"cpu":2},)" + best(1)));
  EXPECT_EQ(start_of(cluster, "w"), "200 Resources");
  EXPECT_EQ(start_of(cluster, "plain"), "200 Resources");
}

TEST(ExpectedStarts, ComeOneAfterTheOther) {
  const auto cluster = [](int priority) {
    return test::Case(full_quota()
                          .pod("first", 8, strict(3) + since("created", 2))
                          .pod("second", 8, terms("q", priority, 3) + since("created", 0)));
  };
  EXPECT_EQ(start_of(cluster(125), "first"), "400 Quota");
  EXPECT_EQ(start_of(cluster(125), "second"), "700 Quota");
  EXPECT_EQ(start_of(cluster(150), "second"), "400 Quota");
  EXPECT_EQ(start_of(cluster(150), "first"), "700 Quota");
}

// Now the old gang is more senior: 50 h / 100 h; in ten hours the short one is: 10 h / 1 h.
TEST(ExpectedStarts, ComeInTheOrderOfTheirSeniorityThen) {
  const test::Case cluster(test::Cluster()
                               .node("a", 8)
                               .queue("q", R"("gpu":{"quota":8})")
                               .running("runs", "a", 8, strict(12) + since("started", 2))
                               .pod("old", 8, strict(100) + since("created", 149))
                               .pod("short", 8, strict(1) + since("created", 0)));
  EXPECT_GT(cluster->gangs[cluster.gang("old")].times.seniority, cluster->gangs[cluster.gang("short")].times.seniority);
  EXPECT_EQ(start_of(cluster, "short"), "1000 Quota");
  EXPECT_EQ(start_of(cluster, "old"), "1100 Quota");
}

TEST(ExpectedStarts, OfGangsThatAreKeptBackComeAfterTheHead) {
  const test::Case cluster(test::Cluster()
                               .node("a", 8)
                               .node("b", 8)
                               .queue("q", R"("gpu":{"quota":8})")
                               .running("runs", "a", 4, strict(6) + since("started", 2))
                               .pod("head", 8, strict(1) + since("created", 30))
                               .pod("long", 1, strict(5) + since("created", 0)));
  ASSERT_FALSE(cluster->gangs[cluster.gang("long")].times.kept_back_for.is_none());
  EXPECT_EQ(start_of(cluster, "head"), "400 Quota");
  EXPECT_EQ(start_of(cluster, "long"), "500 Reserved");
}

// A gang becomes the head when it has waited long enough: at two hours, the small one would hold it up.
TEST(ExpectedStarts, RespectReservationsThatAreStillToCome) {
  const auto cluster = [](double waited) {
    return test::Case(test::Cluster()
                          .node("a", 8)
                          .node("b", 8)
                          .queue("q", R"("gpu":{"quota":8})")
                          .running("early", "a", 1, strict(4) + since("started", 2))
                          .running("late", "a", 7, strict(12) + since("started", 2))
                          .pod("large", 8, strict(2) + since("created", waited))
                          .pod("small", 1, terms("q", 125, 20) + since("created", 0)));
  };
  EXPECT_EQ(start_of(cluster(23), "large"), "1000 Quota");
  EXPECT_EQ(start_of(cluster(23), "small"), "1200 Reserved");
  EXPECT_EQ(start_of(cluster(5), "small"), "200 Quota");
  EXPECT_EQ(start_of(cluster(5), "large"), "2200 Quota");
}

TEST(ExpectedStarts, AreNoneOfWhatCannotStart) {
  EXPECT_EQ(start_of(test::Case(full_quota().pod("w", 4, R"("status":"gated",)" + strict(1))), "w"), "never");
  EXPECT_EQ(start_of(test::Case(full_quota().pod("w", 4, R"("timeout":"1h",)" + strict(1) + since("created", 2))), "w"),
            "never");
  EXPECT_EQ(
      start_of(test::Case(full_quota().gang("w", R"("minMember":2,)" + strict(1)).pods("w", 1, 1, R"("gang":"w")")),
               "w"),
      "never")
      << "it has too few pods";
  EXPECT_EQ(start_of(test::Case(full_quota().pod("w", 4, strict(1))), "runs"), "never") << "it runs";
}

TEST(ExpectedStarts, OfElasticGangsAreThoseOfTheirMinimum) {
  const test::Case cluster(test::Cluster()
                               .node("a", 8)
                               .queue("q", R"("gpu":{"quota":8})")
                               .running("early", "a", 2, strict(4) + since("started", 2))
                               .running("late", "a", 6, strict(12) + since("started", 2))
                               .gang("w", R"("minMember":2,)" + strict(1))
                               .pods("w", 8, 1, R"("gang":"w")"));
  EXPECT_EQ(start_of(cluster, "w"), "200 Quota");
}

TEST(ExpectedStarts, OfTreesAreThoseOfTheirSmallestSubgroups) {
  const test::Case cluster(
      test::Cluster()
          .node("a", 8)
          .queue("q", R"("gpu":{"quota":8})")
          .running("early", "a", 2, strict(4) + since("started", 2))
          .running("late", "a", 6, strict(12) + since("started", 2))
          .gang("w",
                R"("minSubgroups":1,"subgroups":[{"name":"x","minMember":3},{"name":"y","minMember":2}],)" + strict(1))
          .pods("x", 3, 1, R"("gang":"w","subgroup":"x")")
          .pods("y", 2, 1, R"("gang":"w","subgroup":"y")"));
  EXPECT_EQ(start_of(cluster, "w"), "200 Quota");
}

TEST(ExpectedStarts, FollowFromWhatThePlanPlacesAndEvicts) {
  test::Case cluster(test::Cluster()
                         .node("a", 8)
                         .queue("q")
                         .running("gone", "a", 8, best(6) + since("started", 2))
                         .pod("now", 8, strict(3))
                         .pod("w", 8, best(1) + since("created", 0)));
  cluster.evict("gone", EvictionReason::kPreempt, "now").place("now", "a", {0, 1, 2, 3, 4, 5, 6, 7}, {"gone"});
  EXPECT_EQ(start_of(cluster, "now"), "never") << "it is placed now";
  EXPECT_EQ(start_of(cluster, "w"), "300 Nodes");
  EXPECT_EQ(start_of(cluster, "gone"), "400 Nodes") << "it waits again";
}

TEST(ExpectedStarts, AreUnknownWithoutDurations) {
  const test::Case cluster(test::Cluster().node("a", 1).running("u", "a", 1).pod("w", 1));
  EXPECT_EQ(start_of(cluster, "w"), "unknown");
}

TEST(ExpectedStarts, EndWhenTheTimeIsUp) {
  test::Cluster cluster;
  cluster.queue("q");
  double hours = 1;
  for (int i = 0; i < 40; ++i) {
    const std::string node = "n" + std::to_string(i);
    cluster.node(node, 1).running("r" + std::to_string(i), node, 1, best(hours) + since("started", 0));
    hours = std::ceil(hours * 1.25);
  }
  cluster.gang("w", best(1)).pods("w", 40, 1, R"("gang":"w")").pod("soon", 1, best(1));
  EXPECT_NE(start_of(test::Case(cluster), "w", [] { return false; }), "never");
  EXPECT_EQ(start_of(test::Case(cluster), "soon", [] { return true; }), "never");
  const auto stop = [calls = 0]() mutable { return ++calls > 3; };
  EXPECT_EQ(start_of(test::Case(cluster), "w", stop), "never");
  EXPECT_EQ(start_of(test::Case(cluster), "soon", stop), "100 Nodes") << "what is known by then stays";
}

test::Case random_cluster(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto draw = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  test::Cluster cluster;
  cluster.queue("top", R"("gpu":{"quota":20})").queue("q", R"("parent":"top","gpu":{"quota":12,"limit":16})");
  cluster.queue("r", R"("parent":"top","gpu":{"quota":8})");
  const auto drawn = [&] { return terms(draw(2) == 0 ? "q" : "r", draw(2) == 0 ? 50 : 125, 1 + draw(20)); };
  for (int i = 0; i < 4; ++i) {
    const std::string node = "n" + std::to_string(i);
    cluster.node(node, 8);
    for (int gpus = 0; gpus < 5; ++gpus)
      cluster.running(node + std::to_string(gpus), node, 1, drawn() + since("started", draw(30)));
  }
  for (int i = 0; i < 12; ++i) {
    const std::string name = "w" + std::to_string(i);
    cluster.gang(name, drawn() + since("created", draw(40)));
    cluster.pods(name, 1 + draw(3), 1 + draw(8), R"("gang":")" + name + "\"");
  }
  return test::Case(cluster);
}

TEST(ExpectedStarts, OfAnyClusterAreInTheFutureAndOnlyOfWhatWaitsAndAlwaysTheSame) {
  int told = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    test::Case cluster = random_cluster(seed);
    const auto placed = cluster->gangs[cluster.gang("w0")].pods.size() == 1;
    if (placed) cluster.place("w0-0", "n0");
    const Plan plan = cluster.plan();
    const ExpectedStarts starts = expected_starts(*cluster, plan), again = expected_starts(*cluster, plan);
    ASSERT_EQ(starts.size(), cluster->gangs.size());
    for (const GangIndex gang : starts.indices()) {
      ASSERT_EQ(starts[gang].has_value(), again[gang].has_value());
      if (!starts[gang]) continue;
      ++told;
      EXPECT_GT(starts[gang]->time, cluster.snapshot().time);
      EXPECT_EQ(starts[gang]->time, again[gang]->time);
      EXPECT_EQ(starts[gang]->waits_for, again[gang]->waits_for);
      EXPECT_EQ(cluster->pods[cluster->gangs[gang].pods.front()].status, PodStatus::kPending);
      EXPECT_FALSE(placed && gang == cluster.gang("w0"));
    }
  }
  EXPECT_GT(told, 1'000);
}

TEST(StartObstacle, IsFoundByItsTextAndByNothingElse) {
  for (std::size_t i = 0; i < kStartObstacles; ++i) {
    const auto obstacle = static_cast<StartObstacle>(i);
    EXPECT_EQ(find_start_obstacle(start_obstacle_text(obstacle)), obstacle);
  }
  EXPECT_EQ(find_start_obstacle("quota"), std::nullopt);
}

}  // namespace
}  // namespace muster::forecast
