#include "cli/agent/runner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/agent/nominations.h"
#include "io/api_server/backoff.h"
#include "io/kubernetes/object/object.h"
#include "model/base/require.h"

namespace muster::cli {

namespace {

bool has_request(const Act& act, const api_server::ObjectStore& objects) {
  return objects.find("scheduling.run.ai", "BindRequest", act.object.namespace_name, act.object.name) != nullptr;
}

}  // namespace

bool WrittenActs::are_seen(const api_server::ObjectStore& objects) {
  const auto now = clock_();
  std::erase_if(acts_, [&](const Written& written) { return now >= written.until || is_seen(written.act, objects); });
  return acts_.empty();
}

std::chrono::steady_clock::time_point WrittenActs::end() const {
  MUSTER_REQUIRE(!acts_.empty());
  return std::ranges::min(acts_, {}, &Written::until).until;
}

bool WrittenActs::is_seen(const Act& act, const api_server::ObjectStore& objects) const {
  const exporting::ExportedObject& object = act.object;
  if (act.kind == ActKind::kTakeBack) return !has_request(act, objects);
  const auto* pod = objects.find("", "Pod", object.namespace_name, object.name);
  if (pod == nullptr || (!object.uid.empty() && pod->uid != object.uid)) return true;
  const auto has = [&](std::string_view part, std::string_view key) {
    return static_cast<bool>(kubernetes::member_of(kubernetes::member_of(pod->kept->value(), part), key));
  };
  const bool is_bound = has("spec", "nodeName");
  if (act.kind == ActKind::kNominate) return is_bound || nominated_node(*pod) == object.node;
  if (act.kind == ActKind::kEvict) return has("metadata", "deletionTimestamp");
  switch (mode_) {
    case ApplyMode::kKai:
      return has_request(act, objects);
    case ApplyMode::kGates:
      return static_cast<bool>(kubernetes::member_of(
          kubernetes::member_of(kubernetes::member_of(pod->kept->value(), "metadata"), "annotations"),
          kubernetes::kNodeAnnotation));
    default:
      return is_bound;
  }
}

class ActRunner::Implementation : public std::enable_shared_from_this<Implementation> {
 public:
  Implementation(api_server::ApiClient& client, const AgentOptions& options, api_server::Clock clock, Handlers handlers)
      : client_(client),
        options_(options),
        clock_(std::move(clock)),
        handlers_(std::move(handlers)),
        written_(options.mode, clock_),
        evictions_(static_cast<double>(options.pace.evictions_per_minute), std::chrono::minutes(1), clock_()),
        starts_(static_cast<double>(options.pace.binds_per_second), std::chrono::seconds(1), clock_()) {}

  void run(std::vector<ActGroup> groups, std::function<void(ActsDone)> done) {
    MUSTER_REQUIRE(!done_);
    groups_ = std::move(groups);
    done_ = std::move(done);
    at_ = 0;
    result_ = {};
    has_held_back_ = {};
    next_group();
  }

  void end() { done_ = {}; }
  bool is_running() const { return static_cast<bool>(done_); }
  WrittenActs& written() { return written_; }

 private:
  struct ActAnswer {
    std::string error;        // empty: it was taken
    bool is_unknown = false;  // whether it was
  };
  using Answers = std::vector<ActAnswer>;  // in the order of the group
  static constexpr std::string_view kNotSent = "not sent, since this agent may not act any more";
  static constexpr std::size_t kInFlight = api_server::ApiLimits().max_connections;  // speed

  bool& held_back(ActKind kind) { return has_held_back_[kind == ActKind::kEvict ? 0 : 1]; }

  // A group that must wait holds back those of its kind behind it, so that small ones do not starve a large one.
  void next_group() {
    for (; at_ < groups_.size(); ++at_) {
      const ActGroup& group = groups_[at_];
      if (!handlers_.may_begin()) {
        result_.is_cut = true;
        break;
      }
      if (group.kind == ActKind::kTakeBack || group.kind == ActKind::kNominate) return make();
      Pace& pace = group.kind == ActKind::kEvict ? evictions_ : starts_;
      if (!held_back(group.kind) && pace.take(group.acts.size(), clock_())) return begin(group);
      hold_back(group, pace);
    }
    const auto done = std::exchange(done_, {});
    groups_.clear();
    done(result_);
  }

  void hold_back(const ActGroup& group, Pace& pace) {
    result_.held_back += std::ssize(group.acts);
    if (std::exchange(held_back(group.kind), true)) return;
    const bool never = group.kind == ActKind::kEvict && options_.pace.evictions_per_minute == 0;
    const auto next = never ? std::chrono::steady_clock::time_point::max() : pace.when(group.acts.size(), clock_());
    const bool is_first = result_.next == std::chrono::steady_clock::time_point{};
    result_.next = is_first ? next : std::min(result_.next, next);
  }

