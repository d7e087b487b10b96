#include "io/json/json_builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "model/base/large_pages.h"
#include "model/base/require.h"

namespace muster::json {

void JsonBuilder::clear() {
  words_.assign(1, 0);
  strings_.clear();
  open_.clear();
  recent_.fill(0);
}

void JsonBuilder::open(JsonKind container) {
  MUSTER_REQUIRE_SLOW(container == JsonKind::kObject || container == JsonKind::kArray);
  count_value();
  open_.push_back({words_.size(), 0});
  word(static_cast<char>(container), 0);
}

void JsonBuilder::close() {
  constexpr std::uint64_t kMostCounted = 0xFFFFFF;
  MUSTER_REQUIRE_SLOW(!open_.empty());
  const Open ended = open_.back();
  open_.pop_back();
  const bool is_object = words_[ended.begin] >> 56 == static_cast<std::uint64_t>(JsonKind::kObject);
  const std::uint64_t count = is_object ? ended.values / 2 : ended.values;  // a member is a key and a value
  word(is_object ? '}' : ']', ended.begin);
  words_[ended.begin] |= std::min(count, kMostCounted) << 32 | words_.size();
  words_.front() = words_.size();  // as a parsed tape begins
}

namespace {

// Of a text of at most 32 characters: by how it begins and ends.
std::size_t recent_place(std::string_view text, std::size_t places) {
  std::uint64_t first = 0, last = 0;
  const std::size_t bytes = std::min(text.size(), sizeof first);
  std::memcpy(&first, text.data(), bytes);
  std::memcpy(&last, text.data() + text.size() - bytes, bytes);
  return ((first ^ std::rotl(last, 23) ^ text.size()) * 0x9E37'79B9'7F4A'7C15U >> 32U) % places;
}

}  // namespace

// Short texts, of which keys and words are most, come again and again: one that was kept recently is kept once.
std::uint64_t JsonBuilder::keep(std::string_view text) {
  constexpr std::size_t kShort = 32;
  const auto length = static_cast<std::uint32_t>(text.size());
  const std::uint64_t place = strings_.size();
  if (!text.empty() && text.size() <= kShort) {
    std::uint64_t& recent = recent_[recent_place(text, recent_.size())];
    const char* const known = strings_.data() + recent;
    if (recent < place && std::memcmp(known, &length, sizeof length) == 0 &&
        std::memcmp(known + sizeof length, text.data(), text.size()) == 0)
      return recent;
    recent = place;
  }
  std::array<char, sizeof length> bytes;
  std::memcpy(bytes.data(), &length, sizeof length);
  strings_.append(bytes.data(), bytes.size()).append(text).push_back('\0');
  return place;
}

void JsonBuilder::reserve(std::size_t bytes) {
  words_.reserve(bytes / sizeof(std::uint64_t));
  strings_.reserve(bytes);
  ask_for_large_pages(words_);
  ask_for_large_pages(strings_);
}

void JsonBuilder::string(std::string_view text) {
  count_value();
  word('"', keep(text));
}

// Its characters stand among the strings.
void JsonBuilder::number(JsonValue value, NumberCursor& numbers) {
  std::array<char, 24> digits;
  char* end = digits.data();
  if (value.is(JsonKind::kInteger)) end = std::to_chars(end, end + digits.size(), value.integer()).ptr;
  if (value.is(JsonKind::kUnsigned)) end = std::to_chars(end, end + digits.size(), value.unsigned_integer()).ptr;
  const std::string_view whole(digits.data(), static_cast<std::size_t>(end - digits.data()));
  word(static_cast<char>(value.kind()), keep(whole.empty() ? number_text(value, numbers) : whole));
  words_.push_back(value.unsigned_integer());
}

void JsonBuilder::copy(JsonValue value, NumberCursor& numbers) {
  switch (value.kind()) {
    case JsonKind::kObject:
      open(JsonKind::kObject);
      for (const JsonMember member : value.members()) {
        if (member.value.is(JsonKind::kNull)) continue;
        count_value();
        word('"', keep(member.key));
        copy(member.value, numbers);
      }
      return close();
    case JsonKind::kArray:
      open(JsonKind::kArray);
      for (const JsonValue element : value.elements()) copy(element, numbers);
      return close();
    case JsonKind::kString:
      count_value();
      return word('"', keep(value.string()));
    case JsonKind::kInteger:
    case JsonKind::kUnsigned:
    case JsonKind::kDouble:
      count_value();
      return number(value, numbers);
    case JsonKind::kTrue:
    case JsonKind::kFalse:
    case JsonKind::kNull:
      count_value();
      return word(static_cast<char>(value.kind()), 0);
  }
}

JsonValue JsonBuilder::root() const {
  MUSTER_REQUIRE(open_.empty() && words_.size() > 1);
  tape_ = {words_.data(), strings_.data(), {}, nullptr, 0};
  return {&tape_, 1};
}

}  // namespace muster::json
