#include "cli/import_kubernetes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/imported_objects.h"
#include "cli/line/line.h"
#include "cli/line/line_options.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/options.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "io/json/yaml.h"

namespace muster::cli {
namespace {

CommandSyntax syntax() {
  return {
      "muster import kubernetes [FILE...] [OPTION...]",
      "Prints one snapshot line made of the Kubernetes objects in all files, or in stdin: kubectl output as JSON,\n"
      "YAML or watch events (`--watch --output-watch-events`), or manifests, one document after another.\n"
      "Lists what it ignores on stderr.",
      {{"expand", "", "add the pods that templates still request, as pending pods"},
       {"time", "INSTANT", "current time (default: the clock for stdin, the latest instant in the objects for files)"},
       {"strict", "", "treat an inconsistent object as an error, not as a warning"},
       duration_annotation_row(),
       {"quiet", "", "print only errors on stderr"}},
      0,
      std::numeric_limits<std::size_t>::max()};
}

// By its name, else by whether it begins as JSON does.
bool is_yaml(std::string_view file, std::string_view text) {
  if (file.ends_with(".yaml") || file.ends_with(".yml")) return true;
  if (file.ends_with(".json")) return false;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] != '{' && text[first] != '[';
}

// Appends the file's documents as JSON. Returns the exit code.
int read_documents(const std::string& file, std::string& out) {
  const std::size_t begin = out.size();
  const int error = read_whole_file(file, out);
  if (error != 0) {
    return complain_of_import(fmt::format("{}: {}", escaped(file), std::strerror(error)), kExitNoInput);
  }
  const std::string_view text = std::string_view(out).substr(begin);
  if (is_yaml(file, text)) {
    const Result<std::string> json = json::yaml_to_json(text);
    if (!json) return complain_of_import(json.error(), file);
    out.replace(begin, out.size() - begin, *json);
  }
  out += '\n';
  return kExitAnswered;
}

}  // namespace

int run_import_kubernetes(int argc, const char* const* argv) {
  const Settings settings(syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(syntax()), kExitAnswered);
  kubernetes::KubernetesOptions options;
  options.time = settings.instant("time");
  options.strict = settings.is_on("strict");
  options.duration_annotation = duration_annotation(settings);
  options.expand = settings.is_on("expand");
  std::vector<std::string> files = settings.arguments();
  if (files.empty()) files.emplace_back("-");
  std::string text;
  for (const std::string& file : files) {
    if (const int code = read_documents(file, text); code != kExitAnswered) return code;
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return complain_of_import("the input is empty", kExitNoInput);
  }
  const bool is_now = std::ranges::find(files, "-") != files.end();
  options = with_time(options, is_now ? TimeSource::kClock : TimeSource::kObjects);
  return print_imported(std::move(text), options, settings.is_on("quiet") ? Remarks::kQuiet : Remarks::kTold);
}

}  // namespace muster::cli
