// Texts in annotations: lists with separators, and JSON.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/json/json_document.h"

namespace muster::kubernetes {

inline constexpr std::int64_t kBytesOfMib = std::int64_t{1} << 20;

// The text before the first of the separators, or all of it; taken from `text` with the separator.
inline std::string_view next_part(std::string_view& text, std::string_view separators) {
  const std::size_t end = std::min(text.find_first_of(separators), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// Decimal digits alone. None: anything else.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// A value of this kind, with its document.
class AnnotationJson {
 public:
  AnnotationJson(std::string_view text, json::JsonKind kind) {
    constexpr std::size_t kMostAnnotationDepth = 16;
    is_valid_ = !document_.parse(text, {text.size(), kMostAnnotationDepth}) && document_.root().is(kind);
  }
  explicit operator bool() const { return is_valid_; }
  // Requires that it is one. Valid as long as this object.
  json::JsonValue root() const { return document_.root(); }

 private:
  json::JsonDocument document_;
  bool is_valid_ = false;
};

}  // namespace muster::kubernetes
