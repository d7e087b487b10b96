// Output: to a file descriptor, all bytes or an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

// Writes everything, through interruptions and short writes. Returns 0, or the errno of the failure.
int write_all(int file_descriptor, std::string_view bytes);

// The same, but if the output goes to the end of a regular file and cannot be written completely, none of it remains.
int write_whole(int file_descriptor, std::string_view bytes);

// Writes to stdout and turns the result into an exit code: `success`, or kExitCannotWrite, reported on stderr unless
// the reader has gone away.
int print(std::string_view bytes, int success);

// Whether one of the input files ("-" is stdin) is the regular file that would be overwritten.
bool reads_from(const std::vector<std::string>& files, const std::string& output);

// Whether both names are, or would become, one regular file.
bool are_one_file(const std::string& one, const std::string& other);

}  // namespace muster::cli
