// Histograms of durations, with the same bounds everywhere.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "io/http/prometheus_text.h"

namespace muster::cli {

inline double seconds_of(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

inline http::Histogram duration_histogram() {
  return http::Histogram({0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30});
}

// A histogram for each value of a label; values appear when they are first observed.
class LabelledDurations {
 public:
  void observe(std::string_view value, double seconds) {
    auto found = histograms_.find(value);
    if (found == histograms_.end()) found = histograms_.emplace(std::string(value), duration_histogram()).first;
    found->second.observe(seconds);
  }
  void write(http::PrometheusText& out, std::string_view label) const {
    for (const auto& [value, histogram] : histograms_) out.histogram({{label, value}}, histogram);
  }

 private:
  std::map<std::string, http::Histogram, std::less<>> histograms_;
};

}  // namespace muster::cli
