#include "cli/serve/queue.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "cli/serve/export.h"
#include "cli/serve/lines.h"
#include "model/base/require.h"

namespace muster::cli {
namespace {

constexpr std::size_t kLinesAhead = 1;  // in addition to one for each solver
constexpr auto kStuck = std::chrono::minutes(2);
constexpr std::chrono::milliseconds kTidyEvery{500};  // while there is nothing to solve
constexpr std::chrono::milliseconds kRetryEvery{10};  // what there was no memory for

// Whether `work` ends without an exception; if not, `answer` says so as far as memory allows.
template <class Work>
bool survives(const Work& work, std::int64_t number, std::optional<ServeAnswer>& answer) {
  try {
    work();
    return true;
  } catch (const std::exception& defect) {
    try {
      answer = defect_answer(number, {}, defect);
    } catch (const std::exception&) {
      answer = ServeAnswer();
      answer->is_error = answer->is_defect = true;
      answer->number = number;
      answer->error.code = ErrorCode::kInternalError;
    }
  }
  return false;
}

}  // namespace

ServeQueue::ServeQueue(const std::string& worker_program, int solvers, ServeHistories& histories,
                       SolvedWorkObserver observe)
    : histories_(histories),
      observe_(std::move(observe)),
      parsed_(kLinesAhead + static_cast<std::size_t>(solvers), std::numeric_limits<std::size_t>::max()) {
  MUSTER_REQUIRE(solvers >= 1);
  for (int i = 0; i < solvers; ++i) solvers_.emplace_back(worker_program);
  for (Solver& solver : solvers_) solver.thread = std::jthread([this, &solver] { solve_all(solver); });
  parser_ = std::jthread([this] { parse_all(); });
}

ServeQueue::~ServeQueue() { stop(); }

void ServeQueue::stop() {
  {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  parsed_.abandon();
  parser_ = {};
  for (Solver& solver : solvers_) solver.thread = {};
}

void ServeQueue::push(QueuedLine work) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

bool ServeQueue::drop(const http::HttpExchange* exchange) {
  const std::scoped_lock lock(mutex_);
  return std::erase_if(waiting_, [&](const QueuedLine& work) { return work.exchange.get() == exchange; }) > 0;
}

std::size_t ServeQueue::depth() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size() + parsed_count_;
}

std::int64_t ServeQueue::worker_failures() const {
  std::int64_t sum = 0;
  for (const Solver& solver : solvers_) sum += solver.worker_failures;
  return sum;
}

bool ServeQueue::is_stuck() const {
  return std::ranges::any_of(solvers_, [now = portfolio::Clock::now()](const Solver& solver) {
    const portfolio::Clock::time_point::rep due = solver.due;
    return due != 0 && now > portfolio::Clock::time_point(portfolio::Clock::duration(due)) + kStuck;
  });
}

void ServeQueue::parse_all() {
  std::optional<muster_v1::SnapshotReader> reader;
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_closed_ || !waiting_.empty(); });
    if (is_closed_) return;
    QueuedLine work = std::move(waiting_.front());
    waiting_.pop_front();
    ++parsed_count_;
    lock.unlock();
    const std::shared_ptr<const QueuedLine::Done> done = work.done;
    const std::int64_t number = work.number;
    std::optional<ServeAnswer> answer;
    if (!survives([&] { answer = parse(work, reader); }, number, answer)) reader.reset();
    if (answer) finish(*done, std::move(answer));
  }
}

namespace {

TimeSource time_source(const WorkOptions& options) {
  return options.line.solve.deterministic ? TimeSource::kObjects : TimeSource::kClock;
}

Answer answer_at_once(const QueuedLine& work, muster_v1::SnapshotReader& reader) {
  switch (work.kind) {
    case WorkKind::kExport: {
      const Result<ExportWords> words = export_words(work.exchange->request.query);
      if (words) return export_answer(reader, work.text, *words);
      Answer answer;
      answer.is_error = true;
      answer.error = words.error();
      return answer;
    }
    case WorkKind::kImport:
      return import_answer(work.text, with_time(work.options->reader.kubernetes, time_source(*work.options)));
    default:
      return verify_answer(reader, work.text, work.plan, work.number);
  }
}

}  // namespace

