#include "io/kubernetes/import/instant.h"

#include "io/json/reading.h"

namespace muster::kubernetes {

ImportInstant::ImportInstant(std::optional<Nanoseconds> given, std::optional<Nanoseconds> not_before,
                             std::string_view latest) {
  const Nanoseconds in_objects = latest.empty() ? 0 : *parse_instant(latest);
  is_given_ = given || (not_before && (latest.empty() || in_objects <= *not_before));
  if (!is_given_) text_ = latest;
  value_ = given ? *given : is_given_ ? *not_before : in_objects;
}

void ImportInstant::write(json::JsonWriter& writer) const {
  if (is_given_) {
    writer.raw(R"(,"time":)").decimal(value_, kNanosecondsPerSecond);
  } else if (!text_.empty()) {
    writer.raw(R"(,"time":)").string(text_);
  }
}

}  // namespace muster::kubernetes
