#include "cli/line/documents.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/json/yaml.h"

namespace muster::cli {
namespace {

// Fewer page faults, which would be a good part of the time.
void ask_for_large_pages(std::string& buffer) {
  constexpr std::size_t kPage = 4096;
  void* begin = buffer.data();
  std::size_t size = buffer.capacity();
  if (std::align(kPage, kPage, begin, size)) static_cast<void>(madvise(begin, size / kPage * kPage, MADV_HUGEPAGE));
}

// By its name, else by whether it begins as JSON does.
bool is_yaml(std::string_view file, std::string_view text) {
  if (file.ends_with(".yaml") || file.ends_with(".yml")) return true;
  if (file.ends_with(".json")) return false;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] != '{' && text[first] != '[';
}

}  // namespace

int read_whole_file(const std::string& file, std::string& out) {
  const int descriptor = file == "-" ? STDIN_FILENO : open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  constexpr std::size_t kPiece = std::size_t{1} << 17;  // stays in the cache until it is appended
  struct stat about {};
  if (fstat(descriptor, &about) == 0 && about.st_size > 0) {
    out.reserve(out.size() + static_cast<std::size_t>(about.st_size) + 1);  // and a line feed after it
    ask_for_large_pages(out);
  }
  int error = 0;
  const auto piece = std::make_unique_for_overwrite<char[]>(kPiece);
  while (true) {
    const ssize_t got = read(descriptor, piece.get(), kPiece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    out.append(piece.get(), static_cast<std::size_t>(got));
  }
  if (descriptor != STDIN_FILENO) close(descriptor);
  return error;
}

std::optional<InputError> read_documents(const std::string& file, std::string& out) {
  const std::size_t begin = out.size();
  const int error = read_whole_file(file, out);
  if (error != 0) return InputError{ErrorCode::kNoInput, "$", std::strerror(error)};
  const std::string_view text = std::string_view(out).substr(begin);
  if (is_yaml(file, text)) {
    const Result<std::string> json = json::yaml_to_json(text);
    if (!json) return json.error();
    out.replace(begin, out.size() - begin, *json);
  }
  out += '\n';
  return std::nullopt;
}

}  // namespace muster::cli
