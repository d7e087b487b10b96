// Kubernetes documents without what the import never looks at: most of their bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/json_document.h"

namespace muster {

// Whether a line begins as Kubernetes objects do, by its first key. False where it cannot be told so.
bool begins_as_kubernetes(std::string_view text);

// One document of all in `text`: the one that there is, else a List of them. Every list keeps its length and every
// member its name, so that paths stay what they were. None where the text is not what it seems: whoever parses all of
// it finds out why.
//
// The items of a list are parsed one by one through `scratch`, so that what is held beside the text is in proportion to
// what is kept of it (a tenth, as kubectl prints) and not to the whole. Cost: 2 to 3 ns a byte.
std::optional<std::string> slim_objects(std::string_view text, JsonDocument& scratch, std::size_t max_depth);

}  // namespace muster
