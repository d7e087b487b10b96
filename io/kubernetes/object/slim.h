// Kubernetes documents without the parts that the import never reads: most of their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/json/json_builder.h"
#include "io/json/json_document.h"
#include "io/json/json_text.h"
#include "model/base/error_code.h"

namespace muster::kubernetes {

// Whether a line starts as Kubernetes objects do, by its first key. False if this cannot be decided.
bool begins_as_kubernetes(std::string_view text);

// Which instants are kept: all, or without those that are known not to be the latest one of the text.
enum class Instants : std::uint8_t { kLatest, kAll };

// One document for all of `text`: the only one in it, else a List of them. Every list keeps its length and every member
// its name, so that paths stay the same. False if the text is not what it seems; parsing all of it then gives the
// error.
//
// The items of a list are found and parsed one by one (JsonScanner). So the memory used in addition to a text in memory
// is in proportion to what is kept of it: a tenth, as kubectl prints. Cost: about 1 ns a byte.
[[nodiscard]] bool slim_objects(const json::JsonText& text, std::size_t max_depth, Instants instants,
                                json::JsonBuilder& out);

// Documents of Kubernetes objects, one after another, as one that is parsed and slim.
class SlimDocument {
 public:
  // Errors: those of JsonDocument, and UnsupportedFormat if there are no such objects. The text may go away.
  std::optional<InputError> parse(const json::JsonText& text, json::JsonLimits limits,
                                  Instants instants = Instants::kLatest);
  // Requires a parse that succeeded.
  json::JsonValue root() const { return root_; }

 private:
  json::JsonBuilder slim_;
  json::JsonDocument whole_;
  json::JsonValue root_;
};

// How one object is slimmed.
struct SlimObject {
  std::string_view api_version, kind;    // each is written if it is not empty, instead of the object's own
  std::string_view duration_annotation;  // as in KubernetesOptions; empty: kDurationAnnotation
};

// One object, with metadata.uid, and without what the import does not read even of a single object: every other
// annotation, and instants that only tell what time it is (KubernetesOptions::time must be set then). So two states of
// an object that differ in nothing that is read give the same document, but for what the import ignores of its kind
// alone. Requires an object. Cost: about 1 ns a byte of it.
void slim_object(json::JsonValue object, const SlimObject& how, json::JsonBuilder& out);

}  // namespace muster::kubernetes
