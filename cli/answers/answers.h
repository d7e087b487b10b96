// The commands that answer questions of people about a cluster. Each is a description, AnswerCommand, that run_answer
// carries out: the options, the cluster, again with --watch, and the answer as a table, Markdown or JSON are the same
// for all of them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/answers/cluster.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/text_table.h"
#include "model/base/error_code.h"
#include "model/problem/problem.h"
#include "solver/answers/experiment.h"
#include "solver/answers/loss.h"

namespace muster::cli {

// For the table of commands (cli/command_table.cpp). argv[0] is the subcommand's name; the exit code is returned.
// Errors: UsageError.
const CommandSyntax& why_syntax();
const CommandSyntax& what_if_syntax();
const CommandSyntax& fits_syntax();
const CommandSyntax& size_syntax();
const CommandSyntax& drain_syntax();
const CommandSyntax& diff_syntax();
const CommandSyntax& top_syntax();

int run_why(int argc, const char* const* argv);
int run_what_if(int argc, const char* const* argv);
int run_fits(int argc, const char* const* argv);
int run_size(int argc, const char* const* argv);
int run_drain(int argc, const char* const* argv);
int run_diff(int argc, const char* const* argv);
int run_top(int argc, const char* const* argv);

// ---- descriptions of commands ----

// The budget if --budget is not given, and the help of its row, which states it.
struct DefaultBudget {
  std::chrono::milliseconds time;
  const char* help;
};
// With reading and writing, an answer within a second.
inline constexpr DefaultBudget kAnswerBudget{std::chrono::milliseconds(800), "time budget of the answer [800ms]"};

// The rows of --budget, --engine, --threads, --seed and --deterministic; `others` come before them.
std::vector<OptionRow> with_experiment_options(std::vector<OptionRow> others,
                                               const DefaultBudget& budget = kAnswerBudget);
// Their values, and that of --gap if the command has it. Throws UsageError.
answers::ExperimentOptions experiment_options(const Settings& settings, const DefaultBudget& budget = kAnswerBudget);
// The row of --watch, which run_answer carries out.
OptionRow watch_row();

// A question: what was asked of which cluster, and what its plans are made with.
struct Question {
  const Settings& settings;
  answers::ExperimentOptions options;
  portfolio::Portfolio& portfolio;
  ClusterInput& cluster;

  Snapshot& snapshot() const { return cluster.snapshot; }
};

struct Reply {
  AnswerDocument document;
  int exit_code = kExitAnswered;
};
// Else what keeps it from being given: an error, or an exit code if that has been reported.
using Answered = std::variant<Reply, InputError, int>;

struct AnswerCommand {
  CommandSyntax syntax;
  Answered (*answer)(const Question& question);
  DefaultBudget budget = kAnswerBudget;
  // Checks the options before anything is read, and names all that is read, for --watch. Throws UsageError.
  std::vector<std::string> (*sources)(const Settings& settings) = [](const Settings& settings) {
    return std::vector{cluster_source(settings)};
  };
  std::variant<ClusterInput, int> (*read)(const Settings& settings) = [](const Settings& settings) {
    return read_cluster(settings);
  };
};

// Prints the answer to the question of the command line, or what keeps it from being given; returns the exit code. With
// --watch, the cluster is read again at that interval if a source may have changed, and an answer that differs from the
// one before is printed, on a terminal in place of what stands there, until a signal is received or the output fails. A
// later answer that cannot be given, as while a file is being replaced, is waited for. Files may have changed if stat()
// says so, live clusters always. With --watch, handlers of signals are installed: call it once a process.
int run_answer(const AnswerCommand& command, int argc, const char* const* argv);

// What keeps a command from giving its answer: "PATH: MESSAGE", made safe for a terminal; only the message if the path
// is that of the whole input.
std::string failure_words(const InputError& error);

// Prints "muster COMMAND: " and these words on stderr; returns the exit code.
int complain_of(std::string_view command, const InputError& error, int exit_code = kExitNoValidLine);
int complain_of(std::string_view command, std::string_view words, int exit_code);

// ---- quantities in words and cells ----

// The number of a decimal text of a plan line, without an exponent: "-12.5". None: it is no such text, or 64 bits do
// not hold it.
std::optional<Decimal> decimal_in(const std::string& text);
std::optional<Decimal> decimal_in(const std::optional<std::string>& text);

// a - b; saturates at the limits of 64 bits.
Decimal subtract(Decimal a, Decimal b);

// Whether the numbers differ, or only one is there.
bool differ(const std::optional<Decimal>& a, const std::optional<Decimal>& b);

// The two largest units of it: "3d4h", "5m10s", "0s".
std::string duration_words(Nanoseconds duration);
// "45s", "12m", "3h05m", "2d4h".
std::string age_text(std::int64_t seconds);

// "yes; no better plan starts it", and that this is proven of what was read if that is not all. `what`: "it".
std::string proven_words(const Snapshot& snapshot, std::string_view what);

// Tells that what the answer proves is proven of what was read; nothing if everything was.
void note_scope(const Snapshot& snapshot, AnswerDocument& document);

// GPUs, exactly. kUnlimited is nothing, shown as "unlimited".
Cell gpu_cell(MicroGpu amount);
inline Decimal gpus(MicroGpu amount) { return {amount, 1'000'000}; }

// GPU-hours, of thousandths of a GPU x seconds; for people with one decimal.
Cell hours_cell(std::int64_t work);

// Seconds that passed, in duration_words.
Cell waited_cell(std::int64_t seconds);

// A point in time in seconds.
inline Decimal seconds(Nanoseconds time) { return {time, kNanosecondsPerSecond}; }

// The name of the queue; nothing if there is none.
Cell queue_cell(const Problem& problem, QueueIndex queue);

// Nothing if the text is empty.
Cell text_or_none(std::string_view text);

// With the meaning of good or bad news.
Cell verdict_cell(bool is_good);

// Pods that leave their nodes for others: which, whose, where from and where to.
Table leaving_table(std::string key, std::string title, const std::vector<answers::LeavingPod>& pods);

}  // namespace muster::cli
