// Times in Kubernetes objects: durations as people write them, the latest instant, and the time of a snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "io/kubernetes/object/object.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

// The time of an imported snapshot: the one that is given; else the latest one in the objects (RFC 3339; empty: there
// is none), or `not_before` if that is later. 0: unknown.
Nanoseconds import_time(std::optional<Nanoseconds> given, std::optional<Nanoseconds> not_before,
                        std::string_view latest);

// The instant of an RFC 3339 text; none: the text is empty, or no instant.
std::optional<Nanoseconds> instant_of(std::string_view text);

// The latest instant that objects tell: about when they were read.
class LatestInstant {
 public:
  // Counts the creation of the object and every instant of its status that the import may take for the time. Views into
  // the document of the object are kept.
  void note(const KubernetesObject& object);

  // RFC 3339; empty: none so far.
  std::string_view text() const { return latest_; }

 private:
  void note(json::JsonValue instant);
  void note_all(json::JsonValue value);

  std::string_view latest_;
};

// Durations as people write them into annotations -> nanoseconds
//
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
