// The texts of an enum's values, in one place.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace muster {

// A row for each value, in the order of the enum: a static_assert next to the table checks is_in_order.
template <class Code, std::size_t kCount>
using CodeTable = std::array<std::pair<Code, std::string_view>, kCount>;

// Whether row i is that of the value i, so that a value is the position of its row.
template <class Code, std::size_t kCount>
constexpr bool is_in_order(const CodeTable<Code, kCount>& table) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (static_cast<std::size_t>(table[i].first) != i) return false;
  }
  return true;
}

template <class Code, std::size_t kCount>
constexpr std::string_view text_of(const CodeTable<Code, kCount>& table, Code code) {
  return table[static_cast<std::size_t>(code)].second;
}

// The value with this text; none if there is no such value.
template <class Code, std::size_t kCount>
constexpr std::optional<Code> code_of(const CodeTable<Code, kCount>& table, std::string_view text) {
  for (const auto& [code, own] : table) {
    if (own == text) return code;
  }
  return std::nullopt;
}

}  // namespace muster
