// Under which name the program was started: `muster`, or `kubectl-muster`, as kubectl starts its plugin `muster`.
#pragma once

#include <string_view>

namespace muster::cli {

// Of argv[0]. Once, before threads are started.
void set_program_name(std::string_view argument_0);

bool is_kubectl_plugin();

// What users type for it: "muster", "kubectl muster".
std::string_view typed_program_name();

}  // namespace muster::cli
