// What the HTTP server has answered and refused since its start.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cli/line/line.h"
#include "cli/serve/durations.h"
#include "io/http/prometheus_text.h"

namespace muster::cli {

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

}  // namespace muster::cli
