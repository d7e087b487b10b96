// Child processes that print something and end, without a shell.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace muster::cli {

struct EndedChild {
  // 127: it could not be started, and `err` is the reason; 128 plus the number of the signal that killed it.
  int exit_code = 0;
  std::string out, err;
};

// Runs commands, at most `most_at_once` at a time, and returns what each has printed, in their order. The first word of
// a command is the program, which is looked up in PATH; stdin is empty; no other descriptor is passed on. What a child
// prints on stderr and then waits, such as a request to log in, is shown on stderr if that is a terminal. None: SIGINT,
// SIGTERM or SIGHUP came; the children were killed, and the signal takes effect with the return. Requires
// most_at_once > 0. Memory: all output.
std::optional<std::vector<EndedChild>> run_children(const std::vector<std::vector<std::string>>& commands,
                                                    std::size_t most_at_once);

}  // namespace muster::cli
