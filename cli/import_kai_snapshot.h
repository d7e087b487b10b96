// `muster import kai-snapshot`: the archive of KAI's scheduler becomes a snapshot line.
#pragma once

namespace muster::cli {

struct CommandSyntax;  // cli/terminal/options.h

const CommandSyntax& import_kai_snapshot_syntax();
// argv[0] is "kai-snapshot"; the exit code is returned. Errors: UsageError.
int run_import_kai_snapshot(int argc, const char* const* argv);

}  // namespace muster::cli
