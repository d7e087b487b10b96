#include "model/problem/next_snapshot.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "model/build/build_problem.h"
#include "test/support/case.h"

namespace muster {
namespace {

constexpr Nanoseconds kThen = 1'000'000 * kNanosecondsPerSecond, kMinute = 60 * kNanosecondsPerSecond;

Snapshot after(test::Case& cycle) { return cycle.next(cycle.plan(), kMinute); }
Snapshot after(test::Case&& cycle) { return after(cycle); }

const SnapshotPod& pod_of(const Snapshot& snapshot, std::string_view name) {
  for (const SnapshotPod& pod : snapshot.pods)
    if (pod.name == name) return pod;
  ADD_FAILURE() << "no pod " << name;
  return snapshot.pods[0];
}

const std::string kTwoNodes =
    R"("id":"cycle","nodes":[{"name":"n0","resources":{"cpu":8},"gpus":{"count":4}},{"name":"n1","resources":{"cpu":8},"gpus":{"count":4}}])";

TEST(NextSnapshot, PlacedPodsRunOnTheirNodeAndDevicesSinceTheNewTime) {
  test::Case cycle(kTwoNodes + R"(,"pods":[{"name":"p","gpu":{"count":2},"nominatedNode":"n0"}])");
  const Snapshot next = after(cycle.place("p", "n1", {1, 3}));
  EXPECT_EQ(next.time, kThen + kMinute);
  EXPECT_EQ(next.id, "cycle");
  const SnapshotPod& pod = pod_of(next, "p");
  EXPECT_EQ(pod.status, PodStatus::kRunning);
  EXPECT_EQ(pod.node, "n1");
  EXPECT_EQ(pod.devices, (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(pod.started, kThen + kMinute);
  EXPECT_EQ(pod.nominated_node, "");
}

TEST(NextSnapshot, MovedPodsRunWhereTheyWereMovedTo) {
  test::Case cycle(kTwoNodes + R"(,"pods":[{"name":"p","gpu":{"count":1},"node":"n0","gpus":[2],"started":900000}])");
  const Snapshot next = after(cycle.evict("p", EvictionReason::kConsolidate).place("p", "n1", {0}));
  const SnapshotPod& pod = pod_of(next, "p");
  EXPECT_EQ(pod.status, PodStatus::kRunning);
  EXPECT_EQ(pod.node, "n1");
  EXPECT_EQ(pod.devices, std::vector<std::int32_t>{0});
  EXPECT_EQ(pod.started, kThen + kMinute);
}

TEST(NextSnapshot, EvictedPodsArePendingAgainAndNothingRemindsOfTheirPlace) {
  for (const EvictionReason reason : {EvictionReason::kPreempt, EvictionReason::kReclaim, EvictionReason::kStale}) {
    test::Case cycle(kTwoNodes + R"(,"gangs":[{"name":"g","created":5}],
        "pods":[{"name":"p","gang":"g","gpu":{"count":1},"node":"n0","created":900000,"started":900000}])");
    const Snapshot next = after(cycle.evict("p", reason));
    const SnapshotPod& pod = pod_of(next, "p");
    EXPECT_EQ(pod.status, PodStatus::kPending);
    EXPECT_EQ(pod.node, "");
    EXPECT_TRUE(pod.devices.empty());
    EXPECT_FALSE(pod.started);
    EXPECT_EQ(pod.created, kThen + kMinute);
    EXPECT_EQ(next.gangs[0].terms.created, 5 * kNanosecondsPerSecond);
  }
}

TEST(NextSnapshot, PodsThatAreGangsOfTheirOwnKeepTheirAgeWhenTheyAreEvicted) {
  test::Case cycle(kTwoNodes + R"(,"pods":[
      {"name":"old","gpu":{"count":1},"node":"n0","created":900000},{"name":"silent","gpu":{"count":1},"node":"n0"}])");
  Snapshot next = after(cycle.evict("old", EvictionReason::kPreempt).evict("silent", EvictionReason::kPreempt));
  const Result<Problem> problem = build_problem(next);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->gangs[problem->pods[PodIndex(0)].gang].times.waited_seconds, 100'060);
  EXPECT_EQ(problem->gangs[problem->pods[PodIndex(1)].gang].times.waited_seconds, 60);
}

TEST(NextSnapshot, GangsThatSaidNothingOfTheirAgeHaveWaitedSinceThen) {
  test::Case cycle(kTwoNodes + R"(,"gangs":[{"name":"g"}],"pods":[{"name":"p","gang":"g"}])");
  EXPECT_EQ(after(cycle).gangs[0].terms.created, kThen);
}

TEST(NextSnapshot, ReleasingPodsAreGoneAndNoOthers) {
  test::Case cycle(kTwoNodes + R"(,"gangs":[{"name":"g","minMember":0}],"pods":[
      {"name":"a","gang":"g","node":"n0","status":"releasing"},{"name":"b","gang":"g","node":"n0"},
      {"name":"c","gang":"g","status":"gated"},{"name":"d","gang":"g","status":"succeeded"},
      {"name":"e","gang":"g","status":"failed"},{"name":"f","gang":"g"}])");
  const Snapshot next = after(cycle);
  std::string names;
  for (const SnapshotPod& pod : next.pods) names += pod.name;
  EXPECT_EQ(names, "bcdef");
  EXPECT_EQ(pod_of(next, "b").status, PodStatus::kRunning);
  EXPECT_EQ(pod_of(next, "c").status, PodStatus::kGated);
}

TEST(NextSnapshot, PodsThatRunStayWithTheDevicesThatTheyWereGiven) {
  test::Case cycle(kTwoNodes + R"(,"pods":[{"name":"p","gpu":{"count":2},"node":"n0","started":900000}])");
  const Snapshot next = after(cycle);
  EXPECT_EQ(pod_of(next, "p").devices, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(pod_of(next, "p").started, 900'000 * kNanosecondsPerSecond);
}

TEST(NextSnapshot, GangsBelowTheirMinimumAreStaleSinceThen) {
  const std::string pods = R"(,"pods":[{"name":"p","gang":"g","gpu":{"count":1},"node":"n0"},
      {"name":"q","gang":"g","gpu":{"count":1}}])";
  EXPECT_EQ(after(test::Case(kTwoNodes + R"(,"gangs":[{"name":"g","minMember":2}])" + pods)).gangs[0].stale_since,
            kThen);
  EXPECT_EQ(after(test::Case(kTwoNodes + R"(,"gangs":[{"name":"g","minMember":2,"staleSince":7}])" + pods))
                .gangs[0]
                .stale_since,
            7 * kNanosecondsPerSecond);
  const std::string stale = R"(,"gangs":[{"name":"g","minMember":2,"staleSince":7}])";
  EXPECT_FALSE(after(test::Case(kTwoNodes + stale + pods).place("q", "n1", {0})).gangs[0].stale_since) << "completed";
  EXPECT_FALSE(after(test::Case(kTwoNodes + stale + pods).evict("p", EvictionReason::kStale)).gangs[0].stale_since)
      << "gone";
}

TEST(NextSnapshot, DisruptionBudgetsCountWhatIsGoneAndWhatStarts) {
  const std::string body = R"(,"disruptionBudgets":[{"name":"b","selector":{},"allowed":1}],"pods":[)"
                           R"({"name":"p","gpu":{"count":1},"node":"n0"},{"name":"q","gpu":{"count":1}}])";
  const auto allowed = [](const Snapshot& snapshot) { return snapshot.disruption_budgets[0].allowed; };
  EXPECT_EQ(allowed(after(test::Case(kTwoNodes + body))), 1);
  EXPECT_EQ(allowed(after(test::Case(kTwoNodes + body).evict("p", EvictionReason::kPreempt))), 0);
  EXPECT_EQ(allowed(after(test::Case(kTwoNodes + body).place("q", "n1", {0}))), 2);
  EXPECT_EQ(allowed(after(test::Case(kTwoNodes + body).evict("p", EvictionReason::kConsolidate).place("p", "n1", {0}))),
            1)
      << "a move is both";
}

TEST(NextSnapshot, CanBeTakenAgainAndAgain) {
  test::Case cycle(kTwoNodes + R"(,"queues":[{"name":"a"}],"gangs":[{"name":"g","queue":"a","minMember":1}],
      "pods":[{"name":"p","gang":"g","gpu":{"count":4}},{"name":"r","queue":"a","node":"n1","status":"releasing"}])");
  Snapshot snapshot = after(cycle.place("p", "n0", {0, 1, 2, 3}));
  for (int i = 0; i < 3; ++i) {
    const Result<Problem> problem = build_problem(snapshot);
    ASSERT_TRUE(problem) << problem.error().message;
    snapshot = next_snapshot(std::move(snapshot), *problem, Plan{}, kMinute);
  }
  EXPECT_EQ(snapshot.time, kThen + 4 * kMinute);
  EXPECT_EQ(pod_of(snapshot, "p").started, kThen + kMinute);
}

}  // namespace
}  // namespace muster
