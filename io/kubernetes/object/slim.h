// Kubernetes documents without the parts that the import never reads: most of their bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/json/json_document.h"

namespace muster {

// Whether a line starts as Kubernetes objects do, by its first key. False if this cannot be decided.
bool begins_as_kubernetes(std::string_view text);

// One document for all of `text`: the only one in it, else a List of them. Every list keeps its length and every member
// its name, so that paths stay the same. None if the text is not what it seems; parsing all of it then gives the error.
//
// The items of a list are parsed one by one through `scratch`, so the memory used in addition to the text is in
// proportion to what is kept of it (a tenth, as kubectl prints) and not to the whole. Cost: 2 to 3 ns a byte.
std::optional<std::string> slim_objects(std::string_view text, JsonDocument& scratch, std::size_t max_depth);

}  // namespace muster
