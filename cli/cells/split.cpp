#include "cli/cells/split.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/cells/ledger.h"
#include "cli/cells/whole_cluster.h"
#include "cli/line/line_options.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "io/snapshot_writer/write_snapshot.h"
#include "model/base/parallel.h"
#include "model/base/words.h"
#include "solver/cells/cell_snapshot.h"
#include "solver/cells/dealing.h"

namespace muster::cli {

const CommandSyntax& split_syntax() {
  static const CommandSyntax syntax{
      "muster split [FILE] --cells N|LABEL --ledger FILE [OPTION...]",
      "Divides one snapshot into N cells, each a snapshot that 'muster solve' takes, one per line. 'muster merge "
      "--cells'\n"
      "makes one plan of their plans. Without FILE, or for -, reads stdin.",
      {{"cells", "N|LABEL", "number of cells; or the label of nodes by whose values the cells are formed"},
       {"ledger", "FILE", "write to FILE what 'muster merge --cells' needs to know of the cells"},
       {"plan", "FILE", "the plan of an earlier round: what it places stays in its cell, what waits is dealt again"},
       {"round", "N", "number of the round: gangs that wait go to other cells in each (default 1; with --plan, 2)"},
       {"threads", "N", "number of threads (default: the available cores)"},
       {"lenient", "", "ignore keys that the format does not define"},
       {"strict", "", "treat an inconsistent object as an error of its whole line, not as a warning"},
       {"max-line-bytes", "N", "reject longer lines (default 1073741824)"},
       {"quiet", "", "print only errors on stderr"}},
      0,
      1};
  return syntax;
}

namespace {

constexpr std::int64_t kMostCells = 100'000, kMostRounds = 1'000'000;

cells::DealingOptions dealing_options(const Settings& settings) {
  const auto text = settings.text("cells");
  if (!text || text->empty()) throw UsageError("--cells: give the number of cells, or a label of nodes");
  cells::DealingOptions options;
  if (std::ranges::all_of(*text, [](char c) { return c >= '0' && c <= '9'; }))
    options.cells = static_cast<std::size_t>(*settings.integer("cells", 1, kMostCells));
  else
    options.label = *text;
  options.round =
      static_cast<std::size_t>(settings.integer("round", 1, kMostRounds).value_or(settings.text("plan") ? 2 : 1));
  return options;
}

int write_file(const std::string& path, const std::string& content, Console& console) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int error = file < 0 ? errno : write_all(file, content);
  if (file >= 0 && close(file) != 0 && error == 0) error = errno;
  if (error == 0) return kExitAnswered;
  console.say(Severity::kError, fmt::format("--ledger: {}: {}", escaped(path), std::strerror(error)));
  return kExitCannotCreate;
}

// The cells' lines, some at a time.
int write_cells(const cells::CellSnapshots& snapshots, std::size_t count, int threads) {
  const std::size_t at_once = static_cast<std::size_t>(std::max(1, threads));
  for (std::size_t first = 0; first < count; first += at_once) {
    std::vector<std::string> lines(std::min(at_once, count - first));
    parallel_for(lines.size(), threads, [&](std::size_t i) {
      snapshot_writer::write_snapshot(snapshots.of(cells::CellIndex(first + i)), lines[i]);
      lines[i] += '\n';
    });
    for (const std::string& line : lines)
      if (const int code = print(line, kExitAnswered); code != kExitAnswered) return code;
  }
  return kExitAnswered;
}

void tell(const cells::Dealing& dealing, Console& console) {
  if (dealing.too_large > 0)
    console.say(Severity::kWarning,
                fmt::format("{} asked for more than any cell has room for, and left to 'muster merge'",
                            counted(static_cast<std::int64_t>(dealing.too_large), "gang")));
  if (dealing.left_out > 0)
    console.say(Severity::kWarning, fmt::format("{} in no cell, and left to 'muster merge': pod affinity, topology "
                                                "spread, or pods that run in several cells",
                                                counted(static_cast<std::int64_t>(dealing.left_out), "gang")));
}

}  // namespace

int run_split(int argc, const char* const* argv) {
  const Settings settings(split_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(split_syntax()), kExitAnswered);
  cells::DealingOptions options = dealing_options(settings);
  const auto ledger = settings.text("ledger");
  if (!ledger) throw UsageError("--ledger: give the file to be written");
  const int threads = line_options(settings).solve.threads;
  Console console({LogFormat::kText, settings.is_on("quiet"), false});
  WholeCluster whole(settings);
  const std::string file = settings.arguments().empty() ? "-" : settings.arguments().front();
  if (const int code = whole.read(file, console); code != kExitAnswered) return code;
  std::optional<Plan> plan;
  if (const auto path = settings.text("plan")) {
    plan = whole.read_plan(*path, console);
    if (!plan) return kExitNoValidLine;
    options.plan = &*plan;
  }
  const Problem& problem = whole.problem();
  const cells::Dealing dealing = cells::deal(problem, options);
  tell(dealing, console);
  std::vector<std::string> ids;
  for (const std::string& name : dealing.names) ids.push_back(cells::cell_id(problem, name));
  if (const int code = write_file(*ledger, ledger_text(problem, dealing, ids), console); code != kExitAnswered)
    return code;
  return write_cells(cells::CellSnapshots(problem, dealing), dealing.size(), threads);
}

}  // namespace muster::cli
