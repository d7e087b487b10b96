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

Answer defect_answer(std::int64_t number, const std::exception& defect) {
  const InputError error{ErrorCode::kInternalError, "$", defect.what()};
  return {.text = {},
          .number = number,
          .is_error = true,
          .error = error,
          .is_defect = true,
          .log = defect.what(),
          .budget = 0};
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
  std::shared_ptr<const WorkOptions> options;
  std::optional<muster_v1::SnapshotReader> reader;
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_closed_ || !waiting_.empty(); });
    if (is_closed_) return;
    QueuedLine work = std::move(waiting_.front());
    waiting_.pop_front();
    ++parsed_count_;
    lock.unlock();
    if (options != work.options) {
      options = work.options;
      reader.emplace(options->reader);
    }
    parse(std::move(work), *reader);
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
void ServeQueue::parse(QueuedLine work, muster_v1::SnapshotReader& reader) {
  try {
    switch (work.kind) {
      case WorkKind::kSolve: {
        ParsedLine line = parse_line(reader, work.text, work.number, time_source(*work.options));
        return solve(std::move(work), std::move(line));
      }
      case WorkKind::kSetState:
      case WorkKind::kChangeState:
      case WorkKind::kSolveState:
        return parse_state(std::move(work), reader);
      default:
        return finish(work, answer_at_once(work, reader));
    }
  } catch (const std::exception& defect) {
    finish(work, defect_answer(work.number, defect));
  }
}

void ServeQueue::solve(QueuedLine work, ParsedLine line) {
  line.begun = work.arrived;
  ServeHistories::Ticket ticket = histories_.fill_in(work.exchange->request.field(kClusterField), line);
  parsed_.push({std::move(work), std::move(line), std::move(ticket)}, 0);
}

// Requests change and see the state in the order of their arrival.
void ServeQueue::parse_state(QueuedLine work, muster_v1::SnapshotReader& reader) {
  const http::HttpRequest& request = work.exchange->request;
  const std::string_view cluster = request.field(kClusterField);
  muster_v1::ReaderOptions options = work.options->reader;
  options.kubernetes = with_time(std::move(options.kubernetes), time_source(*work.options));
  if (work.kind == WorkKind::kSetState)
    return finish(work, states_.set(cluster, work.text, *sequence_in(request.field(kSequenceField)), options));
  if (work.kind == WorkKind::kChangeState) return finish(work, states_.change(cluster, work.text, options));
  std::optional<ParsedLine> line = states_.line(cluster, reader, options);
  if (!line) return finish(work, no_state(cluster));
  solve(std::move(work), *std::move(line));
}

void ServeQueue::finish(const QueuedLine& work, std::optional<ServeAnswer> answer) {
  --parsed_count_;
  work.done(std::move(answer));
}

void ServeQueue::solve_all(Solver& solver) {
  const auto tidy = [&] {
    solver.lines.portfolio.tidy();
    solver.worker_failures = solver.lines.portfolio.worker_failures();
  };
  while (auto item = parsed_.pop(kTidyEvery, tidy)) {
    auto& [work, line, ticket] = *item;
    const LineOptions& options = work.options->line;
    if (work.exchange->is_gone()) {
      finish(work, std::nullopt);
      continue;
    }
    const portfolio::Clock::duration waited = portfolio::Clock::now() - line.begun - line.parsing;
    const portfolio::Clock::time_point due = line.begun + std::chrono::nanoseconds(budget_of(line, options));
    solver.due = std::max(due, portfolio::Clock::now()).time_since_epoch().count();
    const auto observe = [&, &ticket = ticket](const SolvedLine& solved) {
      histories_.note(ticket, solved);
      observe_(solved, waited);
    };
    Answer answer = answer_line(line, line.begun, solver.lines, options, observe);
    solver.due = 0;
    solver.worker_failures = solver.lines.portfolio.worker_failures();
    finish(work, std::move(answer));
  }
}

}  // namespace muster::cli
