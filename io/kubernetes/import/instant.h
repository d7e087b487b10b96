// The time of an imported snapshot: the one that is given, else the latest one in the objects.
#pragma once

#include <optional>
#include <string_view>

#include "io/json/json_writer.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

class ImportInstant {
 public:
  // Without a given one it is `latest`, the latest instant in the objects (RFC 3339; empty: there is none), or
  // `not_before` if that is later.
  ImportInstant(std::optional<Nanoseconds> given, std::optional<Nanoseconds> not_before, std::string_view latest);

  // 0: unknown.
  Nanoseconds value() const { return value_; }
  // The key `time`, as the objects write it if it is theirs. Nothing if the time is unknown.
  void write(json::JsonWriter& writer) const;

 private:
  std::string_view text_;  // of the objects; empty: the time is given, or unknown
  Nanoseconds value_ = 0;
  bool is_given_ = false;
};

}  // namespace muster::kubernetes
