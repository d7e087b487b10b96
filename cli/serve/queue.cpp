#include "cli/serve/queue.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/line/verify_line.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "io/json/json_writer.h"
#include "model/base/require.h"
#include "model/base/words.h"

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

Answer verify_answer(muster_v1::SnapshotReader& reader, std::string_view snapshot, std::optional<std::string_view> plan,
                     std::int64_t number) {
  VerifiedLine verified;
  if (plan) {
    verified = verify_line(reader, snapshot, *plan);
  } else {
    verified.id = muster_v1::SnapshotReader::id_of(snapshot);
    verified.findings.push_back({"answers", "snapshot", "it has no plan"});
  }
  Answer answer;
  answer.number = number;
  json::JsonWriter json(answer.text);
  json.object().member("line", number).member("id", verified.id).member("valid", verified.findings.empty());
  json.key("findings").array();
  for (const Finding& finding : verified.findings) {
    json.object().member("kind", finding.rule.empty() ? "falseClaim" : "violation");
    if (!finding.rule.empty()) json.member("rule", finding.rule);
    json.member("subject", finding.subject).member("message", finding.message).end();
  }
  json.end().end().raw("\n");
  return answer;
}

Answer import_answer(std::string_view text, const kubernetes::KubernetesOptions& options) {
  Answer answer;
  answer.number = 1;
  Result<Snapshot> imported = kubernetes::import_kubernetes_text(
      text, options, {std::numeric_limits<std::size_t>::max(), muster_v1::ReaderOptions().max_depth});
  if (!imported) {
    answer.is_error = true;
    answer.error = imported.error();
    return answer;
  }
  answer.text = kubernetes::line_of(*imported) + "\n";
  for (const Warning& warning : imported->anomalies.warnings) {
    answer.log += (answer.log.empty() ? "" : "\n") + told_text(warning);
  }
  return answer;
}

namespace {

// "a%2Cb+c" -> "a,b c". None: a % without two hexadecimal digits.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at] == '+' ? ' ' : text[at];
      continue;
    }
    unsigned value = 0;
    const char* begin = text.data() + at + 1;
    if (at + 2 >= text.size()) return std::nullopt;
    const auto [stop, error] = std::from_chars(begin, begin + 2, value, 16);
    if (error != std::errc() || stop != begin + 2) return std::nullopt;
    out += static_cast<char>(value);
    at += 2;
  }
  return out;
}

std::vector<std::string_view> lines_in(std::string_view body) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    const std::string_view line = body.substr(at, end - at);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

Answer error_of(InputError error) {
  Answer answer;
  answer.number = 1;
  answer.is_error = true;
  answer.error = std::move(error);
  return answer;
}

}  // namespace

Result<ExportWords> export_words(std::string_view query) {
  static constexpr std::array<std::string_view, 4> kKeys = {"format", "phase", "gate", "allow-shared"};
  ExportWords words;
  std::optional<std::string> shared;
  const std::array<std::optional<std::string>*, kKeys.size()> targets = {&words.format, &words.phase, &words.gate,
                                                                         &shared};
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.empty()) continue;
    const std::string_view key = part.substr(0, part.find('='));
    const auto value = decoded(part.substr(std::min(key.size() + 1, part.size())));
    const auto* known = std::ranges::find(kKeys, key);
    if (known == kKeys.end()) {
      return InputError{ErrorCode::kInvalidValue, "query",
                        fmt::format("unknown parameter '{}'{}", escaped(key), did_you_mean(key, kKeys))};
    }
    std::optional<std::string>& word = *targets[static_cast<std::size_t>(known - kKeys.begin())];
    if (!value) return InputError{ErrorCode::kInvalidValue, std::string(key), "is not percent-encoded correctly"};
    if (word) return InputError{ErrorCode::kInvalidValue, std::string(key), "is given more than once"};
    word = *value;
  }
  if (shared && *shared != "true" && *shared != "false")
    return InputError{ErrorCode::kInvalidValue, "allow-shared", "must be true or false"};
  words.allows_shared = shared == "true";
  return words;
}

Answer export_answer(muster_v1::SnapshotReader& reader, std::string_view body, ExportWords words) {
  const std::vector<std::string_view> lines = lines_in(body);
  if (lines.empty() || lines.size() > 2) {
    return error_of({ErrorCode::kInvalidValue, "$",
                     fmt::format("the body has {}; send a plan, or a snapshot and then its plan, one per line",
                                 counted(std::ssize(lines), "line"))});
  }
  words.has_snapshot = lines.size() == 2;
  const Result<exporting::ExportOptions> options = export_options(words);
  if (!options) return error_of(options.error());
  const auto snapshot = words.has_snapshot ? std::optional(lines.front()) : std::nullopt;
  const Result<exporting::ExportedPlan> exported = export_line(reader, lines.back(), snapshot, *options);
  if (!exported) return error_of(exported.error());
  Answer answer;
  answer.number = 1;
  answer.text = exported->text();
  for (const std::string& remark : exported->remarks)
    answer.log += fmt::format("{}{}", answer.log.empty() ? "" : "\n", escaped(remark));
  return answer;
}

}  // namespace muster::cli
