// Bytes that leave: to a file descriptor, all of them or an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

// Writes everything, through interruptions and short writes. Returns 0, or the errno that stopped it.
int write_all(int file_descriptor, std::string_view bytes);

// The same, but of what cannot be written whole nothing stays where that went to the end of a regular file.
int write_whole(int file_descriptor, std::string_view bytes);

// Writes to stdout and turns what happens into an exit code: `success`, or kExitCannotWrite, told on stderr unless the
// reader has gone away.
int print(std::string_view bytes, int success);

// Whether one of the files that are read ("-" is stdin) is the regular file that would be overwritten.
bool reads_from(const std::vector<std::string>& files, const std::string& output);

}  // namespace muster
