#include "cli/agent/agent.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/agent/advice.h"
#include "cli/agent/extender/side.h"
#include "cli/agent/kind_health.h"
#include "cli/agent/leadership.h"
#include "cli/agent/log.h"
#include "cli/agent/nominations.h"
#include "cli/agent/plan_timer.h"
#include "cli/agent/planning/planner.h"
#include "cli/agent/runner.h"
#include "cli/agent/server_time.h"
#include "cli/agent/status.h"
#include "cli/terminal/console.h"
#include "cli/terminal/terminal.h"
#include "io/api_server/cluster_watch.h"
#include "io/http/server.h"

namespace muster::cli {
namespace {

using Steady = std::chrono::steady_clock;

// From the first signal to the end, whatever the API server does: well below the 30 s that a pod is given to end.
constexpr std::chrono::seconds kMostStopping{10};

// Monitoring clients, on a thread of their own.
class StatusServer {
 public:
  StatusServer(int listener, AgentStatus& status)
      : server_({listener}, status, http::HttpLimits()), thread_([this] { server_.run(); }) {}
  ~StatusServer() { server_.drain(); }
  StatusServer(const StatusServer&) = delete;
  StatusServer& operator=(const StatusServer&) = delete;

 private:
  http::HttpServer server_;
  std::jthread thread_;
};

api_server::ClusterWatchOptions watch_options(const kubernetes::KubernetesOptions& kubernetes) {
  api_server::ClusterWatchOptions options;
  options.seed = std::random_device()();
  options.kubernetes = kubernetes;
  return options;
}

}  // namespace

class Agent::Implementation {
 public:
  Implementation(const AgentOptions& options, Console& console, const std::string& worker_program)
      : options_(options),
        log_(console, options.dry_run),
        client_(io_, options.address, Steady::now),
        time_(client_, [this](const std::string& sentence) { warn(sentence); }),
        watch_(client_, Steady::now, watch_options(options.reader.kubernetes),
               {[this] { consider(); },
                [this](const std::string& sentence, bool is_failure) {
                  is_failure ? warn(sentence) : log_.say(Severity::kInformation, sentence);
                }}),
        kinds_(options.mode, options.times.patience),
        runner_(client_, options, Steady::now,
                {[this](const Act& act, const std::string& error) {
                   log_.note(act, error);
                   if (!error.empty()) publish();
                 },
                 [this] { return !plan_timer_.is_stopped() && leads() && kinds_.interrupted().empty(); },
                 [this] { return leads(); }}),
        waiting_(
            client_, {options.identity, options.dry_run}, [this] { return time_.text(); },
            [this](const std::string& sentence) { warn(sentence); }),
        status_(options, Steady::now),
        plan_timer_(options.times.period, options.times.idle),
        timer_(io_) {
    planner_.emplace(
        options, worker_program, [this](const SolvedLine& line) { status_.solved(line); },
        [this](std::function<void()> task) { boost::asio::post(io_, std::move(task)); });
    if (!options.lease) return;
    leadership_.emplace(leadership_surroundings(client_, Steady::now, [this] { return time_.text(); }), *options.lease,
                        options.identity,
                        Leadership::Handlers{[this] { consider(); },
                                             [this](const std::string& sentence, bool is_failure) {
                                               is_failure ? warn(sentence) : log_.say(Severity::kInformation, sentence);
                                             }});
  }

  int run(int listener) {
    const StatusServer server(listener, status_);
    if (options_.mode == ApplyMode::kExtender && !open_extender()) return kExitCannotCreate;
    boost::asio::signal_set signals(io_, SIGTERM, SIGINT);
    signals.async_wait([this, &signals](boost::system::error_code error, int) {
      if (error) return;
      signals.async_wait([](boost::system::error_code again, int signal) {
        if (!again) ::_exit(128 + signal);
      });
      stop();
    });
    log_.say(Severity::kInformation,
             fmt::format("watching {}; health, metrics and report on {}; mode {}{}", options_.address.text(),
                         http::name_of_listener(options_.listen, listener), apply_mode_name(options_.mode),
                         options_.dry_run ? ", dry run" : ""));
    consider();  // so that the status says from the start what it waits for
    time_.start([this] {
      watch_.start();
      if (leadership_) leadership_->start();
    });
    io_.run();
    extender_.reset();
    planner_.reset();
    return kExitAnswered;
  }

  void stop_from_outside() {
    boost::asio::post(io_, [this] { stop(); });
  }

