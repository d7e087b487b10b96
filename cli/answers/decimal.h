// Exact decimals of plan lines, as far as 64 bits hold them.
#pragma once

#include <optional>
#include <string>

#include "cli/terminal/text_table.h"

namespace muster::cli {

// The number of a decimal text without an exponent, "-12.5". None: it is no such text, or 64 bits do not hold it.
std::optional<Decimal> decimal_in(const std::string& text);
std::optional<Decimal> decimal_in(const std::optional<std::string>& text);

// a - b; saturates at the limits of 64 bits.
Decimal subtract(Decimal a, Decimal b);

// Whether the numbers differ, or only one is there.
bool differ(const std::optional<Decimal>& a, const std::optional<Decimal>& b);

}  // namespace muster::cli
