// The server's counters and measurements, for Prometheus. Labels have few values each, none of which a client can
// choose freely.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "cli/line/line.h"
#include "io/http/prometheus_text.h"
#include "model/objective/wholeness.h"

namespace muster {

// What is asked for at the moment of a scrape.
struct MetricsNow {
  std::size_t queue_depth = 0, requests_in_flight = 0, connections = 0;
  std::int64_t worker_failures = 0;
};

// Safe to use from several threads.
class Metrics {
 public:
  Metrics();

  void solved(const SolvedLine& line, Clock::duration waited);
  void refused_input(std::string_view code);
  // `path`: a served one, or "other". `status` 0: the client did not take the answer.
  void answered(std::string_view path, unsigned status, Clock::duration duration);
  void dropped(std::string_view reason);
  void reloaded(bool is_good);

  std::string text(const MetricsNow& now) const;

 private:
  template <class Key>
  using Counters = std::map<Key, std::int64_t, std::less<>>;
  using Histograms = std::map<std::string, Histogram, std::less<>>;

  void write_solving(PrometheusText& out) const;
  void write_serving(PrometheusText& out, const MetricsNow& now) const;
  void count_last_plan(const SolvedLine& line, const WholeNodeCount& whole_nodes);

  mutable std::mutex mutex_;
  Counters<std::pair<std::string, std::string>> solves_;      // by origin and proof
  Counters<std::pair<std::string, unsigned>> http_requests_;  // by path and status
  Counters<std::string> input_errors_, refused_connections_, reloads_;
  Counters<std::string> gangs_;         // of the last plan, by phase
  Counters<std::string> warnings_{{"gang", 0}, {"node", 0}, {"pod", 0}, {"queue", 0}};  // by the kind of object
  std::size_t last_warnings_ = 0;
  std::map<std::string, double> gpus_;  // of the last plan, by state
  WholeNodeCount whole_nodes_;          // the same
  Histogram solve_duration_, overshoot_, gap_;
  Histograms stages_, http_durations_;
  std::int64_t deadlines_missed_ = 0, referee_rejections_ = 0;
};

}  // namespace muster
