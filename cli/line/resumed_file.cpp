#include "cli/line/resumed_file.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace muster::cli {
namespace {

ResumedFile failed(int descriptor) {
  const ResumedFile file{-1, 0, errno};
  if (descriptor >= 0) close(descriptor);
  return file;
}

}  // namespace

ResumedFile resume_file(const std::string& path) {
  ResumedFile file{open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666), 0, 0};
  if (file.descriptor < 0) return failed(-1);
  std::array<char, std::size_t{1} << 16> buffer;
  off_t at = 0, whole = 0;
  while (true) {
    const ssize_t got = read(file.descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(file.descriptor);
    if (got == 0) break;
    for (const char* feed = buffer.data(); feed != buffer.data() + got; ++feed) {
      feed = std::find(feed, static_cast<const char*>(buffer.data() + got), '\n');
      if (feed == buffer.data() + got) break;
      ++file.lines;
      whole = at + (feed - buffer.data()) + 1;
    }
    at += got;
  }
  if (ftruncate(file.descriptor, whole) != 0 || lseek(file.descriptor, whole, SEEK_SET) < 0)
    return failed(file.descriptor);
  return file;
}

}  // namespace muster::cli
