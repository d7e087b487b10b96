// `muster bench`: the benchmarks of a build, run one after another into one directory.
#pragma once

namespace muster::cli {

struct CommandSyntax;  // cli/terminal/options.h

const CommandSyntax& bench_syntax();
// argv[0] is the subcommand's name; the exit code is returned. Errors: UsageError.
int run_bench(int argc, const char* const* argv);

}  // namespace muster::cli