 private:
  template <class Task>
  static void later(boost::asio::steady_timer& timer, Steady::duration delay, Task task) {
    timer.expires_after(delay);
    timer.async_wait([task = std::move(task)](boost::system::error_code error) {
      if (!error) task();
    });
  }

  bool open_extender() {
    const Result<int> listener = http::open_listener(options_.extender_listen, true);
    if (!listener) {
      log_.say(Severity::kError, listener.error().message);
      return false;
    }
    extender_.emplace(*listener, options_, client_, [this](const std::string& sentence, bool is_failure) {
      log_.say(is_failure ? Severity::kWarning : Severity::kInformation, sentence);
    });
    log_.say(Severity::kInformation, fmt::format("kube-scheduler's extender on {}",
                                                 http::name_of_listener(options_.extender_listen, *listener)));
    return true;
  }

  // --- when to plan

  bool leads() const { return !leadership_ || leadership_->leads(); }

  // Why no plan is made or carried out now.
  Obstacle obstacle() {
    if (!kinds_.is_complete()) return Obstacle::kUnread;
    if (!kinds_.interrupted().empty()) return Obstacle::kInterrupted;
    if (!leads()) return Obstacle::kFollows;
    return runner_.are_seen(watch_.objects()) ? Obstacle::kNone : Obstacle::kUnseen;
  }

  // Of what is planned: the objects, and the kinds that are held for.
  std::uint64_t revision() const { return watch_.objects().revision() + kinds_.revision(); }

  std::string text_of(Obstacle obstacle) const {
    switch (obstacle) {
      case Obstacle::kNone:
        return "";
      case Obstacle::kUnread:
        return "the cluster has not been read yet";
      case Obstacle::kInterrupted:
        return "the watch of " + kinds_.interrupted() + " is interrupted";
      case Obstacle::kFollows:
        return leadership_->why_not();
      case Obstacle::kUnseen:
        break;
    }
    return "the last writes have not come back";
  }

  // Begins a cycle if it is time for one, or sets the timer for when it may be. Called whenever something has changed.
  void consider() {
    if (plan_timer_.is_stopped()) return;
    for (const auto& [sentence, is_failure] : kinds_.update(watch_.objects().reports(), Steady::now()))
      is_failure ? log_.warn(sentence) : log_.say(Severity::kInformation, sentence);
    PlanSituation situation{obstacle(), revision(), kinds_.next()};
    if (situation.obstacle == Obstacle::kUnseen) situation.ends_at_latest = runner_.seen_at_latest();
    publish();
    if (extender_) extender_->block(situation.obstacle == Obstacle::kUnseen ? "" : text_of(situation.obstacle));
    const auto next = plan_timer_.next(situation);
    if (!next) return;
    const auto time = Steady::now();
    if (*next <= time) return begin();
    later(timer_, *next - time, [this] { consider(); });
  }

  // --- one cycle

  void begin() {
    plan_timer_.begin(revision(), Steady::now());
    auto cluster = std::make_shared<ClusterObjects>();
    cluster->objects = watch_.objects().kept();
    cluster->unreadable = kinds_.set_aside();
    cluster->time = time_.now();
    planner_->plan(std::move(cluster), [this](const AgentPlan& plan) { planned(plan); });
  }

  void planned(const AgentPlan& plan) {
    if (plan_timer_.is_stopped()) return;
    status_.publish(plan);
    if (plan.answer.is_error) {
      log_.count_unreadable();
      warn(fmt::format("no plan: {}: {}", plan.answer.error.path, plan.answer.error.message));
      if (plan.answer.error.code == ErrorCode::kInternalError) plan_timer_.note_defect();
      return end();
    }
    plan_timer_.note_plan();
    log_.count_plan();
    if (options_.are_events_written && leads()) waiting_.tell(plan.pods->waiting, watch_.objects());
    if (options_.marks == GroupMarking::kMarked && leads() && !options_.dry_run)
      waiting_.mark(plan.pods->waiting, watch_.objects());
    if (options_.mode == ApplyMode::kKai && leads()) waiting_.note(plan.staleness.notes, watch_.objects());
    if (plan.staleness.next)
      plan_timer_.plan_again(plan_timer_.begun() + std::chrono::nanoseconds(*plan.staleness.next - plan.cluster->time));
    if (options_.mode == ApplyMode::kNone) return end();
    look_again(plan);
  }

