#include "cli/agent/status.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "cli/serve/metrics.h"
#include "io/http/service.h"
#include "io/json/json_writer.h"
#include "io/muster_v1/plan_line.h"
#include "io/report/block.h"
#include "io/report/cluster.h"
#include "model/build/build_problem.h"
#include "model/objective/fair_share.h"

namespace muster::cli {
namespace {

constexpr std::array<std::string_view, 7> kPaths = {"/healthz", "/readyz",      "/metrics",  "/report",
                                                    "/v1/plan", "/v1/snapshot", "/v1/status"};
constexpr const char* kText = "text/plain; charset=utf-8";
constexpr const char* kJson = "application/json";

double seconds_since(std::chrono::steady_clock::time_point then, std::chrono::steady_clock::time_point now) {
  return std::chrono::duration<double>(now - then).count();
}

}  // namespace

AgentStatus::AgentStatus(const AgentOptions& options, api_server::Clock clock)
    : options_(options), clock_(std::move(clock)), cycle_seconds_({0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10}) {}

void AgentStatus::publish(AgentState state) {
  const std::scoped_lock lock(mutex_);
  state_ = std::move(state);
}

void AgentStatus::publish(const AgentPlan& plan) {
  const std::scoped_lock lock(mutex_);
  cycle_seconds_.observe(plan.elapsed.count());
  if (plan.answer.is_error) return;
  cluster_ = plan.cluster;
  plan_ = plan.answer.text;
  partial_gangs_ = plan.staleness.partial.size();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  planned_at_ = std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

void AgentStatus::solved(const SolvedLine& line) {
  PlanCounts counts(line);
  const std::scoped_lock lock(mutex_);
  solving_.solved(line, {});
  snapshots_.solved(line.problem.snapshot->anomalies, std::move(counts));
}

std::optional<http::HttpResponse> AgentStatus::refuse(const http::HttpRequest& head) {
  if (std::ranges::find(kPaths, head.path) == kPaths.end()) {
    return http::problem_response(
        {404, http::HttpFault::kNotFound, fmt::format("unknown path; known paths: {}", fmt::join(kPaths, ", ")), {}},
        head.id);
  }
  if (head.method == "GET" || head.method == "HEAD") return std::nullopt;
  return http::problem_response({405, http::HttpFault::kMethodNotAllowed, "use GET", {}}, head.id);
}

void AgentStatus::serve(std::shared_ptr<http::HttpExchange> exchange) { exchange->respond(answer(exchange->request)); }

http::HttpResponse AgentStatus::answer(const http::HttpRequest& request) {
  if (request.path == "/report") {
    const std::string page = report();
    return page.empty() ? http::HttpResponse{503, kText, "there is no plan yet\n", {}}
                        : http::HttpResponse{200, "text/html; charset=utf-8", page, {}};
  }
  const std::scoped_lock lock(mutex_);
  if (request.path == "/healthz") return {200, kText, "ok\n", {}};
  if (request.path == "/readyz")
    return state_.is_complete ? http::HttpResponse{200, kText, ready_text(), {}}
                              : http::HttpResponse{503, kText, "the cluster has not been read yet\n", {}};
  if (request.path == "/metrics") return {200, "text/plain; version=0.0.4; charset=utf-8", metrics(), {}};
  if (request.path == "/v1/status") return {200, kJson, status_json(), {}};
  if (!cluster_) return {503, kText, "there is no plan yet\n", {}};
  return {200, kJson, request.path == "/v1/plan" ? plan_ : kubernetes::text_of(cluster_->objects) + '\n', {}};
}

bool AgentStatus::is_set_aside(const api_server::KindReport& kind) const {
  return std::ranges::find(state_.set_aside, kind.kind.known) != state_.set_aside.end();
}

std::string AgentStatus::ready_text() const {
  std::string text = "ready\n";
  for (const api_server::KindReport& kind : state_.kinds) {
    if (is_set_aside(kind)) text += fmt::format("without {}: {}\n", kind.kind.title(), kind.error);
  }
  return text;
}

// Requires the lock.
std::string AgentStatus::metrics() const {
  std::string text;
  http::PrometheusText out(text);
  const AgentCounts& counts = state_.counts;
  const auto gauge = [&](std::string_view name, std::string_view help, double value) {
    out.family(name, "gauge", help).sample({}, value);
  };
  const auto counter = [&](std::string_view name, std::string_view help, std::int64_t value) {
    out.family(name, "counter", help).sample({}, static_cast<double>(value));
  };
  out.family("muster_build_info", "gauge", "Always 1; the labels identify the build.")
      .sample({{"version", MUSTER_VERSION}}, 1);
  gauge("muster_agent_complete", "1 once every kind that there is has been listed.", state_.is_complete ? 1 : 0);
  gauge("muster_agent_leads", "1 if this agent acts.", state_.leads ? 1 : 0);
  gauge("muster_agent_partial_gangs", "Gangs of which pods run, but fewer than their minimum.",
        static_cast<double>(partial_gangs_));
  gauge("muster_agent_objects", "Objects that are kept.", static_cast<double>(state_.objects));
  gauge("muster_agent_object_bytes", "Memory that the kept objects take.", static_cast<double>(state_.bytes));
  out.family("muster_agent_last_plan_timestamp_seconds", "gauge", "When the last plan was made; absent before it.");
  if (planned_at_ != 0) out.sample({}, static_cast<double>(planned_at_));
  counter("muster_agent_plans_total", "Plans that were made.", counts.plans);
  counter("muster_agent_unreadable_total", "Attempts to plan that failed on the objects.", counts.unreadable);
  counter("muster_agent_stale_plans_total", "Plans that were not carried out, since the cluster had changed.",
          counts.stale);
  counter("muster_agent_failures_total", "Failed watches, renewals of the Lease and Events.", counts.messages);
  out.family("muster_agent_acts_total", "counter", "Pods by what became of a plan's act.")
      .sample({{"act", "started"}}, static_cast<double>(counts.started))
      .sample({{"act", "evicted"}}, static_cast<double>(counts.evicted))
      .sample({{"act", "refused"}}, static_cast<double>(counts.refused))
      .sample({{"act", "taken_back"}}, static_cast<double>(counts.taken_back))
      .sample({{"act", "held_back"}}, static_cast<double>(counts.held_back));
  out.family("muster_agent_cycle_seconds", "histogram", "From the objects to the plan.").histogram({}, cycle_seconds_);
  out.family("muster_agent_watch_silence_seconds", "gauge", "Since the last object or bookmark of a kind.");
  const auto now = clock_();
  for (const api_server::KindReport& kind : state_.kinds) {
    if (kind.last_event == std::chrono::steady_clock::time_point{}) continue;
    out.sample({{"kind", kind.kind.title()}}, seconds_since(kind.last_event, now));
  }
  out.family("muster_agent_watches", "gauge", "1 for the state of a kind's watch.");
  for (const api_server::KindReport& kind : state_.kinds)
    out.sample({{"kind", kind.kind.title()}, {"state", api_server::watch_state_text(kind.state)}}, 1);
  out.family("muster_agent_kind_set_aside", "gauge", "1 for a kind that cannot be read: what depends on it is held.");
  for (const api_server::KindReport& kind : state_.kinds)
    out.sample({{"kind", kind.kind.title()}}, is_set_aside(kind) ? 1 : 0);
  solving_.write(out);
  snapshots_.write(out);
  write_process_metrics(out);
  return text;
}

// Requires the lock.
std::string AgentStatus::status_json() const {
  std::string text;
  json::JsonWriter json(text);
  json.raw(R"({"mode":)").string(apply_mode_name(options_.mode));
  json.raw(R"(,"dryRun":)").raw(options_.dry_run ? "true" : "false");
  json.raw(R"(,"identity":)").string(options_.identity);
  json.raw(R"(,"leads":)").raw(state_.leads ? "true" : "false");
  json.raw(R"(,"holder":)").string(state_.holder);
  json.raw(R"(,"complete":)").raw(state_.is_complete ? "true" : "false");
  json.raw(R"(,"revision":)").integer(static_cast<std::int64_t>(state_.revision));
  json.raw(R"(,"objects":)").integer(static_cast<std::int64_t>(state_.objects));
  json.raw(R"(,"bytes":)").integer(static_cast<std::int64_t>(state_.bytes));
  json.raw(R"(,"blocked":)").string(state_.blocked);
  json.raw(R"(,"lastWarning":)").string(state_.last_warning);
  const AgentCounts& counts = state_.counts;
  json.raw(R"(,"plans":)").integer(counts.plans).raw(R"(,"stale":)").integer(counts.stale);
  json.raw(R"(,"started":)").integer(counts.started).raw(R"(,"evicted":)").integer(counts.evicted);
  json.raw(R"(,"refused":)").integer(counts.refused).raw(R"(,"kinds":[)");
  bool first = true;
  for (const api_server::KindReport& kind : state_.kinds) {
    json.separate(first).raw(R"({"kind":)").string(kind.kind.title());
    json.raw(R"(,"state":)").string(api_server::watch_state_text(kind.state));
    json.raw(R"(,"setAside":)").raw(is_set_aside(kind) ? "true" : "false");
    json.raw(R"(,"objects":)").integer(static_cast<std::int64_t>(kind.objects));
    json.raw(R"(,"error":)").string(kind.error).raw("}");
  }
  json.raw("]}\n");
  return text;
}

std::string AgentStatus::report() const {
  std::shared_ptr<const ClusterObjects> cluster;
  std::string line;
  {
    const std::scoped_lock lock(mutex_);
    cluster = cluster_;
    line = plan_;
  }
  if (!cluster) return {};
  kubernetes::KubernetesOptions kubernetes = options_.reader.kubernetes;
  kubernetes.time = cluster->time;
  Result<Snapshot> snapshot = muster_v1::SnapshotReader(options_.reader).read(cluster->objects, kubernetes);
  if (!snapshot) return {};
  const Result<Problem> problem = build_problem(*snapshot);
  if (!problem) return {};
  Result<muster_v1::ReadPlan> plan = muster_v1::read_plan(line, &*problem);
  if (!plan) return {};
  std::vector<reporting::ReportedPlan> plans;
  plans.push_back({"agent", std::move(*plan), {}});
  std::string data = R"({"version":1,"title":"Muster agent","clusters":[)";
  reporting::write_cluster({*problem, compute_fair_shares(*problem), plans}, data);
  data += R"(],"simulations":[],"traces":[],"summaries":[],"figures":[],"faults":[]})";
  return reporting::report_page(data);
}

}  // namespace muster::cli
