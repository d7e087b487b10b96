#include "cli/pipeline.h"

#include <atomic>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "cli/bounded_queue.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/summary.h"

namespace muster {
namespace {

constexpr std::size_t kLinesAhead = 2;
constexpr std::size_t kBytesAhead = std::size_t{64} << 20;

using LineQueue = BoundedQueue<ParsedLine>;
using AnswerQueue = BoundedQueue<Answer>;

// Out of memory while a line is gathered or parsed is the end of the input, not of the answers before it.
void read_lines(LineSource& source, const ReaderOptions& options, LineQueue& lines, std::string& defect) {
  try {
    SnapshotReader reader(options);
    while (const auto line = source.next()) {
      if (!lines.push(parse_line(reader, line->text, line->number), line->text.size())) break;
    }
  } catch (const std::exception& error) {
    defect = error.what();
  }
  lines.close();
}

void write_answers(AnswerQueue& answers, int output, std::atomic<int>& error) {
  while (const auto answer = answers.pop()) {
    error = write_whole(output, answer->text);
    if (error == 0) continue;
    answers.abandon();
    wake_readers();
    return;
  }
}

void solve_lines(LineQueue& lines, AnswerQueue& answers, LineSolver& solver, const PipelineOptions& options,
                 Console& console, PipelineOutcome& outcome) {
  SolvedLineObserver observe;
  std::string summary;
  if (options.summaries) observe = [&](const SolvedLine& solved) { summary = summary_of(solved); };
  Clock::time_point free_since = Clock::now();
  while (auto line = lines.pop()) {
    if (received_signal() != 0) break;
    console.begin_progress(line->number, std::chrono::nanoseconds(budget_of(*line, options.line)));
    Answer answer = answer_line(*line, free_since, solver, options.line, observe);
    console.end_progress();
    ++outcome.answered;
    outcome.errors += answer.is_error ? 1 : 0;
    outcome.defects += answer.is_defect ? 1 : 0;
    const std::string log = std::exchange(answer.log, {});
    const std::int64_t number = answer.number;
    const Severity severity = answer.is_defect ? Severity::kError : Severity::kWarning;
    const std::size_t bytes = answer.text.size();
    if (!answers.push(std::move(answer), bytes)) break;
    free_since = Clock::now();
    if (!log.empty()) console.say(severity, log, number);
    if (!summary.empty()) console.say(Severity::kInformation, std::exchange(summary, {}), number);
  }
  lines.abandon();
  answers.close();
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
    const std::jthread reader([&] { read_lines(source, options.reader, lines, read_defect); });
    const std::jthread writer([&] { write_answers(answers, output, write_error); });
    solve_lines(lines, answers, solver, options, console, outcome);
    wake_readers();
  }
  outcome.write_error = write_error;
  if (!read_defect.empty()) {
    ++outcome.defects;
    console.say(Severity::kError, "reading: " + read_defect);
  }
  return outcome;
}

}  // namespace muster
