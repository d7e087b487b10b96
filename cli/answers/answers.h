// The subcommands that answer questions of people. argv[0] is the subcommand's name; the exit code is returned. Errors:
// UsageError.
#pragma once

namespace muster::cli {

int run_diff(int argc, const char* const* argv);
int run_top(int argc, const char* const* argv);
int run_what_if(int argc, const char* const* argv);
int run_why(int argc, const char* const* argv);

}  // namespace muster::cli
