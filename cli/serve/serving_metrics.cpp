#include "cli/serve/serving_metrics.h"

#include <array>

#include <fmt/format.h>

namespace muster::cli {
namespace {

// Reasons that are exported from the start, so that rates of them are defined.
constexpr std::array<std::string_view, 5> kRefusals = {"max_connections", "header_timeout", "body_timeout",
                                                       "idle_timeout", "write_timeout"};

}  // namespace

ServingMetrics::ServingMetrics() : reloads_{{"ok", 0}, {"failed", 0}} {
  for (const std::string_view reason : kRefusals) refused_connections_[std::string(reason)] = 0;
}

void ServingMetrics::answered(std::string_view path, unsigned status, portfolio::Clock::duration duration) {
  ++requests_[{std::string(path), status}];
  durations_.observe(path, seconds_of(duration));
}

void ServingMetrics::dropped(std::string_view reason) { ++refused_connections_[std::string(reason)]; }

void ServingMetrics::reloaded(bool is_good) { ++reloads_[is_good ? "ok" : "failed"]; }

void ServingMetrics::write(http::PrometheusText& out, std::size_t connections) const {
  out.family("muster_http_requests_total", "counter",
             "Requests by path and status; status 0: the client did not take the response.");
  for (const auto& [key, count] : requests_) {
    out.sample({{"path", key.first}, {"code", fmt::format("{}", key.second)}}, static_cast<double>(count));
  }
  out.family("muster_http_request_duration_seconds", "histogram",
             "Time from receipt of the request until the client has taken the response.");
  durations_.write(out, "path");
  out.family("muster_http_connections", "gauge", "Open connections.").sample({}, static_cast<double>(connections));
  out.family("muster_http_connections_refused_total", "counter", "Connections rejected or closed by a limit.");
  for (const auto& [reason, count] : refused_connections_) {
    out.sample({{"reason", reason}}, static_cast<double>(count));
  }
  out.family("muster_config_reloads_total", "counter", "Reloads of the configuration.");
  for (const auto& [result, count] : reloads_) out.sample({{"result", result}}, static_cast<double>(count));
}

}  // namespace muster::cli
