#include "cli/import_kubernetes.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "io/kubernetes_documents.h"
#include "io/kubernetes_import.h"
#include "io/kubernetes_items.h"
#include "io/snapshot_reader.h"

namespace muster {
namespace {

CommandSyntax syntax() {
  return {
      "muster import kubernetes [FILE...] [OPTION...]",
      "Prints one snapshot line of the Kubernetes objects in all files, or in stdin: what `kubectl get ... -o json`\n"
      "or `--watch --output-watch-events` prints, one document after another. What is ignored goes to stderr.",
      {{"time", "INSTANT", "now (default: the latest instant that the objects tell)"},
       {"quiet", "", "nothing on stderr but errors"}},
      0,
      std::numeric_limits<std::size_t>::max()};
}

int complain(std::string_view message, int exit_code) {
  write_all(STDERR_FILENO, fmt::format("muster import: {}\n", message));
  return exit_code;
}

// Appends the whole file. Returns 0, or the errno that stopped it.
int read_file(const std::string& file, std::string& out) {
  const int descriptor = file == "-" ? STDIN_FILENO : open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  constexpr std::size_t kLeastRoom = std::size_t{1} << 16;
  std::size_t size = out.size();
  struct stat about {};
  if (fstat(descriptor, &about) == 0 && about.st_size > 0) {
    out.resize(size + static_cast<std::size_t>(about.st_size) + kLeastRoom);
  }
  int error = 0;
  while (true) {
    if (out.size() - size < kLeastRoom) out.resize(std::max(2 * out.size(), 4 * kLeastRoom));
    const ssize_t got = read(descriptor, out.data() + size, out.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  out.resize(size);
  if (descriptor != STDIN_FILENO) close(descriptor);
  return error;
}

Result<ImportedSnapshot> import_text(const std::string& text, const KubernetesOptions& options) {
  JsonDocument document;
  const ReaderOptions limits;
  if (auto error = document.parse(text, {std::numeric_limits<std::size_t>::max(), limits.max_depth})) {
    return *std::move(error);
  }
  if (!holds_kubernetes_objects(document.root())) {
    return InputError{"UnsupportedFormat", "$", "there are no Kubernetes objects: neither apiVersion nor kind"};
  }
  return import_kubernetes(document, options);
}

}  // namespace

int run_import_kubernetes(int argc, const char* const* argv) {
  const Settings settings(syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(syntax()), kExitAnswered);
  KubernetesOptions options;
  options.time = settings.instant("time");
  std::vector<std::string> files = settings.arguments();
  if (files.empty()) files.emplace_back("-");
  std::string text;
  for (const std::string& file : files) {
    const int error = read_file(file, text);
    if (error != 0) return complain(fmt::format("{}: {}", escaped(file), std::strerror(error)), kExitNoInput);
    text += '\n';
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return complain("the input is empty", kExitNoInput);
  const auto imported = import_text(join_documents(std::move(text)), options);
  if (!imported) {
    const InputError& error = imported.error();
    return complain(fmt::format("{} at {}: {}", escaped(error.code), escaped(error.path), escaped(error.message)),
                    kExitNoValidLine);
  }
  if (!settings.is_on("quiet")) {
    for (const std::string& remark : imported->remarks) complain(escaped(remark), kExitAnswered);
  }
  return print(imported->line + '\n', kExitAnswered);
}

}  // namespace muster
