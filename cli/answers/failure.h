// What kept a command from giving its answer, on stderr.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal/exit_code.h"
#include "model/base/error.h"

namespace muster::cli {

// "PATH: MESSAGE", made safe for a terminal; only the message if the path is that of the whole input.
std::string failure_words(const InputError& error);

// Prints "muster COMMAND: " and these words; returns the exit code.
int complain_of(std::string_view command, const InputError& error, int exit_code = kExitNoValidLine);

}  // namespace muster::cli
