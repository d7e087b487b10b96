// What the agent tells over HTTP: health, metrics, the last plan and its snapshot, the state of its watches, the
// report.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/agent/log.h"
#include "cli/agent/planning/options.h"
#include "cli/agent/planning/planner.h"
#include "cli/serve/http_date.h"
#include "cli/serve/metrics.h"
#include "io/api_server/object_store.h"
#include "io/http/prometheus_text.h"
#include "io/http/service.h"

namespace muster::cli {

// What it looks like now, published by the agent's thread.
struct AgentState {
  bool is_complete = false;  // every kind has been listed, or is set aside
  std::vector<const kubernetes::KnownKind*> set_aside;
  bool leads = false;
  std::string holder;  // of the Lease
  std::uint64_t revision = 0;
  std::size_t objects = 0, bytes = 0;
  std::string blocked;       // why it does not plan or act; empty: it does
  std::string last_warning;  // that the log has; it may be over
  std::vector<api_server::KindReport> kinds;
  AgentCounts counts;
};

// Safe to use from several threads; it answers on the thread of its server.
class AgentStatus final : public http::HttpService {
 public:
  AgentStatus(const AgentOptions& options, api_server::Clock clock);

  void publish(AgentState state);
  void publish(const AgentPlan& plan);
  void solved(const SolvedLine& line);  // on the planner's thread

  std::optional<http::HttpResponse> refuse(const http::HttpRequest& head) override;
  void serve(std::shared_ptr<http::HttpExchange> exchange) override;
  void gone(const std::shared_ptr<http::HttpExchange>&) override {}
  void answered(const http::HttpRequest&, unsigned, bool) override {}
  void dropped(std::string_view) override {}
  std::string date() override { return date_.now(); }

 private:
  http::HttpResponse answer(const http::HttpRequest& request);
  bool is_set_aside(const api_server::KindReport& kind) const;
  std::string ready_text() const;
  std::string metrics() const;
  std::string status_json() const;
  std::string report() const;

  const AgentOptions& options_;
  const api_server::Clock clock_;
  HttpDate date_;
  mutable std::mutex mutex_;
  AgentState state_;
  SolvingMetrics solving_;
  SnapshotMetrics snapshots_;
  std::int64_t planned_at_ = 0;                    // seconds since 1970 of the last plan; 0: there is none
  std::shared_ptr<const ClusterObjects> cluster_;  // of the last plan; none: there is no plan yet
  std::string plan_;
  std::size_t partial_gangs_ = 0;  // of the last plan
  http::Histogram cycle_seconds_;
};

}  // namespace muster::cli
