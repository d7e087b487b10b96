#include "cli/serve/service.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "cli/terminal/terminal.h"

namespace muster::cli {
namespace {

constexpr std::string_view kJson = "application/json", kLines = "application/x-ndjson", kText = "text/plain";
constexpr std::string_view kBudgetField = "Muster-Budget", kNoteField = "Muster-Note",
                           kSchedulersField = "Muster-Scheduler-Name", kProtectField = "Muster-Protect",
                           kExportPath = "/v1/export", kStatePath = "/v1/state", kDeltaPath = "/v1/state/delta";

struct Route {
  std::string_view path, allowed;
  std::string_view types;  // of bodies
};
constexpr std::array<Route, 10> kRoutes = {{{"/v1/solve", "POST", "application/json or application/x-ndjson"},
                                            {"/v1/verify", "POST", "application/x-ndjson"},
                                            {"/v1/import", "POST", "application/json"},
                                            {"/v1/export", "POST", "application/x-ndjson"},
                                            {kStatePath, "GET, HEAD, POST", "application/json"},
                                            {kDeltaPath, "POST", "application/json"},
                                            {"/healthz", "GET, HEAD", ""},
                                            {"/readyz", "GET, HEAD", ""},
                                            {"/version", "GET, HEAD", ""},
                                            {"/metrics", "GET, HEAD", ""}}};

const Route* route_of(std::string_view path) {
  const auto* found = std::ranges::find(kRoutes, path, &Route::path);
  return found == kRoutes.end() ? nullptr : found;
}

// Without parameters, in lower case; a request without it sends JSON.
std::string media_type(const http::HttpRequest& request) {
  std::string_view type = request.field("Content-Type");
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  std::string small(type.empty() ? kJson : type);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

bool allows(const Route& route, std::string_view method) {
  for (std::size_t at = 0; at < route.allowed.size();) {
    const std::size_t end = std::min(route.allowed.find(", ", at), route.allowed.size());
    if (route.allowed.substr(at, end - at) == method) return true;
    at = end + 2;
  }
  return false;
}

bool takes(const Route& route, const std::string& type) {
  if (type == kLines) return route.types.find(kLines) != std::string_view::npos;
  return type == kJson && route.types.starts_with(kJson);
}

unsigned status_of(const InputError& error) {
  return error.code == ErrorCode::kInternalError ? 500 : error.code == ErrorCode::kTooLarge ? 413 : 400;
}

std::string budget_text(Nanoseconds budget) { return fmt::format("{}ms", static_cast<double>(budget) / 1e6); }

http::HttpResponse plain(unsigned status, std::string_view text) {
  return {status, std::string(kText), std::string(text) + "\n", {}};
}

std::string_view next_line(std::string_view text, std::size_t& at) {
  const std::size_t end = std::min(text.find('\n', at), text.size());
  const std::string_view line = text.substr(at, end - at);
  at = std::min(end + 1, text.size());
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

// As a field of a header may be.
std::string in_ascii(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E; }, '?');
  return out;
}

WorkKind kind_of(const http::HttpRequest& request) {
  if (request.path == kExportPath) return WorkKind::kExport;
  if (request.path == "/v1/verify") return WorkKind::kVerify;
  if (request.path == kStatePath) return WorkKind::kSetState;
  if (request.path == kDeltaPath) return WorkKind::kChangeState;
  if (request.path == "/v1/import") return WorkKind::kImport;
  return request.body.empty() ? WorkKind::kSolveState : WorkKind::kSolve;
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r\n") == std::string_view::npos; }

}  // namespace

// A request of many lines: each is queued once the one before it is answered, and its client has taken the answers
// before that.
class ServeService::LineStream : public std::enable_shared_from_this<LineStream> {
 public:
  LineStream(ServeService& service, std::shared_ptr<http::HttpExchange> exchange, WorkKind kind)
      : service_(service),
        exchange_(std::move(exchange)),
        kind_(kind),
        options_(service.work_options(exchange_->request)),
        text_(exchange_->request.body) {}

  // False: there is not a single line, and nothing has been answered.
  bool begin(http::HttpResponse head) {
    QueuedLine work;
    if (!take(work)) return false;
    exchange_->begin(std::move(head));
    push(std::move(work));
    return true;
  }

