// `muster serve`. argv[0] is the subcommand's name; the exit code is returned. Errors: UsageError.
#pragma once

namespace muster::cli {

int run_serve(int argc, const char* const* argv);

}  // namespace muster::cli