  void begin(const ActGroup& group) {
    if (options_.dry_run || group.acts.size() == 1) return make();
    send_all(true, [this](const Answers& answers) {
      if (std::ranges::all_of(answers, &std::string::empty, &ActAnswer::error)) return make();
      for (std::size_t i = 0; i < answers.size(); ++i) {
        const std::string& error = answers[i].error;
        tell(groups_[at_].acts[i], {!error.empty()   ? error
                                    : result_.is_cut ? std::string(kNotSent)
                                                     : "left out, since another act for its gang is refused"});
      }
      ++at_;
      next_group();
    });
  }

  void make() {
    send_all(options_.dry_run, [this](const Answers& answers) {
      for (std::size_t i = 0; i < answers.size(); ++i) tell(groups_[at_].acts[i], answers[i]);
      ++at_;
      next_group();
    });
  }

  void tell(const Act& act, const ActAnswer& answer) {
    // kube-scheduler may take a nomination back at once.
    const bool is_awaited = act.kind != ActKind::kNominate || options_.mode != ApplyMode::kExtender;
    if (is_awaited && !options_.dry_run && answer.is_unknown) written_.add(act, WrittenActs::kMostWaitOfUnanswered);
    if (is_awaited && !options_.dry_run && answer.error.empty()) written_.add(act);
    if (!answer.error.empty()) ++result_.refused;
    handlers_.on_act(act, answer.error);
  }

  // The answers to acts of one group. Only a few are sent at a time, so that none waits in the client's queue.
  struct Round {
    const std::vector<Act>* acts;  // of groups_, which lasts as long as `done_` is set
    bool dry_run;
    Answers answers;
    std::size_t sent = 0, answered = 0;
    std::function<void(const Answers&)> then;
  };

  void send_all(bool dry_run, std::function<void(const Answers&)> then) {
    const std::vector<Act>& acts = groups_[at_].acts;
    auto round = std::make_shared<Round>(Round{&acts, dry_run, Answers(acts.size()), 0, 0, std::move(then)});
    send_some(round);
  }

  void send_some(const std::shared_ptr<Round>& round) {
    while (round->sent < round->acts->size() && round->sent - round->answered < kInFlight) {
      if (!handlers_.may_send()) {
        leave_rest(*round);
        break;
      }
      const std::size_t i = round->sent++;
      send((*round->acts)[i], round->dry_run,
           [weak = weak_from_this(), round, i](const api_server::ApiResponse& response) {
             const auto self = weak.lock();
             if (!self || !self->done_) return;
             const bool is_unknown = !round->dry_run && (response.status == 0 || response.status >= 500);
             round->answers[i] = {response.is_ok() ? "" : response.error, is_unknown};
             ++round->answered;
             self->send_some(round);
           });
    }
    if (round->answered == round->acts->size()) round->then(round->answers);
  }

  void leave_rest(Round& round) {
    result_.is_cut = true;
    for (; round.sent < round.acts->size(); ++round.answered) round.answers[round.sent++] = {std::string(kNotSent)};
  }

  // To an Eviction, 429 says that a disruption budget forbids it: asking again at once is of no use.
  void send(const Act& act, bool dry_run, api_server::ApiClient::Handler handler) {
    api_server::ApiRequest request = request_of(act, options_.mode, dry_run);
    if (act.kind == ActKind::kEvict) return client_.send(std::move(request), std::move(handler));
    api_server::send_with_retries(client_, std::move(request), {}, ++sent_, std::move(handler), handlers_.may_send);
  }

  api_server::ApiClient& client_;
  const AgentOptions& options_;
  const api_server::Clock clock_;
  const Handlers handlers_;
  WrittenActs written_;
  Pace evictions_, starts_;
  std::vector<ActGroup> groups_;
  std::size_t at_ = 0;
  std::function<void(ActsDone)> done_;  // empty: nothing is being run
  ActsDone result_;
  std::array<bool, 2> has_held_back_{};
  std::uint64_t sent_ = 0;
};

ActRunner::ActRunner(api_server::ApiClient& client, const AgentOptions& options, api_server::Clock clock,
                     Handlers handlers)
    : implementation_(std::make_shared<Implementation>(client, options, std::move(clock), std::move(handlers))) {}

ActRunner::~ActRunner() { implementation_->end(); }

void ActRunner::run(std::vector<ActGroup> groups, std::function<void(ActsDone)> done) {
  implementation_->run(std::move(groups), std::move(done));
}

bool ActRunner::is_running() const { return implementation_->is_running(); }

bool ActRunner::are_seen(const api_server::ObjectStore& objects) {
  return implementation_->written().are_seen(objects);
}

std::chrono::steady_clock::time_point ActRunner::seen_at_latest() const { return implementation_->written().end(); }

}  // namespace muster::cli
