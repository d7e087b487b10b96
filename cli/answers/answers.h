// The subcommands that answer questions of people. argv[0] is the subcommand's name; the exit code is returned. Errors:
// UsageError. Each has its syntax beside it, for the table of commands (cli/command_table.cpp).
#pragma once

namespace muster::cli {

struct CommandSyntax;  // cli/terminal/options.h

const CommandSyntax& why_syntax();
const CommandSyntax& what_if_syntax();
const CommandSyntax& fits_syntax();
const CommandSyntax& size_syntax();
const CommandSyntax& drain_syntax();
const CommandSyntax& diff_syntax();
const CommandSyntax& top_syntax();

int run_why(int argc, const char* const* argv);
int run_what_if(int argc, const char* const* argv);
int run_fits(int argc, const char* const* argv);
int run_size(int argc, const char* const* argv);
int run_drain(int argc, const char* const* argv);
int run_diff(int argc, const char* const* argv);
int run_top(int argc, const char* const* argv);

}  // namespace muster::cli
