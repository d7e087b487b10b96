#include "cli/line/documents.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/json/yaml.h"
#include "model/base/large_pages.h"

namespace muster::cli {
namespace {

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

std::optional<json::JsonText> open_documents(const std::string& file, Descriptor& opened) {
  constexpr std::size_t kHead = 4096;
  opened = Descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (opened.get() < 0 || fstat(opened.get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  const json::JsonText text(opened.get(), static_cast<std::size_t>(about.st_size));
  json::JsonText::Buffer buffer;
  const std::string_view head = text.piece(0, kHead, buffer);
  if (is_yaml(file, head) || head.find_first_not_of(" \t\r\n") == std::string_view::npos) return std::nullopt;
  return text;
}

}  // namespace muster::cli