 private:
  bool take(QueuedLine& work) {
    const auto line = next();
    if (!line) return false;
    work.text = *line;
    work.number = number_;
    if (kind_ == WorkKind::kVerify) work.plan = next();
    return true;
  }

  // The next one that is not blank.
  std::optional<std::string_view> next() {
    while (at_ < text_.size()) {
      const std::string_view line = next_line(text_, at_);
      ++number_;
      if (!is_blank(line)) return line;
    }
    return std::nullopt;
  }

  void push(QueuedLine work) {
    work.kind = kind_;
    work.exchange = exchange_;
    work.arrived = portfolio::Clock::now();
    work.options = options_;
    work.done = std::make_shared<QueuedLine::Done>([self = shared_from_this()](std::optional<ServeAnswer> answer) {
      self->service_.post_([self, answer = std::move(answer)]() mutable {
        self->service_.attempt(self->exchange_, [&] { self->take_answer(std::move(answer)); });
      });
    });
    service_.queue_.push(std::move(work));
  }

  void take_answer(std::optional<ServeAnswer> answer) {
    if (answer) service_.tell(exchange_->request, *answer);
    if (!answer || answer->text.empty() || exchange_->is_gone()) {
      service_.release(exchange_->request);
      return exchange_->abandon();
    }
    ++unsent_;
    exchange_->write(std::move(answer->text), [self = shared_from_this()] {
      --self->unsent_;
      if (std::exchange(self->is_held_up_, false)) self->service_.attempt(self->exchange_, [&] { self->go_on(); });
    });
    unsent_ > 1 ? void(is_held_up_ = true) : go_on();
  }

  void go_on() {
    QueuedLine work;
    if (take(work)) return push(std::move(work));
    service_.release(exchange_->request);
    exchange_->end();
  }

