#include "solver/cbc/backend.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "model/base/require.h"
#include "model/base/tuning.h"
#include "solver/cbc/channel.h"
#include "solver/cbc/worker_process.h"
#include "solver/cbc/worker_protocol.h"

namespace muster::cbc {
namespace {

constexpr double kFeasibility = 1e-6;
// An LP's x has passed only CLP's own tolerances, which apply to a scaled model. It proves nothing: bounds are computed
// from row prices, and a plan must pass the fit test.
constexpr double kLpFeasibility = 1e-3;

using milliseconds = std::chrono::duration<double, std::milli>;

// The time for CBC to notice that its time is up, to assemble the solution and to send it, before it is killed.
ChannelClock::duration stopping_time(ChannelClock::duration left) {
  const auto clock_time = [](milliseconds time) { return std::chrono::duration_cast<ChannelClock::duration>(time); };
  return clock_time(std::clamp<milliseconds>(kTuning.parts.aside * milliseconds(left),
                                             milliseconds(kTuning.forecast.answer_ms),
                                             milliseconds(kTuning.forecast.margin * kTuning.forecast.start_ms)));
}

bool is_feasible_when_relaxed(const lp::Milp& milp, const std::vector<double>& x) {
  const auto is_integral = [](std::uint8_t integer) { return integer != 0; };
  if (std::none_of(milp.is_integer.begin(), milp.is_integer.end(), is_integral)) {
    return lp::is_feasible(milp, x, kLpFeasibility);
  }
  lp::Milp relaxation = milp;
  std::fill(relaxation.is_integer.begin(), relaxation.is_integer.end(), std::uint8_t{0});
  return lp::is_feasible(relaxation, x, kLpFeasibility);
}

// The point, with its integer columns rounded unless they are relaxed, if that is feasible; empty if not.
std::vector<double> verified(const lp::Milp& milp, const MilpRequest& request, std::vector<double> x) {
  if (x.size() != milp.objective.size()) return {};
  if (request.relax) {
    if (!is_feasible_when_relaxed(milp, x)) x.clear();
    return x;
  }
  for (std::size_t column = 0; column < x.size(); ++column) {
    if (milp.is_integer[column] != 0) x[column] = std::round(x[column]);
  }
  if (!lp::is_feasible(milp, x, kFeasibility)) x.clear();
  return x;
}

bool has_crossed_bounds(const lp::Milp& milp) {
  for (std::size_t column = 0; column < milp.lower.size(); ++column) {
    if (!(milp.lower[column] <= milp.upper[column])) return true;
  }
  for (std::size_t row = 0; row < milp.row_lower.size(); ++row) {
    if (!(milp.row_lower[row] <= milp.row_upper[row])) return true;
  }
  return false;
}

// Whether it has integers that doubles do not tell apart: CBC then looks for an exactness out of its reach, for ever.
bool is_beyond_doubles(const lp::Milp& milp) {
  constexpr double kMost = 9007199254740992;  // 2^53
  const auto is_beyond = [](double value) { return std::abs(value) > kMost; };
  return std::ranges::any_of(milp.objective, is_beyond) || std::ranges::any_of(milp.entry_value, is_beyond);
}

// Of models that CBC need not, or should not, solve: it treats one without columns as no model at all.
std::optional<MilpAnswer> trivial_answer(const lp::Milp& milp) {
  MilpAnswer answer;
  if (is_beyond_doubles(milp)) {
    answer.status = SolveStatus::kNoSolution;
    return answer;
  }
  answer.status = SolveStatus::kInfeasible;
  answer.bound = -lp::kInfinity;
  if (has_crossed_bounds(milp)) return answer;
  if (milp.columns() > 0) return std::nullopt;
  if (!lp::is_feasible(milp, {}, kFeasibility)) return answer;
  answer.status = SolveStatus::kOptimal;
  answer.bound = 0;
  answer.row_price.assign(milp.row_lower.size(), 0.0);
  return answer;
}

}  // namespace

struct Backend::Implementation {
  explicit Implementation(BackendOptions chosen) : options(std::move(chosen)) {}

