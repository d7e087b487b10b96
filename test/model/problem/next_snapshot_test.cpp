#include "model/problem/next_snapshot.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "io/muster_v1/snapshot_reader.h"
#include "model/build/build_problem.h"

namespace muster {
namespace {

constexpr Nanoseconds kThen = 1'000'000 * kNanosecondsPerSecond, kMinute = 60 * kNanosecondsPerSecond;

// A snapshot at kThen, its problem, and a plan made of names.
class Cycle {
 public:
  explicit Cycle(const std::string& body) {
    Result<Snapshot> snapshot =
        muster_v1::SnapshotReader().read(R"({"format":"muster/v1","id":"cycle","time":1000000,)" + body + "}");
    EXPECT_TRUE(snapshot) << snapshot.error().message;
    snapshot_ = std::make_unique<Snapshot>(std::move(*snapshot));
    Result<Problem> problem = build_problem(*snapshot_);
    EXPECT_TRUE(problem) << problem.error().message;
    problem_ = std::move(*problem);
  }

  Cycle& place(std::string_view pod, std::size_t node, std::vector<std::int32_t> devices = {}) {
    plan_.placements.push_back({position(pod), NodeIndex(node), std::move(devices), {}});
    return *this;
  }
  Cycle& evict(std::string_view pod, EvictionReason reason) {
    plan_.evictions.push_back({position(pod), reason, reason == EvictionReason::kStale ? GangIndex() : GangIndex(0)});
    return *this;
  }
  Snapshot next(Nanoseconds later = kMinute) {
    normalise(plan_);
    return next_snapshot(std::move(*snapshot_), problem_, plan_, later);
  }

 private:
  PodIndex position(std::string_view name) const {
    for (std::size_t i = 0; i < snapshot_->pods.size(); ++i)
      if (snapshot_->pods[i].name == name) return PodIndex(i);
    ADD_FAILURE() << "no pod " << name;
    return PodIndex(0);
  }