  // If the cluster has changed since, the referee checks the plan on the cluster as it is now.
  void look_again(const AgentPlan& plan) {
    if (revision() == plan_timer_.planned_revision()) return carry_out(plan.steps->exported, *plan.pods);
    auto present = std::make_shared<ClusterObjects>();
    present->objects = watch_.objects().kept();
    present->unreadable = kinds_.set_aside();
    present->time = plan.cluster->time;
    planner_->check(std::move(present), plan.steps, [this, pods = plan.pods](const auto& exported) {
      if (!plan_timer_.is_stopped()) carry_out(exported, *pods);
    });
  }

  void carry_out(const Result<exporting::ExportedPlan>& exported, const PlannedPods& pods) {
    if (!exported) {
      log_.count_stale();
      log_.say(Severity::kInformation, fmt::format("the plan is not carried out: {}", exported.error().message));
      plan_timer_.plan_again(Steady::now());
      return end();
    }
    for (const std::string& remark : exported->remarks) log_.remark(remark);
    if (extender_) extender_->publish(pods, *exported);
    runner_.run(groups(*exported, pods), [this](const ActsDone& done) { acted(done); });
  }

  // A gang with a BindRequest that has failed starts with a later plan, once that is taken back.
  std::vector<ActGroup> groups(const exporting::ExportedPlan& exported, const PlannedPods& pods) {
    std::vector<ActGroup> all = groups_of(exported);
    ActGroup nominated = nominations(exported, pods.pending, options_.mode, watch_.objects());
    if (!nominated.acts.empty()) all.push_back(std::move(nominated));
    if (options_.mode == ApplyMode::kExtender)
      std::erase_if(all, [](const ActGroup& group) { return group.kind == ActKind::kStart; });
    if (options_.mode != ApplyMode::kKai) return all;
    for (ActGroup& group : all) {
      if (group.kind != ActKind::kStart) continue;
      ActGroup failed = failed_requests(group, watch_.objects());
      if (!failed.acts.empty()) group = std::move(failed);
    }
    return all;
  }

  void acted(const ActsDone& done) {
    if (plan_timer_.is_stopped()) return release();
    log_.count_held_back(done.held_back);
    if (done.refused > 0) plan_timer_.plan_again(Steady::now() + options_.times.period);
    if (done.is_cut) plan_timer_.plan_again(Steady::now());
    if (done.held_back > 0) plan_timer_.plan_again(done.next);
    end();
  }

  void end() {
    plan_timer_.end();
    consider();
  }

  // --- what it tells

  void warn(const std::string& sentence) {
    log_.warn(sentence);
    publish();
  }

  void publish() {
    AgentState state;
    const api_server::ObjectStore& objects = watch_.objects();
    state.is_complete = kinds_.is_complete();
    state.set_aside = kinds_.set_aside();
    state.leads = leads();
    if (leadership_) state.holder = leadership_->holder();
    state.revision = objects.revision();
    state.objects = objects.objects();
    state.bytes = objects.bytes();
    state.blocked = text_of(obstacle());
    state.last_warning = log_.last_warning();
    state.kinds = objects.reports();
    state.counts = log_.counts();
    status_.publish(std::move(state));
  }

  // A gang that is being started or evicted for is completed; then the Lease is given up.
  void stop() {
    if (plan_timer_.is_stopped()) return;
    plan_timer_.stop();
    log_.say(Severity::kInformation, "stopping");
    if (extender_) extender_->block("it is stopping");
    time_.stop();
    later(timer_, kMostStopping, [this] { io_.stop(); });
    if (!runner_.is_running()) release();
  }

  void release() {
    const auto finish = [this] { io_.stop(); };
    if (leadership_)
      leadership_->release(finish);
    else
      finish();
  }

  const AgentOptions& options_;
  AgentLog log_;
  boost::asio::io_context io_{1};
  api_server::ApiClient client_;
  ServerTime time_;
  api_server::ClusterWatch watch_;
  KindHealth kinds_;
  std::optional<AgentPlanner> planner_;
  std::optional<Leadership> leadership_;
  ActRunner runner_;
  Adviser waiting_;
  AgentStatus status_;
  PlanTimer plan_timer_;
  boost::asio::steady_timer timer_;
  std::optional<ExtenderSide> extender_;
};

Agent::Agent(const AgentOptions& options, Console& console, const std::string& worker_program)
    : implementation_(std::make_unique<Implementation>(options, console, worker_program)) {}
Agent::~Agent() = default;
int Agent::run(int listener) { return implementation_->run(listener); }
void Agent::stop() { implementation_->stop_from_outside(); }

}  // namespace muster::cli
