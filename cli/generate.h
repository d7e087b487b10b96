// `muster generate`: snapshots made up from a seed.
#pragma once

namespace muster::cli {

struct CommandSyntax;  // cli/terminal/options.h

const CommandSyntax& generate_syntax();
// argv[0] is "generate"; the exit code is returned. Errors: UsageError.
int run_generate(int argc, const char* const* argv);

}  // namespace muster::cli