  // The reports of a worker during a solve outlive the worker.
  struct Conversation {
    MilpAnswer answer;
    MilpAnswer incumbent;  // the last one; its bound may be newer than its x

    // One message. `is_last`: it is the answer.
    ChannelStatus hear(Channel& channel, ChannelClock::time_point deadline, bool& is_last) {
      Message message;
      if (const ChannelStatus status = channel.receive(message, deadline); status != ChannelStatus::kDone)
        return status;
      std::optional<MilpAnswer> said = decode_answer(message.content);
      const auto type = static_cast<MessageType>(message.type);
      if (!said || (type != MessageType::kAnswer && type != MessageType::kIncumbent)) return ChannelStatus::kGarbage;
      is_last = type == MessageType::kAnswer;
      if (is_last) {
        answer = std::move(*said);
      } else {
        incumbent.bound = said->bound;
        if (!said->x.empty()) incumbent.x = std::move(said->x);
      }
      return ChannelStatus::kDone;
    }
  };

  std::optional<WorkerProcess> spawn() const {
    return WorkerProcess::spawn(options.worker_program, options.fault, options.memory_limit);
  }

  // A worker that died between two requests is replaced before it can fail one.
  bool ensure_worker(bool may_start = true) {
    bury_dead();
    if (!worker && may_start) worker = spawn();
    return worker.has_value();
  }

  void ensure_spare() {
    if (!spare) spare = spawn();
  }

  void reap() {
    std::erase_if(killed, [](WorkerProcess& process) { return process.has_ended(); });
  }

  void tidy() {
    reap();
    bury_dead();
    if (!spare || !spare->channel().is_hung_up()) return;
    spare.reset();
    ++failures;
  }

  // The spare takes its place; the next request with time for it starts a new spare. Ending a process takes
  // milliseconds if it was large, and this is the deadline: no caller waits for it.
  void kill_worker() {
    worker->kill();
    is_lp_open = false;
    ++failures;
    killed.push_back(*std::exchange(worker, std::exchange(spare, std::nullopt)));
  }

  // The spare that takes the place may be dead, too.
  void bury_dead() {
    while (worker && worker->channel().is_hung_up()) bury_worker();
  }

  // For one that is gone already.
  std::string bury_worker() {
    kill_worker();
    std::string cause = killed.back().end();
    killed.pop_back();
    return cause;
  }

  // The worker has not seen the request: if it was for an open LP, none is open any more.
  Conversation not_asked(MessageType type, const std::string& why) {
    if (type != MessageType::kSolve) is_lp_open = false;
    Conversation conversation;
    conversation.answer.status = SolveStatus::kNoSolution;
    conversation.answer.message = why;
    return conversation;
  }

  static Conversation fail(Conversation conversation, const std::string& what) {
    conversation.answer = MilpAnswer{};
    conversation.answer.message = what;
    return conversation;
  }

  // A lane of a race, and the worker that has its question.
  struct Runner {
    Lane& lane;
    std::optional<WorkerProcess>& worker;
    const Question* asked = nullptr;      // null: nothing
    MilpRequest request = {};             // of it, as it was sent
    ChannelClock::time_point until = {};  // for its answer
    Conversation conversation = {};
    bool is_over = false;  // nothing more is asked
    int failures = 0;
  };
  void ask_next(Runner& runner, ChannelClock::time_point deadline);
  void hear(Runner& runner, ChannelClock::time_point deadline);
  void conclude(Runner& runner, bool is_stopped);
  void stop(Runner& runner);
  void fail(Runner& runner, const std::string& why);
  void race(Lane& first, Lane& second, ChannelClock::time_point deadline);
  Conversation converse(MessageType type, const lp::Milp& milp, MilpRequest request);
  MilpAnswer settle(const lp::Milp& milp, const MilpRequest& request, Conversation conversation);
  MilpAnswer ask(MessageType type, const lp::Milp& whole, const lp::Milp& sent, MilpRequest request);
  MilpAnswer ask_lp(MessageType type, const lp::Milp& sent, MilpRequest request);

