#include "cli/serve/cluster_history.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/muster_v1/histories.h"
#include "test/support/case.h"

namespace muster::cli {
namespace {

constexpr Nanoseconds kSecond = kNanosecondsPerSecond;

HistoryOptions durations_only() { return {true, 0}; }

// A cluster at an instant; `pods` and `more` as in a line. Queues a and b, nodes n and m.
test::Case cluster_at(int time, const std::string& pods, const std::string& nodes = "nm",
                      const std::string& more = "") {
  std::string text =
      R"({"format":"muster/v1","time":)" + std::to_string(time) + R"(,"policy":{"expectedDurations":[]},"queues":[
      {"name":"a"},{"name":"b"}],"nodes":[)";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    text += std::string(i > 0 ? "," : "") + R"({"name":")" + nodes[i] + R"(","gpus":{"count":8}})";
  }
  return test::Case::of_line(text + R"(],"pods":[)" + pods + "]" + more + "}");
}

std::string running(const std::string& name, int gpus = 1, const std::string& more = R"("started":900)") {
  return R"({"name":")" + name + R"(","queue":"a","node":"n","gpu":{"count":)" + std::to_string(gpus) + "}," + more +
         "}";
}

// Takes a snapshot in, and then its plan.
void see(ClusterHistory& history, const test::Case& cluster) {
  history.note(history.observe(cluster.snapshot()), *cluster, cluster.plan());
}
void see(ClusterHistory& history, int time, const std::string& pods, const std::string& nodes = "nm") {
  see(history, cluster_at(time, pods, nodes));
}

// "queue FROM: COUNT x SECONDS" of each history, that of all queues first.
std::vector<std::string> told(const ClusterHistory& history) {
  std::vector<std::string> result;
  const muster_v1::Histories known = history.known();
  for (const auto& [queue, one] : *known.durations) {
    result.push_back(queue + " " + std::to_string(one.from) + ": " + std::to_string(one.count) + " x " +
                     std::to_string(one.mean / kSecond));
  }
  return result;
}

using Told = std::vector<std::string>;

TEST(ClusterHistory, GangThatIsGoneHasFinishedHalfwayBetweenTheSnapshots) {
  ClusterHistory history(durations_only());
  see(history, 1000, running("p", 2));
  EXPECT_EQ(told(history), Told{});
  see(history, 1100, "");
  EXPECT_EQ(told(history), (Told{" 2: 1 x 150", "a 2: 1 x 150"}));
  EXPECT_EQ(history.finished(), 1);
  see(history, 1200, "");
  EXPECT_EQ(history.finished(), 1) << "once";
}

TEST(ClusterHistory, GangWhosePodsHaveAllSucceededHasFinished) {
  ClusterHistory history(durations_only());
  see(history, 1000, running("p"));
  see(history, 1100, R"({"name":"p","queue":"a","status":"succeeded","gpu":{"count":1}})");
  EXPECT_EQ(told(history), (Told{" 1: 1 x 150", "a 1: 1 x 150"}));
}

TEST(ClusterHistory, WithoutAStartItCountsFromTheFirstSnapshotThatShowsIt) {
  ClusterHistory history(durations_only());
  see(history, 1000, running("p", 1, R"("created":1)"));
  see(history, 1100, running("p", 1, R"("created":1)"));
  see(history, 1200, "");
  EXPECT_EQ(told(history), (Told{" 1: 1 x 150", "a 1: 1 x 150"}));
}

TEST(ClusterHistory, WhatWaitsFailsOrIsBeingDeletedHasNotFinished) {
  for (const char* status : {"pending", "gated", "failed"}) {
    ClusterHistory history(durations_only());
    see(history, 1000, running("p"));
    see(history, 1100, std::string(R"({"name":"p","queue":"a","gpu":{"count":1},"status":")") + status + "\"}");
    see(history, 1200, "");
    EXPECT_EQ(told(history), Told{}) << status;
  }
  ClusterHistory history(durations_only());
  see(history, 1000, running("p"));
  see(history, 1100, running("p", 1, R"("started":900,"status":"releasing")"));
  EXPECT_EQ(told(history), Told{}) << "its pods are still there";
}

TEST(ClusterHistory, GangThatNeverRanHasNotFinished) {
  ClusterHistory history(durations_only());
  see(history, 1000, R"({"name":"p","queue":"a","gpu":{"count":16}})");
  see(history, 1100, "");
  EXPECT_EQ(told(history), Told{});
}

