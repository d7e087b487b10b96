// Answers that are given once, or again while the cluster changes (--watch).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/terminal/console.h"
#include "cli/terminal/options.h"

namespace muster::cli {

// The row of --watch.
OptionRow watch_row();

// An answer, or nothing but the exit code of what kept it from being given, which has been reported.
struct WatchedAnswer {
  std::string text;                       // for stdout; empty: none
  int exit_code = kExitAnswered;          // if there is a text, it is not looked at with --watch
  std::vector<std::string> remarks = {};  // for stderr, after the text
};

// Prints what `answer` returns; returns the exit code. With --watch, it is called again at that interval if a source
// may have changed, and a text that differs from the one before is printed, on a terminal in place of what stands
// there, until a signal is received or the output fails. A later answer that cannot be given, as while a file is being
// replaced, is waited for. With --watch, handlers of signals are installed: call it once a process.
//
// `sources`: all that is read for the answer: files, which may have changed if stat() says so, and live clusters, which
// always may. Throws UsageError: stdin twice; with --watch, stdin; what `answer` throws.
int give_answer(const Settings& settings, const std::vector<std::string>& sources,
                const std::function<WatchedAnswer()>& answer);

}  // namespace muster::cli
