// The program `muster`: finds the subcommand, and turns faults into an exit code.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include "cli/answers/answers.h"
#include "cli/bench.h"
#include "cli/commands.h"
#include "cli/generate.h"
#include "cli/import.h"
#include "cli/serve/serve.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/near_miss.h"
#include "cli/terminal/options.h"
#include "cli/terminal/output.h"
#include "cli/terminal/program_name.h"
#include "cli/terminal/terminal.h"
#include "solver/cbc/backend.h"

namespace muster::cli {
namespace {

constexpr std::string_view kHelp =
    R"(muster plans which pods of a GPU cluster run on which nodes. It places gangs entirely or not at all, and it
proves how good its plans are.

Usage: {0} COMMAND [OPTION...]

  solve      read snapshots and write plans, one per line
  what-if    plan a changed cluster: nodes, queues, gangs, a manifest before it is applied
  verify     check plans against their snapshots
  export     convert plans to objects for the Kubernetes API server, patches or deltas
  report     show plans and measurements as one HTML page
  why        explain why gangs wait, and what would start them
  diff       show what plans decide differently from other plans
  top        show what a cluster is used for: queues, GPUs, gangs, nodes
  import     make snapshots from Kubernetes objects, traces and node lists
  generate   generate random snapshots from a seed
  bench      run the benchmarks of a build
  simulate   replay a workload under a policy
  serve      serve plans over HTTP, on a Unix or TCP socket
  version    print the version
  help       print this text, or the help of a COMMAND

'{0} COMMAND --help' lists the options of a command. Exit codes: 0 all lines answered; 1 some error records,
verify has findings, diff finds differences, or what was asked does not start; 64 usage; 65 no valid line; 66 no input; 70 internal error; 73, 74
output errors.
)";

std::string help() { return fmt::format(kHelp, typed_program_name()); }

// Memory that a line has freed is kept for the next one: memory that is returned to the system comes back page by page,
// each cleared, which took a quarter of a cycle with 10,000 nodes. The resident size stays that of the largest lines so
// far.
void keep_memory() {
  constexpr int kLargestBlockFromHeap = 32 << 20, kNeverTrimmed = std::numeric_limits<int>::max(), kStep = 4 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargestBlockFromHeap);
  mallopt(M_TRIM_THRESHOLD, kNeverTrimmed);
  mallopt(M_TOP_PAD, kStep);
}

// A descriptor that the caller has closed would be reused for a file or a channel of the program, which would then
// receive the output for stdout. It is replaced by one that reads as empty, and on which writing fails (exit code 74)
// or, for stderr, is silent.
void open_standard_descriptors() {
  constexpr std::array<int, 3> kModes = {O_RDONLY, O_RDONLY, O_WRONLY};
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    if (open("/dev/null", kModes[static_cast<std::size_t>(descriptor)]) != descriptor) std::_Exit(kExitInternal);
  }
}

constexpr int kWorkerChannel = 3;  // the descriptor on which a worker is spoken to

// `muster worker [--fault FAULT]`: the process that the solver spawns; not for users, so not in the help.
int run_worker(int argc, const char* const* argv) {
  // Ctrl-C signals every process of the terminal, and a service manager's SIGTERM every process of the service. The
  // worker ends when its channel closes.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  const Settings settings({"muster worker", "Serves a solver on descriptor 3.", {{"fault", "NAME", "for tests"}}}, argc,
                          argv);
  return cbc::serve_worker(kWorkerChannel, settings.text("fault").value_or(""));
}

struct Command {
  std::string_view name;
  int (*run)(int argc, const char* const* argv);
};
constexpr std::array<Command, 14> kCommands = {{{"solve", run_solve},
                                                {"what-if", run_what_if},
                                                {"verify", run_verify},
                                                {"export", run_export},
                                                {"report", run_report},
                                                {"why", run_why},
                                                {"diff", run_diff},
                                                {"top", run_top},
                                                {"import", run_import},
                                                {"generate", run_generate},
                                                {"bench", run_bench},
                                                {"simulate", run_simulate},
                                                {"serve", run_serve},
                                                {"worker", run_worker}}};

[[noreturn]] void refuse(std::string_view command) {
  std::vector<std::string_view> names{"version", "help"};
  for (const Command& known : kCommands) {
    if (known.name != "worker") names.push_back(known.name);
  }
  const std::string guess = did_you_mean(command, names);
  throw UsageError(fmt::format("unknown command '{}'{}", escaped(command),
                               guess.empty() ? fmt::format("; '{} help' lists all", typed_program_name()) : guess));
}

int dispatch(std::string_view command, int argc, const char* const* argv) {
  const auto* known = std::ranges::find(kCommands, command, &Command::name);
  if (known != kCommands.end()) return known->run(argc, argv);
  if (command == "version" || command == "--version") return print("muster " MUSTER_VERSION "\n", kExitAnswered);
  if (command == "help" && argc > 1) {
    const char* const help[] = {argv[1], "--help"};
    return dispatch(argv[1], 2, help);
  }
  if (command == "help" || command == "--help" || command == "-h") return print(help(), kExitAnswered);
  refuse(command);
}

int fail(std::string_view command, std::string_view message, int exit_code) {
  const bool is_known = std::ranges::find(kCommands, command, &Command::name) != kCommands.end();
  write_all(STDERR_FILENO, fmt::format("muster{}{}: {}\n", is_known ? " " : "", is_known ? command : "", message));
  return exit_code;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) {
  muster::cli::open_standard_descriptors();
  muster::cli::set_program_name(argc > 0 ? argv[0] : "");
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow causes an error of write(), as a full disk does
  if (argc < 2) {
    muster::cli::write_all(STDERR_FILENO, muster::cli::help());
    return muster::cli::kExitUsage;
  }
  const std::string_view command = argv[1];
  muster::cli::keep_memory();
  try {
    return muster::cli::dispatch(command, argc - 1, argv + 1);
  } catch (const muster::cli::UsageError& error) {
    return muster::cli::fail(command, error.what(), muster::cli::kExitUsage);
  } catch (const std::exception& error) {
    return muster::cli::fail(command, error.what(), muster::cli::kExitInternal);
  }
}
