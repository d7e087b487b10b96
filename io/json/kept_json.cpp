#include "io/json/kept_json.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace muster::json {

namespace {

constexpr std::uint64_t kPayload = 0x00FF'FFFF'FFFF'FFFF;

// Bytes of the strings that `count` words refer to. Each has its length before it and a zero after it; they lie in the
// order of the text.
std::size_t string_bytes(const JsonTape& tape, std::size_t count) {
  std::size_t bytes = 0;
  for (std::size_t i = 1; i < count; ++i) {
    const std::uint64_t word = tape.words[i];
    const char type = static_cast<char>(word >> 56);
    const bool is_number = type == 'l' || type == 'u' || type == 'd';
    if (is_number) ++i;
    if (type != '"' && (!is_number || tape.structurals != nullptr)) continue;
    const std::size_t begin = word & kPayload;
    std::uint32_t length = 0;
    std::memcpy(&length, tape.strings + begin, sizeof length);
    bytes = std::max(bytes, begin + sizeof length + length + 1);
  }
  return bytes;
}

}  // namespace

KeptJson::KeptJson(const JsonDocument& parsed) : KeptJson(*parsed.root().tape()) {}

KeptJson::KeptJson(const JsonBuilder& built) : KeptJson(*built.root().tape()) {}

bool KeptJson::is(const JsonBuilder& built) const {
  return bytes_ == built.bytes() + sizeof(JsonTape) &&
         std::equal(built.words_.begin(), built.words_.end(), tape_->words) &&
         std::memcmp(tape_->strings, built.strings_.data(), built.strings_.size()) == 0;
}

KeptJson::KeptJson(const JsonTape& from) {
  const std::size_t words = from.words[0] & kPayload;  // the first word says where the tape ends
  const std::size_t word_bytes = words * sizeof(std::uint64_t);
  const std::size_t structural_bytes = from.structural_count * sizeof(std::uint32_t);
  const std::size_t strings = string_bytes(from, words);
  const std::size_t total = word_bytes + structural_bytes + strings + from.text.size();
  block_ = std::make_unique_for_overwrite<std::uint64_t[]>((total + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  char* const structurals_at = reinterpret_cast<char*>(block_.get()) + word_bytes;
  char* const strings_at = structurals_at + structural_bytes;
  char* const text_at = strings_at + strings;
  std::memcpy(block_.get(), from.words, word_bytes);
  if (structural_bytes > 0) std::memcpy(structurals_at, from.structurals, structural_bytes);
  std::memcpy(strings_at, from.strings, strings);
  from.text.copy(text_at, from.text.size());
  tape_ = std::make_unique<const JsonTape>(
      JsonTape{block_.get(),
               strings_at,
               {text_at, from.text.size()},
               from.structurals == nullptr ? nullptr : reinterpret_cast<const std::uint32_t*>(structurals_at),
               from.structural_count});
  bytes_ = total + sizeof(JsonTape);
}

}  // namespace muster::json
