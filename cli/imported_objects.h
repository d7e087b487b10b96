// What the imports of Kubernetes objects share: files in, one snapshot line out, and what is said on stderr.
#pragma once

#include <string>
#include <string_view>

#include "io/kubernetes_import.h"

namespace muster {

// A line on stderr; returns the exit code.
int complain_of_import(std::string_view message, int exit_code);
int complain_of_import(const InputError& error, std::string_view file);

// Appends the whole file, `-` is stdin. Returns 0, or the errno that stopped it.
int read_whole_file(const std::string& file, std::string& out);

// The snapshot of a text of JSON documents on stdout, remarks on stderr. Returns the exit code.
enum class Remarks : std::uint8_t { kTold, kQuiet };
int print_imported(std::string text, const KubernetesOptions& options, Remarks remarks);

}  // namespace muster
