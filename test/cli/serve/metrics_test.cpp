#include "cli/serve/metrics.h"

#include <chrono>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/explain/report.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

void expect_line(const std::string& text, const std::string& line) {
  EXPECT_NE(("\n" + text).find("\n" + line + "\n"), std::string::npos) << line << "\n" << text;
}

class MetricsTest : public testing::Test {
 protected:
  MetricsTest() {
    snapshot = std::move(*muster_v1::SnapshotReader().read(
        R"({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":8}}],"pods":[{"name":"p","gpu":{"count":2}}]})"));
    problem = std::move(*build_problem(snapshot));
    solution.origin = Origin::kGreedy;
    solution.proof = Proof::kOptimal;
    solution.report.gangs.resize(1);
    solution.report.gangs[0].phase = explain::GangPhase::kScheduled;
    statement.origin = solution.origin;
    statement.proof = solution.proof;
    statement.phases_ms = {{"parse", 2}};
  }
  SolvedLine line() const { return {problem, solution, statement, milliseconds(100), milliseconds(120)}; }
  Snapshot snapshot;
  Problem problem;
  portfolio::Solution solution;
  muster_v1::SolverStatement statement;
  Metrics metrics;
};

TEST_F(MetricsTest, CountPlansByOriginAndProof) {
  metrics.solved(line(), milliseconds(1));
  metrics.solved(line(), milliseconds(1));
  const std::string text = metrics.text({});
  expect_line(text, R"(muster_solves_total{origin="greedy",proof="optimal"} 2)");
  expect_line(text, "muster_solve_duration_seconds_count 2");
  expect_line(text, R"(muster_stage_duration_seconds_count{stage="queue"} 2)");
  expect_line(text, R"(muster_stage_duration_seconds_count{stage="parse"} 2)");
}

TEST_F(MetricsTest, MeasureByHowMuchALatePlanIsLate) {
  statement.deadline_missed = true;
  metrics.solved(line(), milliseconds(1));
  const std::string text = metrics.text({});
  expect_line(text, "muster_deadline_missed_total 1");
  expect_line(text, R"(muster_deadline_overshoot_seconds_bucket{le="0.01"} 0)");
  expect_line(text, R"(muster_deadline_overshoot_seconds_bucket{le="0.05"} 1)");
}

TEST_F(MetricsTest, ShowTheLastPlanOnly) {
  expect_line(metrics.text({}), R"(muster_whole_nodes{state="idle"} 0)");
  metrics.solved(line(), milliseconds(1));
  metrics.solved(line(), milliseconds(1));
  const std::string text = metrics.text({});
  expect_line(text, R"(muster_gangs{phase="Scheduled"} 1)");
  expect_line(text, R"(muster_gangs{phase="Running"} 0)");
  expect_line(text, R"(muster_gpus{state="free"} 8)");
  expect_line(text, R"(muster_whole_nodes{state="idle"} 1)");
}

TEST_F(MetricsTest, CountWhatIsServedAndRefused) {
  metrics.answered("/v1/solve", 200, milliseconds(3));
  metrics.dropped("idle_timeout");
  metrics.reloaded(true);
  metrics.refused_input(ErrorCode::kInvalidJson);
  const std::string text = metrics.text({.queue_depth = 4, .requests_in_flight = 5, .connections = 6});
  expect_line(text, R"(muster_http_requests_total{path="/v1/solve",code="200"} 1)");
  expect_line(text, R"(muster_http_request_duration_seconds_count{path="/v1/solve"} 1)");
  expect_line(text, R"(muster_http_connections_refused_total{reason="idle_timeout"} 1)");
  expect_line(text, R"(muster_http_connections_refused_total{reason="body_timeout"} 0)");
  expect_line(text, R"(muster_config_reloads_total{result="ok"} 1)");
  expect_line(text, R"(muster_input_errors_total{code="InvalidJson"} 1)");
  expect_line(text, "muster_queue_depth 4");
  expect_line(text, "muster_requests_in_flight 5");
  expect_line(text, "muster_http_connections 6");
}

}  // namespace
}  // namespace muster::cli
