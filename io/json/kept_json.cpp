#include "io/json/kept_json.h"

#include <algorithm>
#include <cstring>

namespace muster::json {

namespace {

constexpr std::uint64_t kPayload = 0x00FF'FFFF'FFFF'FFFF;

// Bytes of the strings that `count` words refer to. Each has its length before it and a zero after it; they lie in the
// order of the text.
std::size_t string_bytes(const JsonTape& tape, std::size_t count) {
  std::size_t bytes = 0;
  for (std::size_t i = 1; i < count; ++i) {
    const char type = static_cast<char>(tape.words[i] >> 56);
    if (type == 'l' || type == 'u' || type == 'd') ++i;
    if (type != '"') continue;
    const std::size_t begin = tape.words[i] & kPayload;
    std::uint32_t length = 0;
    std::memcpy(&length, tape.strings + begin, sizeof length);
    bytes = std::max(bytes, begin + sizeof length + length + 1);
  }
  return bytes;
}

}  // namespace

KeptJson::KeptJson(const JsonDocument& parsed) {
  const JsonTape& from = *parsed.root().tape();
  const std::size_t words = from.words[0] & kPayload;  // the root's word says where the tape ends
  const std::size_t word_bytes = words * sizeof(std::uint64_t);
  const std::size_t structural_bytes = from.structural_count * sizeof(std::uint32_t);
  const std::size_t strings = string_bytes(from, words);
  const std::size_t total = word_bytes + structural_bytes + strings + from.text.size();
  block_ = std::make_unique_for_overwrite<std::uint64_t[]>((total + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  char* const structurals_at = reinterpret_cast<char*>(block_.get()) + word_bytes;
  char* const strings_at = structurals_at + structural_bytes;
  char* const text_at = strings_at + strings;
  std::memcpy(block_.get(), from.words, word_bytes);
  std::memcpy(structurals_at, from.structurals, structural_bytes);
  std::memcpy(strings_at, from.strings, strings);
  std::memcpy(text_at, from.text.data(), from.text.size());
  tape_ = std::make_unique<const JsonTape>(JsonTape{block_.get(),
                                                    strings_at,
                                                    {text_at, from.text.size()},
                                                    reinterpret_cast<const std::uint32_t*>(structurals_at),
                                                    from.structural_count});
  bytes_ = total + sizeof(JsonTape);
}

}  // namespace muster::json
