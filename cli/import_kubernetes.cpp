#include "cli/import_kubernetes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/imported_objects.h"
#include "cli/line.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "io/yaml.h"

namespace muster {
namespace {

CommandSyntax syntax() {
  return {
      "muster import kubernetes [FILE...] [OPTION...]",
      "Prints one snapshot line of the Kubernetes objects in all files, or in stdin: what `kubectl get ... -o json`,\n"
      "`-o yaml` or `--watch --output-watch-events` prints, and manifests, one document after another. What is "
      "ignored\n"
      "goes to stderr.",
      {{"expand", "", "pods that templates ask for and that are not there yet are pending ones"},
       {"time", "INSTANT", "now (default: the clock's time for stdin, the latest instant of the objects for files)"},
       {"strict", "", "an object that does not add up is an error, not a warning"},
       {"quiet", "", "nothing on stderr but errors"}},
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
    const Result<std::string> json = yaml_to_json(text);
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
  KubernetesOptions options;
  options.time = settings.instant("time");
  options.strict = settings.is_on("strict");
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

}  // namespace muster
