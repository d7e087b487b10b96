// A manifest that is about to be applied.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_document.h"
#include "model/base/error_code.h"

namespace muster::kubernetes {

struct ManifestObject {
  std::string kind;     // "Job"
  std::string title;    // "Job ml/train", as in KubernetesOptions::expand_only
  bool is_read = true;  // objects of its kind, and of its version
  friend bool operator==(const ManifestObject&, const ManifestObject&) = default;
};

// The objects of JSON documents, one after another; by kind, and those of kinds that are not read at the end. Of two
// objects with one name only the first is there. Errors: those of JsonDocument, UnsupportedFormat, and those of
// collect_items. Cost: one pass over the text.
Result<std::vector<ManifestObject>> manifest_objects(std::string text, json::JsonLimits limits);

}  // namespace muster::kubernetes
