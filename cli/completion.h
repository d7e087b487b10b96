// What may stand at the end of an unfinished command line, for the shells' completions.
#pragma once

namespace muster::cli {

// `muster __complete WORD... LAST`, which the scripts of `muster completion` call: the words after the program's name,
// up to the one with the cursor, which may be empty. Prints one candidate for LAST per line, with its description after
// a tab, and in the last line what else may stand there, as the programs of Cobra (github.com/spf13/cobra) do, whose
// protocol kubectl uses for its plugins: ":0" a file, ":16" a directory, ":4" nothing else. Cost: O(options).
int run_complete(int argc, const char* const* argv);

}  // namespace muster::cli
