// YAML documents, as people write manifests, become JSON documents.
#pragma once

#include <string>
#include <string_view>

#include "model/base/error_code.h"

namespace muster::json {

// One JSON document a line, in the order of the text; empty documents are left out.
//
// Scalars are read as Kubernetes' own tools read them (YAML 1.1 as in sigs.k8s.io/yaml): what is quoted is a string,
// what is not may be null, a boolean (true, yes, on, y and their opposites) or a number (decimal, 0x, 0o, 0b, octal
// with a leading 0); times are strings. Keys are strings. `<<` takes over the keys of other mappings. Errors:
// InvalidUtf8; InvalidYaml (syntax, keys that occur twice, unknown tags and anchors, .inf and .nan, control characters,
// the escapes \N and \_); TooDeep; TooLarge, if aliases expand to more than ten times the text and 4 MiB. The path of
// an error is "line:column", from 1. Cost: about 100 ns a byte.
Result<std::string> yaml_to_json(std::string_view text);

}  // namespace muster::json
