#include "cli/line/pipeline.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "cli/line/summary.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/plan_table.h"

namespace muster::cli {

namespace {

constexpr std::size_t kLinesAhead = 2;
constexpr std::size_t kBytesAhead = std::size_t{64} << 20;

using LineQueue = BoundedQueue<ParsedLine>;
using AnswerQueue = BoundedQueue<Answer>;

// Whether a first line begins a Kubernetes manifest, or the output of `kubectl -o yaml`.
bool begins_yaml(std::string_view text) {
  constexpr std::array<std::string_view, 6> kBeginnings = {
      "apiVersion:", "kind:", "items:", "---", "- apiVersion:", "%YAML"};
  return std::ranges::any_of(kBeginnings, [&](std::string_view beginning) { return text.starts_with(beginning); });
}

// If memory runs out while a line is read or parsed, this ends the input, not the answers before it.
void read_lines(LineSource& source, const PipelineOptions& options, LineQueue& lines, PipelineOutcome& outcome,
                std::string& defect) {
  try {
    muster_v1::SnapshotReader reader(options.reader);
    bool is_first = true;
    while (const auto line = source.next()) {
      outcome.is_yaml = std::exchange(is_first, false) && begins_yaml(line->text);
      if (outcome.is_yaml) break;
      const bool is_now = line->is_of_stdin && !options.line.solve.deterministic;
      const TimeSource time = is_now ? TimeSource::kClock : TimeSource::kObjects;
      if (!lines.push(parse_line(reader, line->text, line->number, time), line->text.size())) break;
    }
  } catch (const std::exception& error) {
    defect = error.what();
  }
  lines.close();
}

// How far the writing is.
class Progress {
 public:
  void note_written() { advance(written_ + 1); }
  void give_up() { advance(std::numeric_limits<std::int64_t>::max()); }
  // Until this many answers have been written, or until no more will be.
  void wait_for(std::int64_t answers) const {
    for (std::int64_t written = written_; written < answers; written = written_) written_.wait(written);
  }

 private:
  void advance(std::int64_t written) {
    written_ = written;
    written_.notify_all();
  }
  std::atomic<std::int64_t> written_{0};
};

void write_answers(AnswerQueue& answers, int output, std::atomic<int>& error, Progress& progress) {
  while (const auto answer = answers.pop()) {
    error = write_whole(output, answer->text);
    if (error == 0) {
      progress.note_written();
      continue;
    }
    answers.abandon();
    wake_readers();
    break;
  }
  progress.give_up();
}

// The destination of the solving thread's answers, and the records about them.
struct Front {
  AnswerQueue& answers;
  const Progress& progress;
  Console& console;
};

// Lets the threads that read and write end, also if the one that solves ends by an exception.
struct EndOfSolving {
  LineQueue& lines;
  AnswerQueue& answers;
  ~EndOfSolving() {
    lines.abandon();
    answers.close();
    wake_readers();
  }
};

void solve_lines(LineQueue& lines, const Front& front, LineSolver& solver, const PipelineOptions& options,
                 PipelineOutcome& outcome) {
  Console& console = front.console;
  const EndOfSolving end{lines, front.answers};
  std::string summary, table;
  const SolvedLineObserver observe = [&](const SolvedLine& solved) {
    if (options.summaries) summary = summary_of(solved);
    if (options.form == OutputForm::kTable)
      table = plan_table(solved.problem, solved.solution.plan, solved.solution.report, options.width);
  };
  portfolio::Clock::time_point free_since = portfolio::Clock::now();
  while (auto line = lines.pop()) {
    if (received_signal() != 0) break;
    console.begin_progress(line->number, std::chrono::nanoseconds(budget_of(*line, options.line)));
    Answer answer = answer_line(*line, free_since, solver, options.line, observe);
    console.end_progress();
    if (options.form == OutputForm::kTable) {
      const bool is_apart = outcome.answered > 0 && !table.empty();
      answer.text = (is_apart ? "\n" : "") + std::exchange(table, {});
    }
    ++outcome.answered;
    outcome.errors += answer.is_error ? 1 : 0;
    outcome.defects += answer.is_defect ? 1 : 0;
    const std::string log = std::exchange(answer.log, {});
    const std::int64_t number = answer.number;
    const Severity severity = answer.is_defect ? Severity::kError : Severity::kWarning;
    const std::size_t bytes = answer.text.size();
    if (!front.answers.push(std::move(answer), bytes)) break;
    if (options.form == OutputForm::kTable) front.progress.wait_for(outcome.answered);  // records follow below it
    free_since = portfolio::Clock::now();
    if (!log.empty()) console.say(severity, log, number);
    if (!summary.empty()) console.say(Severity::kInformation, std::exchange(summary, {}), number);
  }
}

}  // namespace

PipelineOutcome run_pipeline(LineSource& source, int output, LineSolver& solver, const PipelineOptions& options,
                             Console& console) {
  LineQueue lines(kLinesAhead, kBytesAhead);
  AnswerQueue answers(kLinesAhead, kBytesAhead);
  PipelineOutcome outcome;
  std::atomic<int> write_error{0};
  std::string read_defect;
  {
    const std::jthread reader([&] { read_lines(source, options, lines, outcome, read_defect); });
    Progress progress;
    const std::jthread writer([&] { write_answers(answers, output, write_error, progress); });
    solve_lines(lines, {answers, progress, console}, solver, options, outcome);
  }
  outcome.write_error = write_error;
  if (!read_defect.empty()) {
    ++outcome.defects;
    console.say(Severity::kError, "reading: " + read_defect);
  }
  return outcome;
}

}  // namespace muster::cli
