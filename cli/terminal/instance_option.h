// Options that `import` and `generate` have in common.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/terminal/options.h"
#include "model/base/error.h"

namespace muster::cli {

// A number of at least zero. None if it is not set anywhere. Throws UsageError.
inline std::optional<double> amount_option(const Settings& settings, std::string_view name) {
  const std::optional<std::string> text = settings.text(name);
  if (!text) return std::nullopt;
  double number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end || !(number >= 0 && number <= std::numeric_limits<double>::max())) {
    throw UsageError(std::string(name) + ": '" + *text + "' is not a number of at least 0");
  }
  return number;
}

// Sets `field` if the option is given; the datasets define its permitted values.
inline void set_amount(const Settings& settings, std::string_view name, double& field) {
  field = amount_option(settings, name).value_or(field);
}

inline void set_count(const Settings& settings, std::string_view name, std::int32_t& field) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  field = static_cast<std::int32_t>(settings.integer(name, kLeast, kMost).value_or(field));
}

inline void set_seed(const Settings& settings, std::uint64_t& field) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (const auto seed = settings.integer("seed", 0, kMost)) field = static_cast<std::uint64_t>(*seed);
}

// Options that contradict each other, or the data.
inline void refuse_fault(const std::optional<InputError>& fault) {
  if (fault) throw UsageError("--" + fault->path + " " + fault->message);
}

}  // namespace muster::cli
