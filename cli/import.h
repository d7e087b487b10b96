// `muster import`: traces, node lists and Kubernetes objects become a snapshot.
#pragma once

namespace muster::cli {

// argv[0] is "import"; the exit code is returned. Errors: UsageError.
int run_import(int argc, const char* const* argv);

}  // namespace muster::cli