  ServeService& service_;
  const std::shared_ptr<http::HttpExchange> exchange_;
  const WorkKind kind_;
  const std::shared_ptr<const WorkOptions> options_;
  const std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
  int unsent_ = 0;
  bool is_held_up_ = false;
};

ServeService::ServeService(const ServeOptions& options, Metrics& metrics, Console& console, ServeQueue& queue)
    : metrics_(metrics), console_(console), queue_(queue) {
  set_options(options);
}

void ServeService::attach(Post post, std::function<std::size_t()> connections) {
  post_ = std::move(post);
  connections_ = std::move(connections);
}

void ServeService::set_options(const ServeOptions& options) {
  max_in_flight_ = options.max_in_flight;
  options_ = std::make_shared<const WorkOptions>(WorkOptions{options.reader, options.line});
}

std::shared_ptr<const WorkOptions> ServeService::work_options(const http::HttpRequest& request) const {
  const std::string_view budget = request.field(kBudgetField), schedulers = request.field(kSchedulersField),
                         protect = request.field(kProtectField);
  if (budget.empty() && schedulers.empty() && protect.empty()) return options_;
  WorkOptions options = *options_;
  if (!budget.empty()) options.line.budget_above_all = duration_in(budget);
  if (!schedulers.empty()) options.reader.policy.schedulers = *muster_v1::parse_scheduler_names(schedulers);
  if (!protect.empty()) options.reader.policy.protect.emplace_back(protect);
  return std::make_shared<const WorkOptions>(std::move(options));
}

std::optional<http::HttpResponse> ServeService::refuse_route(const http::HttpRequest& head) {
  const Route* route = route_of(head.path);
  if (route == nullptr) {
    return http::problem_response({404,
                                   http::HttpFault::kNotFound,
                                   "unknown path; known paths: /v1/solve, /v1/verify, /v1/import, /v1/export, "
                                   "/v1/state, /v1/state/delta, /healthz, /readyz, /version, /metrics",
                                   {}},
                                  head.id);
  }
  if (!allows(*route, head.method)) {
    http::HttpResponse response = http::problem_response(
        {405, http::HttpFault::kMethodNotAllowed, fmt::format("{} accepts {}", route->path, route->allowed), {}},
        head.id);
    response.fields.push_back({"Allow", std::string(route->allowed)});
    return response;
  }
  return std::nullopt;
}

std::optional<http::HttpResponse> ServeService::refuse(const http::HttpRequest& head) {
  if (auto refusal = refuse_route(head)) return refusal;
  if (head.method != "POST") return std::nullopt;
  const Route* route = route_of(head.path);
  if (!takes(*route, media_type(head))) {
    return http::problem_response(
        {415, http::HttpFault::kUnsupportedMediaType, fmt::format("{} accepts {}", route->path, route->types), {}},
        head.id);
  }
  if (!head.field("Content-Encoding").empty()) {
    return http::problem_response({415,
                                   http::HttpFault::kUnsupportedContentEncoding,
                                   "compressed bodies are not supported; omit Content-Encoding",
                                   {}},
                                  head.id);
  }
  const std::string_view budget = head.field(kBudgetField);
  const auto duration = duration_in(budget);
  if (!budget.empty() && (!duration || *duration <= 0)) {
    return http::problem_response({400,
                                   ErrorCode::kInvalidValue,
                                   "Muster-Budget: is not a duration greater than zero (\"200ms\", \"1s\", \"1m30s\")",
                                   {}},
                                  head.id);
  }
  const std::string_view schedulers = head.field(kSchedulersField);
  if (const auto names = muster_v1::parse_scheduler_names(schedulers); !schedulers.empty() && !names) {
    const std::string message = fmt::format("{}: {}", kSchedulersField, names.error().message);
    return http::problem_response({400, names.error().code, message, {}}, head.id);
  }
  if (!is_cluster_name(head.field(kClusterField))) {
    const std::string message = fmt::format("{}: use at most 128 letters, digits and -._:/", kClusterField);
    return http::problem_response({400, ErrorCode::kInvalidValue, message, {}}, head.id);
  }
  if (!sequence_in(head.field(kSequenceField))) {
    const std::string message = fmt::format("{}: use a whole number below 2^63", kSequenceField);
    return http::problem_response({400, ErrorCode::kInvalidValue, message, {}}, head.id);
  }
  const std::string_view protect = head.field(kProtectField);
  if (const auto selector = muster_v1::parse_label_selector(protect); !protect.empty() && !selector) {
    const std::string message = fmt::format("{}: {}", kProtectField, selector.error().message);
    return http::problem_response({400, selector.error().code, message, {}}, head.id);
  }
  return std::nullopt;
}

void ServeService::serve(std::shared_ptr<http::HttpExchange> exchange) {
  const http::HttpRequest& request = exchange->request;
  Started& started = started_[&request];
  started.at = portfolio::Clock::now();
  if (request.method != "POST") return exchange->respond(look_up(request));
  if (in_flight_ >= max_in_flight_) {
    http::HttpResponse response =
        http::problem_response({429,
                                http::HttpFault::kQueueFull,
                                fmt::format("{} requests are already in flight; try again later", in_flight_.load()),
                                {}},
                               request.id);
    response.fields.push_back({"Retry-After", "1"});
    return exchange->respond(std::move(response));
  }
  started.is_in_flight = true;
  ++in_flight_;
  const WorkKind kind = kind_of(request);
  if (media_type(request) != kLines || kind == WorkKind::kExport) return serve_document(kind, exchange);
  http::HttpResponse head{200, std::string(kLines), {}, {}};
  if (!request.field(kBudgetField).empty()) {
    head.fields.push_back({std::string(kBudgetField), budget_text(*duration_in(request.field(kBudgetField)))});
  }
  const auto stream = std::make_shared<LineStream>(*this, exchange, kind);
  if (stream->begin(std::move(head))) return;
  metrics_.refused_input(ErrorCode::kInvalidJson);
  release(request);
  exchange->respond(
      http::problem_response({400, ErrorCode::kInvalidJson, "the body contains no line", "$"}, request.id));
}

http::HttpResponse ServeService::look_up(const http::HttpRequest& request) const {
  if (request.path == "/healthz") {
    return queue_.is_stuck() ? plain(503, "a plan is more than two minutes overdue") : plain(200, "ok");
  }
  if (request.path == "/readyz") return is_draining_ ? plain(503, "shutting down") : plain(200, "ready");
  if (request.path == kStatePath) {
    if (const auto report = queue_.states().report(request.field(kClusterField)))
      return {200, std::string(kJson), state_text(*report), {}};
    return http::problem_response({404, http::HttpFault::kNoState, "the server holds no state of this cluster", {}},
                                  request.id);
  }
  if (request.path == "/version") return {200, std::string(kJson), "{\"version\":\"" MUSTER_VERSION "\"}\n", {}};
  const MetricsNow now{queue_.depth(),          in_flight_,
                       connections_(),          queue_.worker_failures(),
                       queue_.finished_gangs(), queue_.states().summary()};
  return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_.text(now), {}};
}

void ServeService::serve_document(WorkKind kind, const std::shared_ptr<http::HttpExchange>& exchange) {
  QueuedLine work;
  work.kind = kind;
  work.exchange = exchange;
  work.text = exchange->request.body;
  work.arrived = started_[&exchange->request].at;
  work.options = work_options(exchange->request);
  work.done = std::make_shared<QueuedLine::Done>([this, exchange](std::optional<ServeAnswer> answer) {
    post_([this, exchange, answer = std::move(answer)]() mutable {
      release(exchange->request);
      attempt(exchange, [&] { answer ? answer_document(exchange, *std::move(answer)) : exchange->abandon(); });
    });
  });
  queue_.push(std::move(work));
}

void ServeService::answer_document(const std::shared_ptr<http::HttpExchange>& exchange, ServeAnswer answer) {
  tell(exchange->request, answer);
  if (answer.conflict) {
    return exchange->respond(
        http::problem_response({409, *answer.conflict, std::move(answer.error.message), {}}, exchange->request.id));
  }
  if (answer.is_error) {
    const InputError& error = answer.error;
    return exchange->respond(
        http::problem_response({status_of(error), error.code, error.message, error.path}, exchange->request.id));
  }
  const bool is_export = exchange->request.path == kExportPath;
  http::HttpResponse response{200, std::string(is_export ? kLines : kJson), std::move(answer.text), {}};
  for (std::size_t at = 0; is_export && at < answer.log.size();)
    response.fields.push_back({std::string(kNoteField), in_ascii(next_line(answer.log, at))});
  if (answer.budget > 0) response.fields.push_back({std::string(kBudgetField), budget_text(answer.budget)});
  exchange->respond(std::move(response));
}

// Log records and metrics of an answer: a record for each line of its log.
void ServeService::tell(const http::HttpRequest& request, const ServeAnswer& answer) {
  if (answer.is_error && !answer.conflict) metrics_.refused_input(answer.error.code);
  for (std::size_t at = 0; at < answer.log.size();) {
    console_.say(answer.is_defect ? Severity::kError : Severity::kWarning, next_line(answer.log, at),
                 {{"requestId", request.id}, {"line", fmt::format("{}", answer.number), true}});
  }
}

void ServeService::release(const http::HttpRequest& request) {
  const auto found = started_.find(&request);
  if (found == started_.end() || !std::exchange(found->second.is_in_flight, false)) return;
  --in_flight_;
}

void ServeService::gone(const std::shared_ptr<http::HttpExchange>& exchange) {
  if (queue_.drop(exchange.get())) exchange->abandon();
}

void ServeService::answered(const http::HttpRequest& request, unsigned status, bool is_whole) {
  const auto found = started_.find(&request);
  portfolio::Clock::duration duration{};
  if (found != started_.end()) {
    duration = portfolio::Clock::now() - found->second.at;
    release(request);
    started_.erase(&request);
  }
  const Route* route = route_of(request.path);
  metrics_.answered(route == nullptr ? "other" : route->path, is_whole ? status : 0, duration);
  if (is_whole && status < 400 && request.method != "POST") return;
  const double milliseconds = std::chrono::duration<double, std::milli>(duration).count();
  console_.say(status >= 500 ? Severity::kWarning : Severity::kInformation,
               is_whole ? "answered" : "the client did not take the response",
               {{"requestId", request.id},
                {"method", request.method},
                {"path", request.path},
                {"status", fmt::format("{}", status), true},
                {"durationMs", fmt::format("{:.3f}", milliseconds), true}});
}

void ServeService::dropped(std::string_view reason) { metrics_.dropped(reason); }

}  // namespace muster::cli
