#include "cli/agent/extender/gang_binder.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include "io/api_server/backoff.h"
#include "io/json/json_writer.h"

namespace muster::cli {
namespace {

std::string binding_text(const ExtenderBinding& binding) {
  const std::size_t slash = binding.pod.find('/');
  std::string text = R"({"apiVersion":"v1","kind":"Binding","metadata":{"namespace":)";
  json::JsonWriter json(text);
  json.string(binding.pod.substr(0, slash)).raw(R"(,"name":)").string(binding.pod.substr(slash + 1));
  if (!binding.uid.empty()) json.raw(R"(,"uid":)").string(binding.uid);
  json.raw(R"(},"target":{"apiVersion":"v1","kind":"Node","name":)").string(binding.node).raw("}}");
  return text;
}

api_server::ApiRequest request_of(const ExtenderBinding& binding, bool dry_run) {
  const std::size_t slash = binding.pod.find('/');
  api_server::ApiRequest request;
  request.method = "POST";
  request.target =
      fmt::format("/api/v1/namespaces/{}/pods/{}/binding?fieldManager=muster{}",
                  api_server::percent_encoded(binding.pod.substr(0, slash)),
                  api_server::percent_encoded(binding.pod.substr(slash + 1)), dry_run ? "&dryRun=All" : "");
  request.content_type = "application/json";
  request.body = binding_text(binding);
  return request;
}

}  // namespace

class GangBinder::Implementation : public std::enable_shared_from_this<Implementation> {
  struct Call {
    ExtenderBinding binding;
    Reply reply;
  };

 public:
  Implementation(api_server::ApiClient& client, bool dry_run, Told told, std::chrono::milliseconds most_wait)
      : client_(client), dry_run_(dry_run), told_(std::move(told)), most_wait_(most_wait) {}

  void publish(std::shared_ptr<const PlanView> view) {
    view_ = std::move(view);
    for (auto at = rounds_.begin(); at != rounds_.end();) {
      Round& round = at->second;
      for (auto call = round.calls.begin(); call != round.calls.end();) {
        const std::string objection = objection_to(call->second.binding, at->first);
        if (objection.empty()) {
          ++call;
          continue;
        }
        call->second.reply(objection);
        call = round.calls.erase(call);
      }
      at = round.calls.empty() ? rounds_.erase(at) : std::next(at);
    }
    std::vector<std::string> gangs;
    for (const auto& [gang, round] : rounds_) gangs.push_back(gang);
    for (const std::string& gang : gangs) run_if_complete(gang);
  }

  void bind(const ExtenderBinding& binding, Reply reply) {
    const ViewedPod* pod = view_ ? view_->find(binding.pod) : nullptr;
    if (pod == nullptr) return bind_all({{binding, std::move(reply)}}, binding.pod);
    const std::string& gang = view_->gang_of(*pod).name;
    const std::string objection = objection_to(binding, gang);
    if (!objection.empty()) return reply(objection);
    const auto [at, is_new] = rounds_.try_emplace(gang, client_.io());
    Round& round = at->second;
    if (is_new) start_timer(gang, round);
    const auto [call, is_first] = round.calls.try_emplace(binding.pod, Call{binding, reply});
    if (!is_first) std::exchange(call->second, Call{binding, std::move(reply)}).reply("asked again");
    run_if_complete(gang);
  }

  void give_up(const std::string& why) {
    for (auto& [gang, round] : std::exchange(rounds_, {})) {
      for (auto& [pod, call] : round.calls) call.reply(why);
    }
  }

 private:
  struct Round {
    explicit Round(boost::asio::io_context& io) : timer(io) {}
    std::map<std::string, Call> calls;  // by pod
    boost::asio::steady_timer timer;
  };

  // Why the plan does not start the pod there with the gang; empty: it does.
  std::string objection_to(const ExtenderBinding& binding, const std::string& gang) const {
    const ViewedPod* pod = view_->find(binding.pod);
    const bool has_left = pod == nullptr || (!pod->uid.empty() && !binding.uid.empty() && pod->uid != binding.uid);
    if (has_left || view_->gang_of(*pod).name != gang) return "the plan has changed";
    if (!pod->starts()) return "the plan does not start it now";
    return pod->node == binding.node ? "" : "the plan has it on " + pod->node;
  }

