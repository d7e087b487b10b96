// How long plans take and how good they are, since the start of the server.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "cli/line/line.h"
#include "cli/serve/durations.h"
#include "io/http/prometheus_text.h"

namespace muster::cli {

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

}  // namespace muster::cli
