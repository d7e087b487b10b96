// The commands that ask how much a cluster takes. argv[0] is the command's name; the exit code is returned. Errors:
// UsageError.
#pragma once

namespace muster::cli {

int run_fits(int argc, const char* const* argv);   // how many more of a shape start
int run_size(int argc, const char* const* argv);   // the cheapest nodes that run a workload
int run_drain(int argc, const char* const* argv);  // whether what runs on nodes finds room elsewhere

}  // namespace muster::cli
