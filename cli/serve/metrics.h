// The server's counters and measurements, for Prometheus. Labels have few values each, none of which a client can
// choose freely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cli/line/line.h"
#include "cli/serve/serving_metrics.h"
#include "cli/serve/snapshot_metrics.h"
#include "cli/serve/solving_metrics.h"
#include "cli/serve/states.h"
#include "io/http/prometheus_text.h"

namespace muster::cli {

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

}  // namespace muster::cli
