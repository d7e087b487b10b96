#include "cli/answers/decimal.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "model/base/saturating.h"

namespace muster::cli {

std::optional<Decimal> decimal_in(const std::string& text) {
  std::string digits = text;
  Decimal number;
  if (const std::size_t point = text.find('.'); point != std::string::npos) {
    digits.erase(point, 1);
    for (std::size_t i = point + 1; i < text.size(); ++i) number.scale = saturating_multiply(number.scale, 10);
  }
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number.value);
  return error == std::errc() && stop == end && number.scale != kLargest ? std::optional(number) : std::nullopt;
}

std::optional<Decimal> decimal_in(const std::optional<std::string>& text) {
  return text ? decimal_in(*text) : std::nullopt;
}

Decimal subtract(Decimal a, Decimal b) {
  const std::int64_t scale = std::max(a.scale, b.scale);
  const auto scaled = [&](Decimal number) { return saturating_multiply(number.value, scale / number.scale); };
  return {saturating_subtract(scaled(a), scaled(b)), scale};
}

bool differ(const std::optional<Decimal>& a, const std::optional<Decimal>& b) {
  if (!a || !b) return a.has_value() != b.has_value();
  return subtract(*a, *b).value != 0;
}

}  // namespace muster::cli
