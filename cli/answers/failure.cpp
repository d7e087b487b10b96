#include "cli/answers/failure.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace muster::cli {

std::string failure_words(const InputError& error) {
  const bool has_place = !error.path.empty() && error.path != "$";
  return (has_place ? escaped(error.path) + ": " : "") + escaped(error.message);
}

int complain_of(std::string_view command, const InputError& error, int exit_code) {
  write_all(STDERR_FILENO, fmt::format("muster {}: {}\n", command, failure_words(error)));
  return exit_code;
}

}  // namespace muster::cli
