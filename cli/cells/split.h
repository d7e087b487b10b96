// `muster split`: one snapshot divided into cells. See cli/commands.h.
#pragma once

namespace muster::cli {

struct CommandSyntax;  // cli/terminal/options.h

const CommandSyntax& split_syntax();
int run_split(int argc, const char* const* argv);

}  // namespace muster::cli
