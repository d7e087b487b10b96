// The program `muster`: finds the subcommand, and turns faults into an exit code.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/command_table.h"
#include "cli/completion.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "io/json/json_document.h"
#include "solver/cbc/backend.h"

namespace muster::cli {
namespace {

// Memory that a line has freed is kept for the next one: memory that is returned to the system comes back page by page,
// each cleared, which took a quarter of a cycle with 10,000 nodes. The resident size stays that of the largest lines so
// far. The first of it comes in large pages, where the kernel has them (madvise): a first line of 65,000 pods takes a
// fifth less time. What is never used of it is address space only.
void keep_memory() {
  constexpr int kLargestBlockFromHeap = 32 << 20, kNeverTrimmed = std::numeric_limits<int>::max(), kStep = 4 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargestBlockFromHeap);
  mallopt(M_TRIM_THRESHOLD, kNeverTrimmed);
  mallopt(M_TOP_PAD, kStep);
  constexpr std::size_t kFirst = std::size_t{256} << 20;
  constexpr std::uintptr_t kPage = 4096;
  constexpr int kMostMapped = 65'536;  // glibc's default
  mallopt(M_MMAP_MAX, 0);              // from the heap
  void* first = std::malloc(kFirst);
  mallopt(M_MMAP_MAX, kMostMapped);
  if (first == nullptr) return;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(first) + kPage - 1) / kPage * kPage;
  static_cast<void>(madvise(reinterpret_cast<void*>(begin), kFirst - kPage, MADV_HUGEPAGE));
  std::free(first);
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

int dispatch(int argc, const char* const* argv) {
  std::vector<std::string_view> words(argv, argv + argc);
  if (words[0] == "worker") return run_worker(argc, argv);
  if (words[0] == "__complete") return run_complete(argc, argv);
  if (words[0] == "--version") words = {"version"};
  if (words[0] == "--help" || words[0] == "-h") words = {"help"};
  const Command* command = find_command(words);
  if (command == nullptr) throw UsageError(unknown_command(words[0]));
  const int skipped = static_cast<int>(word_count(*command)) - 1;
  const bool is_flag = argv[0][0] == '-';
  return command->run(is_flag ? 1 : argc - skipped, argv + skipped);
}

int fail(std::string_view command, std::string_view message, int exit_code) {
  const bool is_known = command == "worker" || find_command({&command, 1}) != nullptr;
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
    muster::cli::write_all(STDERR_FILENO, muster::cli::help_overview());
    return muster::cli::kExitUsage;
  }
  const std::string_view command = argv[1];
  muster::cli::keep_memory();
  try {
    muster::json::choose_parser();
    return muster::cli::dispatch(argc - 1, argv + 1);
  } catch (const muster::cli::UsageError& error) {
    return muster::cli::fail(command, error.what(), muster::cli::kExitUsage);
  } catch (const std::exception& error) {
    return muster::cli::fail(command, error.what(), muster::cli::kExitInternal);
  }
}