  BackendOptions options;
  std::optional<WorkerProcess> worker, spare;
  std::vector<WorkerProcess> killed;  // that may not have ended yet
  lp::Milp lp;                        // what the worker's open LP is, to check its answers against
  bool is_lp_open = false;
  std::int64_t failures = 0;
  ModelFiles files;
};

Backend::Implementation::Conversation Backend::Implementation::converse(MessageType type, const lp::Milp& milp,
                                                                        MilpRequest request) {
  Conversation conversation;
  const ChannelClock::time_point deadline = request.deadline;
  const ChannelClock::duration left = deadline - ChannelClock::now();
  if (left <= ChannelClock::duration::zero()) return not_asked(type, "the deadline had passed before the request");
  if (left < milliseconds(kTuning.forecast.answer_ms)) return not_asked(type, "there is too little time for an answer");
  if (request.work.is_reached()) return not_asked(type, "the work limit is reached");
  reap();
  const bool may_start = left > milliseconds(kTuning.forecast.start_ms);
  if (!ensure_worker(may_start)) {
    if (!may_start) return not_asked(type, "there is too little time to start a worker");
    return fail({}, "the worker cannot be started: " + options.worker_program);
  }
  if (type == MessageType::kExtendLp && !is_lp_open) return fail({}, "the worker that had the open LP is gone");
  request.deadline -= stopping_time(deadline - ChannelClock::now());
  ChannelStatus status = worker->channel().send(static_cast<std::uint32_t>(type), encode(milp, request), deadline);
  if (may_start) ensure_spare();  // now, that the worker is busy anyway
  while (status == ChannelStatus::kDone) {
    bool is_last = false;
    status = conversation.hear(worker->channel(), deadline, is_last);
    if (is_last) return conversation;
  }
  if (status == ChannelStatus::kLate) {
    kill_worker();
    return fail(std::move(conversation), "the worker exceeded its deadline and was killed");
  }
  if (status == ChannelStatus::kGarbage) {
    kill_worker();
    return fail(std::move(conversation), "the worker sent a malformed answer");
  }
  return fail(std::move(conversation), "the worker is gone: " + bury_worker());
}

// A worker has less time than the race, to stop and to answer.
void Backend::Implementation::ask_next(Runner& runner, ChannelClock::time_point deadline) {
  while (!runner.is_over && runner.asked == nullptr) {
    const Question* question = runner.lane.next();
    const auto left = deadline - ChannelClock::now();
    if (question != nullptr && !runner.worker) runner.worker = spawn();
    runner.is_over = question == nullptr || !runner.worker || left < milliseconds(kTuning.forecast.answer_ms);
    if (runner.is_over) return;
    if (std::optional<MilpAnswer> trivial = trivial_answer(question->milp)) {
      runner.lane.hear(std::move(*trivial));
      runner.is_over = runner.lane.is_settled();
      continue;
    }
    runner.asked = question;
    runner.conversation = {};
    runner.request = question->request;
    if (runner.request.relax) runner.request.start.clear();
    runner.request.start = verified(question->milp, runner.request, std::move(runner.request.start));
    runner.request.deadline = std::min(runner.request.deadline, deadline - stopping_time(left));
    runner.until = std::min(deadline, runner.request.deadline + stopping_time(left));
    files.write(question->milp, runner.request.relax);
    const auto type = static_cast<std::uint32_t>(MessageType::kSolve);
    if (runner.worker->channel().send(type, encode(question->milp, runner.request), deadline) != ChannelStatus::kDone)
      fail(runner, "the worker does not read");
  }
}

void Backend::Implementation::hear(Runner& runner, ChannelClock::time_point deadline) {
  if (runner.asked == nullptr) return;
  if (runner.worker->channel().is_idle()) {
    const bool is_late = ChannelClock::now() >= runner.until;
    if (!is_late && !runner.lane.is_stale()) return;
    if (is_late) ++failures;
    stop(runner);
    return ask_next(runner, deadline);
  }
  bool is_last = false;
  const ChannelStatus status = runner.conversation.hear(runner.worker->channel(), deadline, is_last);
  if (status != ChannelStatus::kDone) {
    fail(runner, "the worker is gone or sent a malformed answer");
    return ask_next(runner, deadline);
  }
  if (!is_last) return runner.lane.hear_bound(runner.conversation.incumbent.bound);
  conclude(runner, false);
  runner.is_over = runner.lane.is_settled();
  ask_next(runner, deadline);
}

// `is_stopped`: what it had found counts.
void Backend::Implementation::conclude(Runner& runner, bool is_stopped) {
  MilpAnswer answer =
      settle(std::exchange(runner.asked, nullptr)->milp, runner.request, std::move(runner.conversation));
  if (is_stopped) answer.status = answer.x.empty() ? SolveStatus::kNoSolution : SolveStatus::kFeasible;
  runner.lane.hear(std::move(answer));
}

void Backend::Implementation::stop(Runner& runner) {
  // What it was in the middle of is of no more use, and so is its process.
  conclude(runner, true);
  runner.worker->kill();
  killed.push_back(*std::exchange(runner.worker, std::nullopt));
}

void Backend::Implementation::fail(Runner& runner, const std::string& why) {
  constexpr int kMost = 3;  // of one lane
  runner.conversation.answer = MilpAnswer{};
  runner.conversation.answer.message = why;
  ++failures;
  conclude(runner, false);
  runner.worker->kill();
  killed.push_back(*std::exchange(runner.worker, std::nullopt));
  runner.is_over = runner.lane.is_settled() || ++runner.failures == kMost;
}

void Backend::Implementation::race(Lane& first, Lane& second, ChannelClock::time_point deadline) {
  const auto begins =
      ChannelClock::now() + std::chrono::duration_cast<ChannelClock::duration>(milliseconds(kTuning.forecast.start_ms));
  std::array<Runner, 2> runners{Runner{first, worker}, Runner{second, spare}};
  reap();
  is_lp_open = false;
  if (!ensure_worker()) {
    MilpAnswer failed;
    failed.message = "the worker cannot be started: " + options.worker_program;
    ++failures;
    return first.hear(std::move(failed));
  }
  ask_next(runners[0], deadline);
  ensure_spare();
  bool has_second_begun = false;
  const auto ends = [&] {
    return first.is_settled() || second.is_settled() || (runners[0].asked == nullptr && runners[1].asked == nullptr);
  };
  while (!ends() && ChannelClock::now() < deadline) {
    reap();
    if (!has_second_begun && ChannelClock::now() >= begins) {
      has_second_begun = true;
      ask_next(runners[1], deadline);
      continue;
    }
    std::vector<const Channel*> channels;
    ChannelClock::time_point until = has_second_begun ? deadline : std::min(begins, deadline);
    for (const Runner& runner : runners) {
      if (runner.asked == nullptr) continue;
      channels.push_back(&runner.worker->channel());
      until = std::min(until, runner.until);
    }
    Channel::wait_for_any(channels, until);
    for (Runner& runner : runners) hear(runner, deadline);
  }
  const bool is_settled = first.is_settled() || second.is_settled();
  for (Runner& runner : runners) {
    if (runner.asked == nullptr) continue;
    if (is_settled)
      stop(runner);
    else
      fail(runner, "the worker exceeded its deadline and was killed");
  }
  if (!worker) std::swap(worker, spare);
  ensure_spare();
}

// Every checkable part of a worker's answer is checked: the points are, here; statements that a point contradicts are
// dropped.
MilpAnswer Backend::Implementation::settle(const lp::Milp& milp, const MilpRequest& request,
                                           Conversation conversation) {
  MilpAnswer answer = std::move(conversation.answer);
  const bool had_point = !answer.x.empty();
  std::vector<double> best = verified(milp, request, std::move(answer.x));
  const bool is_nonsense = had_point && best.empty();
  if (is_nonsense) {
    answer.status = SolveStatus::kFailed;
    answer.bound = lp::kInfinity;
    answer.message = "the worker sent an infeasible solution";
    ++failures;
  }
  double objective = best.empty() ? -lp::kInfinity : lp::objective_value(milp, best);
  bool is_replaced = false;
  const auto consider = [&](std::vector<double> x) {
    x = verified(milp, request, std::move(x));
    if (x.empty()) return;
    const double value = lp::objective_value(milp, x);
    if (value <= objective + 1e-9 * std::abs(value)) return;
    best = std::move(x);
    objective = value;
    is_replaced = true;
  };
  consider(std::move(conversation.incumbent.x));
  if (answer.status == SolveStatus::kFailed && !is_nonsense) answer.bound = conversation.incumbent.bound;
  if (!request.start.empty() && lp::objective_value(milp, request.start) > request.cutoff) consider(request.start);
  answer.x = std::move(best);
  if (answer.x.empty()) return answer;
  answer.objective = objective;
  // A better point than the answer's was found: so the answer's proof is wrong.
  if (is_replaced) answer.status = SolveStatus::kFeasible;
  if (answer.bound < objective - 1e-6 * std::max(1.0, std::abs(objective))) {
    answer.message += answer.message.empty() ? "the worker's bound was wrong" : "; the worker's bound was wrong";
    answer.bound = lp::kInfinity;
    answer.status = SolveStatus::kFeasible;
  }
  answer.bound = std::max(answer.bound, objective);
  return answer;
}

MilpAnswer Backend::Implementation::ask(MessageType type, const lp::Milp& whole, const lp::Milp& sent,
                                        MilpRequest request) {
  std::string remark;
  if (!request.start.empty()) {
    request.start = verified(whole, request, std::move(request.start));
    if (request.start.empty()) remark = "the start is not feasible";
  }
  if (request.relax) request.start.clear();
  files.write(whole, request.relax);
  MilpAnswer answer = settle(whole, request, converse(type, sent, request));
  request.work.spend(answer.work);
  if (!remark.empty()) answer.message = answer.message.empty() ? remark : remark + "; " + answer.message;
  return answer;
}

MilpAnswer Backend::Implementation::ask_lp(MessageType type, const lp::Milp& sent, MilpRequest request) {
  request.relax = true;
  MilpAnswer answer = ask(type, lp, sent, std::move(request));
  if (answer.status == SolveStatus::kFailed) is_lp_open = false;
  return answer;
}

Backend::Backend(std::string worker_program) : Backend(BackendOptions{std::move(worker_program), {}}) {}

Backend::Backend(BackendOptions options) : implementation_(std::make_unique<Implementation>(std::move(options))) {}

Backend::~Backend() = default;

MilpAnswer Backend::solve(const lp::Milp& milp, const MilpRequest& request) {
  if (std::optional<MilpAnswer> trivial = trivial_answer(milp)) return std::move(*trivial);
  return implementation_->ask(MessageType::kSolve, milp, milp, request);
}

void Backend::race(Lane& first, Lane& second, std::chrono::steady_clock::time_point deadline) {
  if (deadline - ChannelClock::now() > milliseconds(kTuning.forecast.start_ms))
    return implementation_->race(first, second, deadline);
  if (const Question* question = first.next()) first.hear(solve(question->milp, question->request));
}

MilpAnswer Backend::open_lp(const lp::Milp& milp, const MilpRequest& request) {
  Implementation& state = *implementation_;
  if (is_beyond_doubles(milp)) {
    state.is_lp_open = false;
    return *trivial_answer(milp);
  }
  state.lp = milp;
  std::fill(state.lp.is_integer.begin(), state.lp.is_integer.end(), std::uint8_t{0});
  state.is_lp_open = true;
  return state.ask_lp(MessageType::kOpenLp, state.lp, request);
}

MilpAnswer Backend::extend_lp(const lp::Milp& more_columns, const MilpRequest& request) {
  Implementation& state = *implementation_;
  MilpAnswer failure;
  failure.message = state.is_lp_open ? "the columns do not match the rows of the open LP" : "no LP is open";
  if (!state.is_lp_open || more_columns.rows() != state.lp.rows()) return failure;
  lp::append_columns(state.lp, more_columns);
  return state.ask_lp(MessageType::kExtendLp, more_columns, request);
}

bool Backend::is_open() const { return implementation_->is_lp_open; }

ModelFiles& Backend::model_files() { return implementation_->files; }

void Backend::prepare() {
  implementation_->reap();
  if (implementation_->ensure_worker()) implementation_->ensure_spare();
}

void Backend::tidy() { implementation_->tidy(); }

std::int64_t Backend::failures() const { return implementation_->failures; }

}  // namespace muster::cbc
