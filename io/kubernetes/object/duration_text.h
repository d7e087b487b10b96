// Durations as people write them into annotations -> nanoseconds
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

// Reads a number of seconds ("5400", "0.5"), a duration of Go ("1h30m"), or a time limit of Slurm ("MM:SS", "HH:MM:SS",
// "D-HH", "D-HH:MM", "D-HH:MM:SS"). A plain number counts seconds; in Slurm it would count minutes. In a time limit
// only the first number may exceed what a clock shows. The result is at least 0; none if the text is no such duration
// or does not fit 64 bits. Cost: O(text).
std::optional<Nanoseconds> parse_written_duration(std::string_view text);

// Whole seconds as a duration that is more than 0; none if it would not be, or does not fit 64 bits.
std::optional<Nanoseconds> duration_of_whole_seconds(std::int64_t seconds);

// The same of decimal digits, at most nine.
std::optional<Nanoseconds> parse_whole_seconds(std::string_view digits);

}  // namespace muster::kubernetes
