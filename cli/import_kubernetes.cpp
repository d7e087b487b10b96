#include "cli/import_kubernetes.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/imported_objects.h"
#include "cli/line/documents.h"
#include "cli/line/line.h"
#include "cli/line/line_options.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/options.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace muster::cli {

const CommandSyntax& import_kubernetes_syntax() {
  static const CommandSyntax syntax{
      "muster import kubernetes [FILE...] [OPTION...]",
      "Prints one snapshot line made of the Kubernetes objects in all files, or in stdin: kubectl output as JSON,\n"
      "YAML or watch events (`--watch --output-watch-events`), or manifests, one document after another.\n"
      "Lists what it ignores on stderr.",
      {{"expand", "", "add the pods that templates still request, as pending pods"},
       {"time", "INSTANT", "current time (default: the clock for stdin, the latest instant in the objects for files)"},
       {"strict", "", "treat an inconsistent object as an error, not as a warning"},
       duration_annotation_row(),
       planned_gate_row(),
       {"quiet", "", "print only errors on stderr"}},
      0,
      std::numeric_limits<std::size_t>::max()};
  return syntax;
}

int run_import_kubernetes(int argc, const char* const* argv) {
  const Settings settings(import_kubernetes_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(import_kubernetes_syntax()), kExitAnswered);
  kubernetes::KubernetesOptions options = kubernetes_options(settings);
  options.expand = settings.is_on("expand");
  std::vector<std::string> files = settings.arguments();
  if (files.empty()) files.emplace_back("-");
  std::string text;
  for (const std::string& file : files) {
    const auto error = read_documents(file, text);
    if (!error) continue;
    if (error->code != ErrorCode::kNoInput) return complain_of_import(*error, file);
    return complain_of_import(fmt::format("{}: {}", escaped(file), error->message), kExitNoInput);
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return complain_of_import("the input is empty", kExitNoInput);
  }
  const bool is_now = std::ranges::find(files, "-") != files.end();
  options = with_time(options, is_now ? TimeSource::kClock : TimeSource::kObjects);
  return print_imported(std::move(text), options, settings.is_on("quiet") ? Remarks::kQuiet : Remarks::kTold);
}

}  // namespace muster::cli
