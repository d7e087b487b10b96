// The latest instant that objects tell: about when they were read.
#pragma once

#include <string_view>

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

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

}  // namespace muster::kubernetes
