// The subcommands that answer questions of people. argv[0] is the subcommand's name; the exit code is returned. Errors:
// UsageError. Each has its syntax beside it, for the table of commands (cli/command_table.cpp).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/text_table.h"
#include "model/base/error_code.h"
#include "model/problem/problem.h"
#include "solver/answers/experiment.h"

namespace muster::cli {

struct CommandSyntax;  // cli/terminal/options.h

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

// Exact decimals of plan lines, as far as 64 bits hold them.
//
// The number of a decimal text without an exponent, "-12.5". None: it is no such text, or 64 bits do not hold it.
std::optional<Decimal> decimal_in(const std::string& text);
std::optional<Decimal> decimal_in(const std::optional<std::string>& text);

// a - b; saturates at the limits of 64 bits.
Decimal subtract(Decimal a, Decimal b);

// Whether the numbers differ, or only one is there.
bool differ(const std::optional<Decimal>& a, const std::optional<Decimal>& b);

// What kept a command from giving its answer, on stderr.
//
// "PATH: MESSAGE", made safe for a terminal; only the message if the path is that of the whole input.
std::string failure_words(const InputError& error);

// Prints "muster COMMAND: " and these words; returns the exit code.
int complain_of(std::string_view command, const InputError& error, int exit_code = kExitNoValidLine);

// Quantities in words, for the answers to people.
//
// The two largest units of it: "3d4h", "5m10s", "0s".
std::string duration_words(Nanoseconds duration);

// "yes; no better plan starts it", and that this is proven of what was read if that is not all. `what`: "it".
std::string proven_words(const Snapshot& snapshot, std::string_view what);

// Tells that what the answer proves is proven of what was read; nothing if everything was.
void note_scope(const Snapshot& snapshot, AnswerDocument& document);

// GPUs, exactly. kUnlimited is nothing, shown as "unlimited".
Cell gpu_cell(MicroGpu amount);

// The name of the queue; nothing if there is none.
Cell queue_cell(const Problem& problem, QueueIndex queue);

// Options of the commands that solve variations of a cluster.
//
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

}  // namespace muster::cli
