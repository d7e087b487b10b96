#include "datasets/traces/compressed.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>

#include <lzma.h>

namespace muster::traces {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20;  // of the decoder; `xz -9` needs 65 MiB

std::optional<std::string> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::nullopt;
  return bytes;
}

std::optional<std::string> unpacked(const std::string& packed) {
  const auto* input = reinterpret_cast<const std::uint8_t*>(packed.data());
  for (std::size_t size = std::size_t{1} << 20; size <= kMostBytes; size *= 4) {
    std::string text(size, '\0');
    std::uint64_t memory = kMostMemory;
    std::size_t read = 0, written = 0;
    const lzma_ret result = lzma_stream_buffer_decode(&memory, 0, nullptr, input, &read, packed.size(),
                                                      reinterpret_cast<std::uint8_t*>(text.data()), &written, size);
    if (result == LZMA_BUF_ERROR && read < packed.size()) continue;  // there is more output
    if (result != LZMA_OK || read != packed.size()) return std::nullopt;
    text.resize(written);
    return text;
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> read_maybe_compressed(const std::string& path) {
  if (auto bytes = bytes_of(path)) return *std::move(bytes);
  const auto packed = bytes_of(path + ".xz");
  if (!packed) return InputError{ErrorCode::kNoInput, path, "the file cannot be read"};
  auto text = unpacked(*packed);
  if (!text) return InputError{ErrorCode::kInvalidValue, path + ".xz", "not a valid xz file, or larger than 64 MiB"};
  return *std::move(text);
}

}  // namespace muster::traces