TEST(ClusterHistory, GangThatAPlanEvictsHasNotFinishedAndCountsAnewOnceItRuns) {
  ClusterHistory history(durations_only());
  test::Case evicted = cluster_at(1000, running("p"));
  evicted.evict("p", EvictionReason::kStale);
  see(history, evicted);
  see(history, 1100, "");
  EXPECT_EQ(told(history), Told{}) << "between its eviction and its next pod";
  see(history, 1200, running("p", 1, R"("started":1150)"));
  see(history, 1300, "");
  EXPECT_EQ(told(history), (Told{" 1: 1 x 100", "a 1: 1 x 100"}));
}

TEST(ClusterHistory, GangWhoseNodeIsGoneHasNotFinished) {
  ClusterHistory history(durations_only());
  see(history, 1000, running("p"));
  see(history, 1100, "", "m");
  EXPECT_EQ(told(history), Told{});
}

TEST(ClusterHistory, GangsAreCountedByTheGpusOfTheirMinimum) {
  ClusterHistory history(durations_only());
  const std::string gang = R"(,"gangs":[{"name":"g","queue":"b","minMember":2}])";
  const std::string two = R"({"name":"g-0","gang":"g","node":"n","gpu":{"count":4},"started":900},
      {"name":"g-1","gang":"g","node":"n","gpu":{"count":4},"started":950},)";
  see(history,
      cluster_at(1000, two + R"({"name":"g-2","gang":"g","node":"m","gpu":{"count":4},"started":950})", "nm", gang));
  // The rest of an elastic gang leaves: its minimum runs on.
  see(history, cluster_at(1100, two + R"({"name":"g-2","gang":"g","gpu":{"count":4}})", "nm", gang));
  EXPECT_EQ(told(history), Told{});
  see(history, 1200, "");
  EXPECT_EQ(told(history), (Told{" 8: 1 x 250", "b 8: 1 x 250"}));
}

TEST(ClusterHistory, SnapshotThatIsNotLaterOrHasNoTimeChangesNothing) {
  ClusterHistory history(durations_only());
  see(history, 1000, running("p"));
  for (const int time : {1000, 900, 0}) see(history, time, "");
  EXPECT_EQ(told(history), Told{});
  see(history, 1100, "");
  EXPECT_EQ(history.finished(), 1);
}

TEST(ClusterHistory, PlanOfAnEarlierSnapshotIsIgnored) {
  ClusterHistory history(durations_only());
  const test::Case first = cluster_at(1000, running("p")), second = cluster_at(1100, "");
  const std::uint64_t number = history.observe(first.snapshot());
  see(history, second);
  history.note(number, *first, first.plan());
  see(history, 1200, "");
  EXPECT_EQ(told(history), Told{});
}

TEST(ClusterHistory, AnotherOneGoesOnFromWhatItKnew) {
  HistoryOptions options{true, 100 * kSecond};
  ClusterHistory first(options);
  see(first, 1000, running("p", 8));
  see(first, 1100, running("q", 2, R"("started":1090)"));
  std::string text;
  write_histories(first.known(), text);
  ClusterHistory second(options);
  second.restore(*muster_v1::read_histories(text));
  std::string again;
  write_histories(second.known(), again);
  EXPECT_EQ(again, text);
  see(second, 9000, running("q", 2, R"("started":1090)"));
  const auto usage = second.known().usage.value();
  ASSERT_EQ(usage.size(), 1U);
  EXPECT_EQ(usage[0].queue, "a");
  EXPECT_EQ(usage[0].gpu, 4'000'000) << "the time in between does not count";
  see(second, 9100, running("r", 4, R"("started":9000)"));
  EXPECT_EQ(second.known().usage->front().gpu, 3'000'000);
  EXPECT_EQ(told(second), (Told{" 2: 1 x 7960", " 8: 1 x 150", "a 2: 1 x 7960", "a 8: 1 x 150"}));
}

TEST(ClusterHistory, QueuesBeyondTheLimitCountAmongAllOnly) {
  muster_v1::Histories many;
  many.durations.emplace();
  for (std::size_t i = 0; i < ClusterHistory::kMostQueues; ++i) {
    many.durations->push_back({"q" + std::to_string(i), {{}, 1, 1, 1, kSecond}});
  }
  ClusterHistory history(durations_only());
  history.restore(many);
  see(history, 1000, running("p"));
  see(history, 1100, "");
  EXPECT_EQ(history.known().durations->size(), ClusterHistory::kMostQueues + 1);
  EXPECT_EQ(told(history).front(), " 1: 1 x 150");
}

}  // namespace
}  // namespace muster::cli
