// Kubernetes documents without the parts that the import never reads: most of their bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/json/json_document.h"

namespace muster::kubernetes {

// Whether a line starts as Kubernetes objects do, by its first key. False if this cannot be decided.
bool begins_as_kubernetes(std::string_view text);

// One document for all of `text`: the only one in it, else a List of them. Every list keeps its length and every member
// its name, so that paths stay the same. None if the text is not what it seems; parsing all of it then gives the error.
//
// The items of a list are found by simdjson's On-Demand parser and parsed one by one through `scratch`. So the memory
// used in addition to the text is not in proportion to all of it, but to what is kept of it (a tenth, as kubectl
// prints) and to its brackets, commas and colons (4 bytes each). The first form may reserve some bytes after the text;
// the others copy the text. None, too, from 4 GiB on, simdjson's limit. Cost: 2 to 3 ns a byte.
std::optional<std::string> slim_objects(std::string& text, json::JsonDocument& scratch, std::size_t max_depth);
std::optional<std::string> slim_objects(std::string_view text, json::JsonDocument& scratch, std::size_t max_depth);
// With the instants of all objects; else those that are known not to be the latest one of the text are left out.
std::optional<std::string> slim_with_instants(std::string_view text, json::JsonDocument& scratch,
                                              std::size_t max_depth);

// How one object is slimmed.
struct SlimObject {
  std::string_view api_version, kind;    // each is written if it is not empty, instead of the object's own
  std::string_view duration_annotation;  // as in KubernetesOptions; empty: kDurationAnnotation
};

// Appends one object, with metadata.uid, and without what the import does not read even of a single object: every other
// annotation, and instants that only tell what time it is (KubernetesOptions::time must be set then). So two states of
// an object that differ in nothing that is read give the same text, but for what the import ignores of its kind alone.
// Requires `object` to be an object of `document`. Cost: about 3 ns a byte of the object.
void slim_object(json::JsonDocument& document, json::JsonValue object, const SlimObject& how, std::string& out);

}  // namespace muster::kubernetes