  std::unique_ptr<Snapshot> snapshot_;
  Problem problem_;
  Plan plan_;
};

const SnapshotPod& pod_of(const Snapshot& snapshot, std::string_view name) {
  for (const SnapshotPod& pod : snapshot.pods)
    if (pod.name == name) return pod;
  ADD_FAILURE() << "no pod " << name;
  return snapshot.pods[0];
}

const std::string kTwoNodes =
    R"("nodes":[{"name":"n0","resources":{"cpu":8},"gpus":{"count":4}},{"name":"n1","resources":{"cpu":8},"gpus":{"count":4}}])";

TEST(NextSnapshot, PlacedPodsRunOnTheirNodeAndDevicesSinceTheNewTime) {
  Cycle cycle(kTwoNodes + R"(,"pods":[{"name":"p","gpu":{"count":2},"nominatedNode":"n0"}])");
  const Snapshot next = cycle.place("p", 1, {1, 3}).next();
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
  Cycle cycle(kTwoNodes + R"(,"pods":[{"name":"p","gpu":{"count":1},"node":"n0","gpus":[2],"started":900000}])");
  const Snapshot next = cycle.evict("p", EvictionReason::kConsolidate).place("p", 1, {0}).next();
  const SnapshotPod& pod = pod_of(next, "p");
  EXPECT_EQ(pod.status, PodStatus::kRunning);
  EXPECT_EQ(pod.node, "n1");
  EXPECT_EQ(pod.devices, std::vector<std::int32_t>{0});
  EXPECT_EQ(pod.started, kThen + kMinute);
}

TEST(NextSnapshot, EvictedPodsArePendingAgainAndNothingRemindsOfTheirPlace) {
  for (const EvictionReason reason : {EvictionReason::kPreempt, EvictionReason::kReclaim, EvictionReason::kStale}) {
    Cycle cycle(kTwoNodes + R"(,"gangs":[{"name":"g","created":5}],
        "pods":[{"name":"p","gang":"g","gpu":{"count":1},"node":"n0","created":900000,"started":900000}])");
    const Snapshot next = cycle.evict("p", reason).next();
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
  Cycle cycle(kTwoNodes + R"(,"pods":[
      {"name":"old","gpu":{"count":1},"node":"n0","created":900000},{"name":"silent","gpu":{"count":1},"node":"n0"}])");
  Snapshot next = cycle.evict("old", EvictionReason::kPreempt).evict("silent", EvictionReason::kPreempt).next();
  const Result<Problem> problem = build_problem(next);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->gangs[problem->pods[PodIndex(0)].gang].waited_seconds, 100'060);
  EXPECT_EQ(problem->gangs[problem->pods[PodIndex(1)].gang].waited_seconds, 60);
}

TEST(NextSnapshot, GangsThatSaidNothingOfTheirAgeHaveWaitedSinceThen) {
  Cycle cycle(kTwoNodes + R"(,"gangs":[{"name":"g"}],"pods":[{"name":"p","gang":"g"}])");
  EXPECT_EQ(cycle.next().gangs[0].terms.created, kThen);
}

TEST(NextSnapshot, ReleasingPodsAreGoneAndNoOthers) {
  Cycle cycle(kTwoNodes + R"(,"gangs":[{"name":"g","minMember":0}],"pods":[
      {"name":"a","gang":"g","node":"n0","status":"releasing"},{"name":"b","gang":"g","node":"n0"},
      {"name":"c","gang":"g","status":"gated"},{"name":"d","gang":"g","status":"succeeded"},
      {"name":"e","gang":"g","status":"failed"},{"name":"f","gang":"g"}])");
  const Snapshot next = cycle.next();
  std::string names;
  for (const SnapshotPod& pod : next.pods) names += pod.name;
  EXPECT_EQ(names, "bcdef");
  EXPECT_EQ(pod_of(next, "b").status, PodStatus::kRunning);
  EXPECT_EQ(pod_of(next, "c").status, PodStatus::kGated);
}

TEST(NextSnapshot, PodsThatRunStayWithTheDevicesThatTheyWereGiven) {
  Cycle cycle(kTwoNodes + R"(,"pods":[{"name":"p","gpu":{"count":2},"node":"n0","started":900000}])");
  const Snapshot next = cycle.next();
  EXPECT_EQ(pod_of(next, "p").devices, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(pod_of(next, "p").started, 900'000 * kNanosecondsPerSecond);
}

TEST(NextSnapshot, GangsBelowTheirMinimumAreStaleSinceThen) {
  const std::string pods = R"(,"pods":[{"name":"p","gang":"g","gpu":{"count":1},"node":"n0"},
      {"name":"q","gang":"g","gpu":{"count":1}}])";
  EXPECT_EQ(Cycle(kTwoNodes + R"(,"gangs":[{"name":"g","minMember":2}])" + pods).next().gangs[0].stale_since, kThen);
  EXPECT_EQ(
      Cycle(kTwoNodes + R"(,"gangs":[{"name":"g","minMember":2,"staleSince":7}])" + pods).next().gangs[0].stale_since,
      7 * kNanosecondsPerSecond);
  const std::string stale = R"(,"gangs":[{"name":"g","minMember":2,"staleSince":7}])";
  EXPECT_FALSE(Cycle(kTwoNodes + stale + pods).place("q", 1, {0}).next().gangs[0].stale_since) << "completed";
  EXPECT_FALSE(Cycle(kTwoNodes + stale + pods).evict("p", EvictionReason::kStale).next().gangs[0].stale_since)
      << "gone";
}

TEST(NextSnapshot, DisruptionBudgetsCountWhatIsGoneAndWhatStarts) {
  const std::string body = R"(,"disruptionBudgets":[{"name":"b","selector":{},"allowed":1}],"pods":[)"
                           R"({"name":"p","gpu":{"count":1},"node":"n0"},{"name":"q","gpu":{"count":1}}])";
  const auto allowed = [](const Snapshot& snapshot) { return snapshot.disruption_budgets[0].allowed; };
  EXPECT_EQ(allowed(Cycle(kTwoNodes + body).next()), 1);
  EXPECT_EQ(allowed(Cycle(kTwoNodes + body).evict("p", EvictionReason::kPreempt).next()), 0);
  EXPECT_EQ(allowed(Cycle(kTwoNodes + body).place("q", 1, {0}).next()), 2);
  EXPECT_EQ(allowed(Cycle(kTwoNodes + body).evict("p", EvictionReason::kConsolidate).place("p", 1, {0}).next()), 1)
      << "a move is both";
}

TEST(NextSnapshot, CanBeTakenAgainAndAgain) {
  Cycle cycle(kTwoNodes + R"(,"queues":[{"name":"a"}],"gangs":[{"name":"g","queue":"a","minMember":1}],
      "pods":[{"name":"p","gang":"g","gpu":{"count":4}},{"name":"r","queue":"a","node":"n1","status":"releasing"}])");
  Snapshot snapshot = cycle.place("p", 0, {0, 1, 2, 3}).next();
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
