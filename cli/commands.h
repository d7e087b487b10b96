// The subcommands. argv[0] is the subcommand's name; the exit code is returned. Errors: UsageError.
#pragma once

#include <string>

namespace muster::cli {

int run_solve(int argc, const char* const* argv);
int run_verify(int argc, const char* const* argv);
int run_export(int argc, const char* const* argv);
int run_report(int argc, const char* const* argv);
int run_simulate(int argc, const char* const* argv);

}  // namespace muster::cli
