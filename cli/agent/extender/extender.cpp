#include "cli/agent/extender/extender.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/http/service.h"
#include "model/snapshot/snapshot.h"

namespace muster::cli {
namespace {

constexpr std::array<std::string_view, 4> kExtenderPaths = {"/extender/filter", "/extender/prioritize",
                                                            "/extender/preempt", "/extender/bind"};

constexpr std::size_t kMostReason = 240;  // bytes: it is repeated for each node
constexpr std::size_t kMostPassed = 100'000;

http::HttpResponse json_response(std::string text) { return {200, "application/json", std::move(text), {}}; }

http::HttpResponse problem_of(const InputError& error, const http::HttpRequest& request) {
  const unsigned status = error.code == ErrorCode::kInternalError ? 500 : 400;
  return http::problem_response(
      {status, error.code, fmt::format("{}: {} {}", request.path, error.path, error.message), error.path}, request.id);
}

// Cut between two characters.
std::string shortened(std::string text) {
  if (text.size() <= kMostReason) return text;
  std::size_t end = kMostReason;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

std::optional<std::size_t> position_of(const ExtenderArguments& arguments, std::string_view node) {
  const auto found = std::ranges::find(arguments.nodes, node);
  if (found == arguments.nodes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - arguments.nodes.begin());
}

muster_v1::ReaderOptions reader_of(const AgentOptions& options) {
  muster_v1::ReaderOptions reader = options.reader;
  reader.threads = 1;
  reader.kubernetes.time = 0;  // no rule that is read here depends on it
  return reader;
}

}  // namespace

Extender::Extender(const AgentOptions& options, api_server::Clock clock, Bind bind)
    : options_(options), clock_(std::move(clock)), bind_(std::move(bind)), pods_(reader_of(options)) {}

void Extender::publish(std::shared_ptr<const PlanView> view, std::shared_ptr<SpareCapacity> room) {
  const std::scoped_lock lock(mutex_);
  view_ = std::move(view);
  room_ = std::move(room);
  passed_before_ = std::exchange(passed_, {});
}

void Extender::block(std::string why) {
  const std::scoped_lock lock(mutex_);
  blocked_ = std::move(why);
}

std::optional<http::HttpResponse> Extender::refuse(const http::HttpRequest& head) {
  if (std::ranges::find(kExtenderPaths, head.path) == kExtenderPaths.end()) {
    return http::problem_response({404,
                                   http::HttpFault::kNotFound,
                                   fmt::format("unknown path; known paths: {}", fmt::join(kExtenderPaths, ", ")),
                                   {}},
                                  head.id);
  }
  if (head.method == "POST") return std::nullopt;
  return http::problem_response({405, http::HttpFault::kMethodNotAllowed, "use POST", {}}, head.id);
}

void Extender::serve(std::shared_ptr<http::HttpExchange> exchange) {
  const http::HttpRequest& request = exchange->request;
  try {
    if (request.path == kExtenderPaths[3]) {
      if (auto response = bind(exchange)) exchange->respond(*std::move(response));
      return;
    }
    Result<std::string> answer = request.path == kExtenderPaths[0]   ? filter(request.body)
                                 : request.path == kExtenderPaths[1] ? prioritize(request.body)
                                                                     : preempt(request.body);
    exchange->respond(answer ? json_response(*std::move(answer)) : problem_of(answer.error(), request));
  } catch (const std::exception& defect) {
    exchange->respond(problem_of({ErrorCode::kInternalError, "$", defect.what()}, request));
  }
}

void Extender::gone(const std::shared_ptr<http::HttpExchange>& exchange) {
  const auto found = std::ranges::find(waiting_, exchange, [](const auto& entry) { return entry.second; });
  if (found == waiting_.end()) return;
  waiting_.erase(found);
  exchange->abandon();
}

void Extender::answer(std::uint64_t number, std::string_view error) {
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return;
  const std::shared_ptr<http::HttpExchange> exchange = std::move(found->second);
  waiting_.erase(found);
  exchange->respond(json_response(error_answer(error.empty() ? "" : fmt::format("muster: {}", error))));
}

void Extender::answer_all(std::string_view error) {
  while (!waiting_.empty()) answer(waiting_.begin()->first, error);
}

// --- What is asked

Result<std::string> Extender::filter(const std::string& body) {
  const Result<ExtenderArguments> arguments = reader_.arguments(body);
  if (!arguments) return arguments.error();
  const std::scoped_lock lock(mutex_);
  if (is_foreign(arguments->pod)) {
    remember(arguments->pod.uid, {});
    return reader_.filter_answer(*arguments, {{}, true, {}});
  }
  const std::string why = obstacle();
  if (!why.empty()) return error_answer("muster: " + why);
  const Decision decision = decide(*arguments);
  return reader_.filter_answer(*arguments, {decision.node, false, shortened("muster: " + decision.reason)});
}

// filter leaves one node, so that its score does not matter; without filter, this is advice.
Result<std::string> Extender::prioritize(const std::string& body) {
  const Result<ExtenderArguments> arguments = reader_.arguments(body);
  if (!arguments) return arguments.error();
  const std::scoped_lock lock(mutex_);
  if (is_foreign(arguments->pod) || !obstacle().empty()) return priorities_answer(arguments->nodes, {});
  return priorities_answer(arguments->nodes, decide(*arguments).node);
}

Result<std::string> Extender::preempt(const std::string& body) {
  const Result<ExtenderPreemption> asked = reader_.preemption(body);
  if (!asked) return asked.error();
  const std::scoped_lock lock(mutex_);
  if (is_foreign(asked->pod)) return preemption_answer(asked->victims);
  const ViewedPod* pod = obstacle().empty() && !options_.dry_run ? planned(asked->pod) : nullptr;
  std::map<std::string, ExtenderPreemption::Victims, std::less<>> allowed;
  if (pod != nullptr && !pod->node.empty()) {
    const auto offered = asked->victims.find(pod->node);
    const auto& victims = view_->gang_of(*pod).victims;
    const auto found = victims.find(pod->node);
    const auto is_victim = [&](const std::string& uid) {
      return found != victims.end() && std::ranges::find(found->second, uid) != found->second.end();
    };
    if (offered != asked->victims.end() && !offered->second.uids.empty() &&
        std::ranges::all_of(offered->second.uids, is_victim))
      allowed.insert(*offered);
  }
  return preemption_answer(allowed);
}

std::optional<http::HttpResponse> Extender::bind(const std::shared_ptr<http::HttpExchange>& exchange) {
  Result<ExtenderBinding> binding = reader_.binding(exchange->request.body);
  if (!binding) return problem_of(binding.error(), exchange->request);
  {
    const std::scoped_lock lock(mutex_);
    const bool has_passed = passed(*binding);
    const std::string why = has_passed ? "" : obstacle();
    if (!why.empty()) return json_response(error_answer("muster: " + why));
    if (!has_passed && view_->find(binding->pod) == nullptr)
      return json_response(error_answer("muster: no plan has the pod there"));
  }
  const std::uint64_t number = ++last_number_;
  waiting_.emplace(number, exchange);
  bind_(*std::move(binding), number);
  return std::nullopt;
}

// --- What is decided

std::string Extender::obstacle() const {
  if (!blocked_.empty()) return blocked_;
  if (!view_) return "there is no plan yet";
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(clock_() - view_->made());
  return age > most_age(options_) ? fmt::format("the last plan is {} s old", age.count()) : "";
}

bool Extender::is_foreign(const ExtenderPod& pod) const {
  const auto& schedulers = options_.reader.policy.schedulers;
  const std::string_view own = pod.scheduler.empty() ? kDefaultScheduler : std::string_view(pod.scheduler);
  return !schedulers.empty() && std::ranges::find(schedulers, own) == schedulers.end();
}

// None: no plan has seen it, or only another pod of this name.
const ViewedPod* Extender::planned(const ExtenderPod& pod) const {
  const ViewedPod* found = view_->find(pod.key);
  const bool is_other = found != nullptr && !found->uid.empty() && !pod.uid.empty() && found->uid != pod.uid;
  return is_other ? nullptr : found;
}

Extender::Decision Extender::decide(const ExtenderArguments& arguments) {
  const ViewedPod* pod = planned(arguments.pod);
  if (pod == nullptr) return place_unplanned(arguments);
  const ViewedGang& gang = view_->gang_of(*pod);
  if (!pod->starts())
    return {{}, fmt::format("{} waits: {}", gang.name, gang.waits.empty() ? "others of it start first" : gang.waits)};
  const auto node = position_of(arguments, pod->node);
  return {node, node ? "" : fmt::format("the plan has it on {}, which is not among these nodes", pod->node)};
}

Extender::Decision Extender::place_unplanned(const ExtenderArguments& arguments) {
  const auto known = passed_.find(arguments.pod.uid);
  if (known != passed_.end()) {
    if (const auto node = position_of(arguments, known->second)) return {node, {}};
  }
  const Result<Snapshot> read = pods_.read(reader_.pod_list());
  if (!read || read->pods.size() != 1) return {{}, "no plan has seen it yet"};
  const SnapshotPod& pod = read->pods[0];
  if (!pod.gang.empty() || pod.status != PodStatus::kPending || !pod.notes.held.empty())
    return {{}, "no plan has seen it yet, and it does not start by itself"};
  const std::string_view queue =
      pod.own_gang < 0 ? GangTerms().queue : read->own_gang_terms[static_cast<std::size_t>(pod.own_gang)].queue;
  const PodSpec& spec = read->pod_specs[pod.spec];
  if (!room_ || !room_->is_open_to(queue)) return {{}, "no plan has seen it yet, and its queue has bounds"};
  if (!SpareCapacity::obstacle(spec).empty())
    return {{}, fmt::format("no plan has seen it yet, and {}", SpareCapacity::obstacle(spec))};
  const auto node = room_->place(spec, arguments.nodes);
  if (!node) return {{}, "no plan has seen it yet, and the last one leaves no room for it"};
  remember(arguments.pod.uid, arguments.nodes[*node]);
  return {node, {}};
}

bool Extender::passed(const ExtenderBinding& binding) const {
  return std::ranges::any_of(std::array{&passed_, &passed_before_}, [&](const Passed* passed) {
    const auto found = passed->find(binding.uid);
    return found != passed->end() && (found->second.empty() || found->second == binding.node);
  });
}

void Extender::remember(const std::string& uid, std::string_view node) {
  if (uid.empty()) return;
  if (passed_.size() >= kMostPassed) passed_.clear();
  passed_[uid] = node;
}

}  // namespace muster::cli
