// The random cluster that a test is about, so that a failure leaves it in a file, with the command that makes it small.
#pragma once

#include <optional>
#include <string>

namespace muster::test {

// The line of the file MUSTER_SNAPSHOT, which takes the place of every random cluster: test/shrink/shrink.py has the
// test run again that way. None: there is no such file. Ends the program with 0 if the line cannot be read or built:
// that is another failure than the one that is made small.
std::optional<std::string> given_snapshot();

// Of a generator: the line, or the given one. What the current test drew last is kept if it fails.
std::string drawn(std::string line);

// Appends the line to the file MUSTER_FAILURES, or one named after the current test in the folder for temporary files;
// prints the file and the command, once for each test. From any thread.
void keep_failing(const std::string& line);

}  // namespace muster::test
