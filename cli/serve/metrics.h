// The server's counters and measurements, for Prometheus. Labels have few values each, none of which a client can
// choose freely.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/line/line.h"
#include "cli/serve/durations.h"
#include "cli/serve/states.h"
#include "io/http/prometheus_text.h"
#include "model/objective/wholeness.h"
#include "model/snapshot/unread.h"

namespace muster::cli {

// What the HTTP server has answered and refused since its start.
class ServingMetrics {
 public:
  ServingMetrics();
  // As those of Metrics.
  void answered(std::string_view path, unsigned status, portfolio::Clock::duration duration);
  void dropped(std::string_view reason);
  void reloaded(bool is_good);
  void write(http::PrometheusText& out, std::size_t connections) const;

 private:
  std::map<std::pair<std::string, unsigned>, std::int64_t> requests_;  // by path and status
  LabelledDurations durations_;                                        // by path
  std::map<std::string, std::int64_t, std::less<>> refused_connections_, reloads_;
};

// What the last plan leaves of the cluster, and the inconsistent objects of all snapshots.
//
// Cost to make: O(nodes + pods).
struct PlanCounts {
  explicit PlanCounts(const SolvedLine& line);

  std::map<std::string, std::int64_t> gangs;  // by phase; every phase is there
  double allocated_gpus = 0, free_gpus = 0;
  WholeNodeCount whole_nodes;
};

class SnapshotMetrics {
 public:
  void solved(const Anomalies& anomalies, PlanCounts counts);
  void write(http::PrometheusText& out) const;

 private:
  void write_last_plan(http::PrometheusText& out) const;

  std::map<std::string, std::int64_t, std::less<>> warnings_{
      {"gang", 0}, {"node", 0}, {"pod", 0}, {"queue", 0}};  // by the kind of object, of all snapshots
  std::size_t last_warnings_ = 0;
  std::optional<PlanCounts> last_;
};

// How long plans take and how good they are, since the start of the server.
class SolvingMetrics {
 public:
  // `waited`: in the queue. Cost: O(levels + phases).
  void solved(const SolvedLine& line, portfolio::Clock::duration waited);
  void refused_input(ErrorCode code);
  void write(http::PrometheusText& out) const;

 private:
  std::map<std::pair<std::string_view, std::string_view>, std::int64_t> solves_;  // by origin and proof
  http::Histogram duration_ = duration_histogram(), overshoot_ = duration_histogram();
  http::Histogram gap_{{0, 0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}};
  LabelledDurations stages_;
  std::int64_t deadlines_missed_ = 0, referee_rejections_ = 0;
  std::array<std::int64_t, referee::kRuleCount> refused_{};  // candidates that engines gave up, by rule
  std::map<ErrorCode, std::int64_t> input_errors_;
};

// What is asked for at the moment of a scrape.
struct MetricsNow {
  std::size_t queue_depth = 0, requests_in_flight = 0, connections = 0;
  std::int64_t worker_failures = 0;
  std::int64_t finished_gangs = 0;         // that histories count, since the start
  std::optional<StateReport> states = {};  // that are kept; none: there is none
};

// Safe to use from several threads.
class Metrics {
 public:
  void solved(const SolvedLine& line, portfolio::Clock::duration waited);
  void refused_input(ErrorCode code);
  // `path`: a served one, or "other". `status` 0: the client did not take the answer.
  void answered(std::string_view path, unsigned status, portfolio::Clock::duration duration);
  void dropped(std::string_view reason);
  void reloaded(bool is_good);

  std::string text(const MetricsNow& now) const;

 private:
  static void write_queue(http::PrometheusText& out, const MetricsNow& now);
  static void write_states(http::PrometheusText& out, const std::optional<StateReport>& states);

  mutable std::mutex mutex_;
  SolvingMetrics solving_;
  SnapshotMetrics snapshots_;
  ServingMetrics serving_;
};

// What the kernel knows of this process.
//
// The families process_*, as the client libraries of Prometheus name them. Cost: a few files of /proc.
void write_process_metrics(http::PrometheusText& out);

}  // namespace muster::cli
