#include "cli/line/timed_writer.h"

#include <chrono>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

class TimedWriterTest : public testing::Test {
 protected:
  TimedWriterTest() {
    std::string line = R"({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":8}}],"pods":[{"name":"p"})";
    for (int i = 0; i < 2'000; ++i) line += R"(,{"name":"p)" + std::to_string(i) + R"("})";
    snapshot = std::move(*muster_v1::SnapshotReader().read(line + "]}"));
    problem = std::move(*build_problem(snapshot));
    for (const PodIndex pod : problem.pods.indices()) plan.placements.push_back({pod, NodeIndex(0), {}, {}});
  }
  muster_v1::PlanLine line(int threads, bool with_timings = true) const {
    muster_v1::SolverStatement statement;
    statement.phases_ms = {{"parse", 1}};
    return {problem, plan, report, std::move(statement), with_timings, threads};
  }
  Snapshot snapshot;
  Problem problem;
  Plan plan;
  explain::Report report;
};

TEST_F(TimedWriterTest, WritesTheLineOfWritePlanWhateverTheThreads) {
  std::string expected;
  muster_v1::write_plan(line(1, false), expected);
  for (const int threads : {1, 2}) {
    std::string text;
    muster_v1::PlanLine written = line(threads, false);
    TimedWriter().write(written, {portfolio::Clock::now(), portfolio::Clock::now()}, text);
    EXPECT_EQ(text, expected + "\n") << threads;
  }
}

TEST_F(TimedWriterTest, StatesTheTimesOfTheLineAndWritingAsTheLastPhase) {
  const portfolio::Clock::time_point now = portfolio::Clock::now();
  std::string text;
  muster_v1::PlanLine written = line(1);
  TimedWriter().write(written, {now - milliseconds(50), now + std::chrono::hours(1)}, text);
  const Json solver = Json::parse(text)["solver"];
  EXPECT_GE(solver["elapsedMs"].get<double>(), 50);
  EXPECT_FALSE(solver["deadlineMissed"].get<bool>());
  EXPECT_EQ(written.solver.phases_ms.back().first, "write");
  EXPECT_TRUE(solver["phasesMs"].contains("write"));
}

TEST_F(TimedWriterTest, StatesThatTheDeadlineIsMissedUnlessThereIsNoClock) {
  const portfolio::Clock::time_point late = portfolio::Clock::now() - milliseconds(1);
  for (const bool with_timings : {true, false}) {
    std::string text;
    muster_v1::PlanLine written = line(1, with_timings);
    TimedWriter().write(written, {late, late}, text);
    EXPECT_EQ(Json::parse(text)["solver"]["deadlineMissed"].get<bool>(), with_timings);
  }
}

TEST_F(TimedWriterTest, ReservesTimeForTheDecisionsAboutAllPodsThatWait) {
  TimedWriter writer;
  const portfolio::Clock::duration one = writer.reserve(problem, 1), two = writer.reserve(problem, 2);
  EXPECT_GT(one, std::chrono::microseconds(500)) << "2,001 decisions";
  EXPECT_GE(one, two) << "two threads write decisions and report at the same time";
  EXPECT_LT(one, milliseconds(20));
}

}  // namespace
}  // namespace muster::cli
