// Subcommands and their syntaxes, for the table of commands (cli/command_table.cpp). argv[0] is the last word of the
// subcommand's name; the exit code is returned. Errors: UsageError.
#pragma once

namespace muster::cli {

struct CommandSyntax;  // cli/terminal/options.h

const CommandSyntax& solve_syntax();
const CommandSyntax& verify_syntax();
const CommandSyntax& merge_syntax();
const CommandSyntax& export_syntax();
const CommandSyntax& report_syntax();
const CommandSyntax& simulate_syntax();
const CommandSyntax& import_syntax();
const CommandSyntax& completion_syntax();
const CommandSyntax& help_syntax();
const CommandSyntax& version_syntax();

int run_solve(int argc, const char* const* argv);
int run_verify(int argc, const char* const* argv);
int run_merge(int argc, const char* const* argv);
int run_export(int argc, const char* const* argv);
int run_report(int argc, const char* const* argv);
int run_simulate(int argc, const char* const* argv);
int run_import(int argc, const char* const* argv);      // without the name of a source that the table has
int run_completion(int argc, const char* const* argv);  // prints a script
int run_help(int argc, const char* const* argv);
int run_version(int argc, const char* const* argv);

}  // namespace muster::cli