// Verifying, importing and exporting end here.
std::optional<ServeAnswer> ServeQueue::parse(QueuedLine& work, std::optional<muster_v1::SnapshotReader>& reader) {
  if (!reader || read_with_ != work.options) {
    read_with_ = work.options;
    reader.emplace(work.options->reader);
  }
  switch (work.kind) {
    case WorkKind::kSolve:
      return solve(work, parse_line(*reader, work.text, work.number, time_source(*work.options)));
    case WorkKind::kSetState:
    case WorkKind::kChangeState:
    case WorkKind::kSolveState:
      return parse_state(work, *reader);
    default:
      return answer_at_once(work, *reader);
  }
}

std::optional<ServeAnswer> ServeQueue::solve(QueuedLine& work, ParsedLine line) {
  line.begun = work.arrived;
  ServeHistories::Ticket ticket = histories_.fill_in(work.exchange->request.field(kClusterField), line);
  parsed_.push({std::move(work), std::move(line), std::move(ticket)}, 0);
  return std::nullopt;
}

// Requests change and see the state in the order of their arrival.
std::optional<ServeAnswer> ServeQueue::parse_state(QueuedLine& work, muster_v1::SnapshotReader& reader) {
  const http::HttpRequest& request = work.exchange->request;
  const std::string_view cluster = request.field(kClusterField);
  muster_v1::ReaderOptions options = work.options->reader;
  options.kubernetes = with_time(std::move(options.kubernetes), time_source(*work.options));
  if (work.kind == WorkKind::kSetState)
    return states_.set(cluster, work.text, *sequence_in(request.field(kSequenceField)), options);
  if (work.kind == WorkKind::kChangeState) return states_.change(cluster, work.text, options);
  std::optional<ParsedLine> line = states_.line(cluster, reader, options);
  if (!line) return no_state(cluster);
  return solve(work, *std::move(line));
}

// If there is no memory to pass the answer on, the client gets none as soon as there is some.
void ServeQueue::finish(const QueuedLine::Done& done, std::optional<ServeAnswer> answer) {
  --parsed_count_;
  while (true) {
    try {
      return done(std::move(answer));
    } catch (const std::exception&) {
      answer.reset();
      std::this_thread::sleep_for(kRetryEvery);
    }
  }
}

void ServeQueue::solve_all(Solver& solver) {
  const auto tidy = [&] {
    std::optional<ServeAnswer> none;
    survives(
        [&] {
          solver.lines.portfolio.tidy();
          solver.worker_failures = solver.lines.portfolio.worker_failures();
        },
        0, none);
  };
  while (auto item = parsed_.pop(kTidyEvery, tidy)) {
    std::optional<ServeAnswer> answer;
    survives([&] { answer = solved(*item, solver); }, item->work.number, answer);
    solver.due = 0;
    finish(*item->work.done, std::move(answer));
  }
}

// None: the client has gone.
std::optional<ServeAnswer> ServeQueue::solved(Parsed& item, Solver& solver) {
  auto& [work, line, ticket] = item;
  if (work.exchange->is_gone()) return std::nullopt;
  const LineOptions& options = work.options->line;
  const portfolio::Clock::duration waited = portfolio::Clock::now() - line.begun - line.parsing;
  const portfolio::Clock::time_point due = line.begun + std::chrono::nanoseconds(budget_of(line, options));
  solver.due = std::max(due, portfolio::Clock::now()).time_since_epoch().count();
  const auto observe = [&, &ticket = ticket](const SolvedLine& solved) {
    histories_.note(ticket, solved);
    observe_(solved, waited);
  };
  Answer answer = answer_line(line, line.begun, solver.lines, options, observe);
  solver.worker_failures = solver.lines.portfolio.worker_failures();
  return answer;
}

}  // namespace muster::cli
