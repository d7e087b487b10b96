#include "io/kubernetes/object/instants.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

#include "io/json/reading.h"
#include "model/snapshot/quantity.h"

namespace muster::kubernetes {

Nanoseconds import_time(std::optional<Nanoseconds> given, std::optional<Nanoseconds> not_before,
                        std::string_view latest) {
  return given ? *given : std::max(not_before.value_or(0), instant_of(latest).value_or(0));
}

std::optional<Nanoseconds> instant_of(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const Result<Nanoseconds> instant = parse_instant(text);
  return instant ? std::optional(*instant) : std::nullopt;
}

void LatestInstant::note(const KubernetesObject& object) {
  note(member_of(object.metadata, "creationTimestamp"));
  if (!object.status || !object.status.is(json::JsonKind::kObject)) return;
  for (const json::JsonMember member : object.status.members()) {
    if (member.key == "startTime") note(member.value);
    if (member.key == "conditions" || member.key == "containerStatuses") note_all(member.value);
  }
}

void LatestInstant::note(json::JsonValue instant) {
  if (!instant || !instant.is(json::JsonKind::kString)) return;
  const std::string_view text = instant.string();
  if (text == latest_ || !parse_instant(text)) return;
  if (latest_.empty() || is_earlier(latest_, text)) latest_ = text;
}

// Every member of conditions and states that is a time, by its name: lastTransitionTime, startedAt.
void LatestInstant::note_all(json::JsonValue value) {
  if (value.is(json::JsonKind::kArray)) {
    for (const json::JsonValue element : value.elements()) note_all(element);
  } else if (value.is(json::JsonKind::kObject)) {
    for (const json::JsonMember member : value.members()) {
      if (member.key.ends_with("Time") || member.key.ends_with("At")) {
        note(member.value);
      } else {
        note_all(member.value);
      }
    }
  }
}

namespace {

constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86'400;  // seconds
constexpr std::int64_t kMostSeconds = std::numeric_limits<Nanoseconds>::max() / kNanosecondsPerSecond;
constexpr std::size_t kMostDigits = 9;  // of one number of a time limit: sums of them fit 64 bits

std::optional<Nanoseconds> in_nanoseconds(std::int64_t seconds) {
  if (seconds < 0 || seconds > kMostSeconds) return std::nullopt;
  return seconds * kNanosecondsPerSecond;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const bool has_digits = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (text.empty() || text.size() > kMostDigits || !has_digits) return std::nullopt;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Between colons; none if there are more than three, or one of them is no number.
struct ClockNumbers {
  std::array<std::int64_t, 3> values{};
  std::size_t size = 0;
};

std::optional<ClockNumbers> clock_numbers(std::string_view text) {
  ClockNumbers numbers;
  for (bool is_last = false; !is_last;) {
    const std::size_t colon = text.find(':');
    const auto number = whole_number(text.substr(0, colon));
    if (!number || numbers.size == numbers.values.size()) return std::nullopt;
    numbers.values[numbers.size++] = *number;
    is_last = colon == std::string_view::npos;
    if (!is_last) text.remove_prefix(colon + 1);
  }
  return numbers;
}

// "D-" before the rest; hours come first after it, else the last number counts seconds.
std::optional<Nanoseconds> parse_time_limit(std::string_view text) {
  constexpr std::array<std::int64_t, 3> kUnits = {kHour, kMinute, 1};
  const std::size_t dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  const auto days = has_days ? whole_number(text.substr(0, dash)) : 0;
  const auto numbers = clock_numbers(has_days ? text.substr(dash + 1) : text);
  if (!days || !numbers || (has_days && numbers->values[0] >= kDay / kHour)) return std::nullopt;
  std::int64_t seconds = *days * kDay;
  const std::size_t first_unit = has_days ? 0 : kUnits.size() - numbers->size;
  for (std::size_t i = 0; i < numbers->size; ++i) {
    if (i > 0 && numbers->values[i] >= 60) return std::nullopt;
    seconds += numbers->values[i] * kUnits[first_unit + i];
  }
  return in_nanoseconds(seconds);
}

std::optional<Nanoseconds> value_of(const Result<Nanoseconds>& duration) {
  return duration ? std::optional(*duration) : std::nullopt;
}

}  // namespace

std::optional<Nanoseconds> parse_written_duration(std::string_view text) {
  if (text.find_first_of(":-") != std::string_view::npos) return parse_time_limit(text);
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos)
    return value_of(parse_duration(text));
  const Result<Quantity> seconds = parse_number(text);
  return seconds ? value_of(duration_of_seconds(*seconds)) : std::nullopt;
}

std::optional<Nanoseconds> duration_of_whole_seconds(std::int64_t seconds) {
  return seconds > 0 ? in_nanoseconds(seconds) : std::nullopt;
}

std::optional<Nanoseconds> parse_whole_seconds(std::string_view digits) {
  return duration_of_whole_seconds(whole_number(digits).value_or(0));
}

}  // namespace muster::kubernetes