  void start_timer(const std::string& gang, Round& round) {
    round.timer.expires_after(most_wait_);
    round.timer.async_wait([weak = weak_from_this(), gang](boost::system::error_code error) {
      const auto self = weak.lock();
      if (error || !self) return;
      self->time_out(gang);
    });
  }

  void time_out(const std::string& gang) {
    auto round = rounds_.extract(gang);
    if (round.empty()) return;
    const std::string why =
        fmt::format("only {} of the pods that start with it have come", round.mapped().calls.size());
    told_(fmt::format("the gang {} is not bound: {}", gang, why), true);
    for (auto& [pod, call] : round.mapped().calls) call.reply(why);
  }

  void run_if_complete(const std::string& gang) {
    const auto at = rounds_.find(gang);
    if (at == rounds_.end()) return;
    auto& calls = at->second.calls;
    const ViewedPod* first = view_->find(calls.begin()->first);
    const std::vector<std::string>& starting = view_->gang_of(*first).starting;
    if (!std::ranges::all_of(starting, [&](const std::string& pod) { return calls.contains(pod); })) return;
    std::vector<Call> all;
    for (auto& [pod, call] : calls) all.push_back(std::move(call));
    rounds_.erase(at);
    bind_all(std::move(all), gang);
  }

  // --- Writes

  using Answers = std::vector<std::string>;  // empty: it was taken

  void bind_all(std::vector<Call> calls, const std::string& gang) {
    auto shared = std::make_shared<std::vector<Call>>(std::move(calls));
    if (shared->size() == 1 && !dry_run_) return make(shared, gang);
    send_all(shared, true, [this, shared, gang](const Answers& answers) {
      const auto refused = std::ranges::find_if(answers, [](const std::string& error) { return !error.empty(); });
      if (refused == answers.end() && !dry_run_) return make(shared, gang);
      const std::string why = refused == answers.end() ? "dry run" : "a pod of the gang is refused: " + *refused;
      if (!dry_run_) told_(fmt::format("the gang {} is not bound: {}", gang, why), true);
      for (const Call& call : *shared) call.reply(why);
    });
  }

  void make(const std::shared_ptr<std::vector<Call>>& calls, const std::string& gang) {
    send_all(calls, false, [this, calls, gang](const Answers& answers) {
      for (std::size_t i = 0; i < answers.size(); ++i) {
        const ExtenderBinding& binding = (*calls)[i].binding;
        const std::string what = fmt::format("bind {} on {}, of {}", binding.pod, binding.node, gang);
        told_(answers[i].empty() ? what : fmt::format("{}: refused: {}", what, answers[i]), !answers[i].empty());
        (*calls)[i].reply(answers[i]);
      }
    });
  }

  void send_all(const std::shared_ptr<std::vector<Call>>& calls, bool dry_run,
                std::function<void(const Answers&)> then) {
    struct Sent {
      Answers answers;
      std::size_t left = 0;
      std::function<void(const Answers&)> then;
    };
    auto sent = std::make_shared<Sent>(Sent{Answers(calls->size()), calls->size(), std::move(then)});
    for (std::size_t i = 0; i < calls->size(); ++i) {
      api_server::send_with_retries(client_, request_of((*calls)[i].binding, dry_run), {}, ++requests_,
                                    [weak = weak_from_this(), sent, i](const api_server::ApiResponse& response) {
                                      if (weak.expired()) return;
                                      sent->answers[i] = response.is_ok() ? "" : response.error;
                                      if (--sent->left == 0) sent->then(sent->answers);
                                    });
    }
  }

  api_server::ApiClient& client_;
  const bool dry_run_;
  const Told told_;
  const std::chrono::milliseconds most_wait_;
  std::shared_ptr<const PlanView> view_;
  std::map<std::string, Round> rounds_;  // by gang
  std::uint64_t requests_ = 0;
};

GangBinder::GangBinder(api_server::ApiClient& client, bool dry_run, Told told, std::chrono::milliseconds most_wait)
    : implementation_(std::make_shared<Implementation>(client, dry_run, std::move(told), most_wait)) {}
GangBinder::~GangBinder() = default;
void GangBinder::publish(std::shared_ptr<const PlanView> view) { implementation_->publish(std::move(view)); }
void GangBinder::bind(const ExtenderBinding& binding, Reply reply) { implementation_->bind(binding, std::move(reply)); }
void GangBinder::give_up(const std::string& why) { implementation_->give_up(why); }

}  // namespace muster::cli
