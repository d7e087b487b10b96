// A file of answers that a run goes on writing where an interrupted one stopped.
#pragma once

#include <cstdint>
#include <string>

namespace muster::cli {

struct ResumedFile {
  int descriptor = -1;     // at the end of the whole lines; below 0: `error` is errno
  std::int64_t lines = 0;  // that are whole
  int error = 0;
};

// Opens the file, or creates it. What follows the last line feed was torn off by the interruption, and is cut off.
// Cost: reads the file.
ResumedFile resume_file(const std::string& path);

}  // namespace muster::cli
