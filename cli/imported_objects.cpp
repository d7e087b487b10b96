#include "cli/imported_objects.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/terminal/exit_code.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "io/muster_v1/snapshot_reader.h"

namespace muster::cli {
namespace {

// Fewer page faults, which would be a good part of the time.
void ask_for_large_pages(std::string& buffer) {
  constexpr std::size_t kPage = 4096;
  void* begin = buffer.data();
  std::size_t size = buffer.capacity();
  if (std::align(kPage, kPage, begin, size)) static_cast<void>(madvise(begin, size / kPage * kPage, MADV_HUGEPAGE));
}

}  // namespace

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

int read_whole_file(const std::string& file, std::string& out) {
  const int descriptor = file == "-" ? STDIN_FILENO : open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  constexpr std::size_t kLeastRoom = std::size_t{1} << 16;
  std::size_t size = out.size();
  struct stat about {};
  if (fstat(descriptor, &about) == 0 && about.st_size > 0) {
    out.reserve(size + static_cast<std::size_t>(about.st_size) + kLeastRoom);
    ask_for_large_pages(out);
    out.resize(out.capacity());
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
