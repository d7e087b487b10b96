// Shared by the imports of Kubernetes objects: one snapshot line out, and the records on stderr.
#pragma once

#include <string>
#include <string_view>

#include "io/kubernetes/import.h"

namespace muster::cli {

// A line on stderr; returns the exit code.
int complain_of_import(std::string_view message, int exit_code);
int complain_of_import(const InputError& error, std::string_view file);

// The snapshot of a text of JSON documents on stdout, remarks on stderr. Returns the exit code.
enum class Remarks : std::uint8_t { kTold, kQuiet };
int print_imported(std::string text, const kubernetes::KubernetesOptions& options, Remarks remarks);

}  // namespace muster::cli
