// The program itself, and under which name it was started: `muster`, or `kubectl-muster`, as kubectl starts its plugin
// `muster`.
#pragma once

#include <string_view>

namespace muster::cli {

// The program itself, whatever has happened to its file since it was started.
inline constexpr const char* kOwnProgram = "/proc/self/exe";

// Of argv[0]. Once, before threads are started.
void set_program_name(std::string_view argument_0);

bool is_kubectl_plugin();

// What users type for it: "muster", "kubectl muster".
std::string_view typed_program_name();

}  // namespace muster::cli
