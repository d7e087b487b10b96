#include "cli/imported_objects.h"

#include <limits>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/terminal/exit_code.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "io/muster_v1/snapshot_reader.h"

namespace muster::cli {
int complain_of_import(std::string_view message, int exit_code) {
  write_all(STDERR_FILENO, fmt::format("muster import: {}\n", message));
  return exit_code;
}

int complain_of_import(const InputError& error, std::string_view file) {
  const std::string where = file.empty() ? std::string() : escaped(file) + ": ";
  return complain_of_import(
      fmt::format("{}{} at {}: {}", where, error_code_text(error.code), escaped(error.path), escaped(error.message)),
      kExitNoValidLine);
}

int print_imported(std::string text, const kubernetes::KubernetesOptions& options, Remarks remarks) {
  const auto imported = kubernetes::import_kubernetes_text(
      std::move(text), options, {std::numeric_limits<std::size_t>::max(), muster_v1::ReaderOptions().max_depth});
  if (!imported) return complain_of_import(imported.error(), "");
  if (remarks == Remarks::kTold) {
    for (const std::string& remark : imported->remarks) complain_of_import(escaped(remark), kExitAnswered);
    for (const Warning& warning : imported->warnings)
      complain_of_import("warning: " + warning_text(warning), kExitAnswered);
  }
  return print(imported->line + '\n', kExitAnswered);
}

}  // namespace muster::cli
