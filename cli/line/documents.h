// Whole files of Kubernetes objects or snapshots, as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/json/json_text.h"
#include "model/base/error_code.h"
#include "model/base/process.h"

namespace muster::cli {

// Appends the whole file, `-` is stdin. Returns 0, or the errno of the failure.
int read_whole_file(const std::string& file, std::string& out);

// Appends the file's documents, and a line feed. What is YAML becomes JSON: files named so (.yaml, .yml), and texts
// that do not begin as JSON does, unless the name ends in .json. None: it is done. Errors: NoInput, if the file cannot
// be read; those of yaml_to_json.
std::optional<InputError> read_documents(const std::string& file, std::string& out);

// The text of a regular file that begins as JSON, which is read while it is parsed. None: only read_documents can tell.
std::optional<json::JsonText> open_documents(const std::string& file, Descriptor& opened);

}  // namespace muster::cli
