#include "cli/terminal/output.h"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/terminal/exit_code.h"

namespace muster::cli {

int write_all(int file_descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file_descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int write_whole(int file_descriptor, std::string_view bytes) {
  struct stat before {};
  const bool is_file = fstat(file_descriptor, &before) == 0 && S_ISREG(before.st_mode);
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t more = write(file_descriptor, bytes.data() + written, bytes.size() - written);
    if (more > 0) written += static_cast<std::size_t>(more);
    if (more >= 0 || errno == EINTR) continue;
    const int error = errno;
    struct stat after {};
    const bool is_last =
        is_file && fstat(file_descriptor, &after) == 0 && after.st_size == before.st_size + static_cast<off_t>(written);
    if (is_last && written > 0) static_cast<void>(!ftruncate(file_descriptor, before.st_size));
    return error;
  }
  return 0;
}

int print(std::string_view bytes, int success) {
  const int error = write_all(STDOUT_FILENO, bytes);
  if (error == 0) return success;
  if (error != EPIPE) write_all(STDERR_FILENO, fmt::format("muster: stdout: {}\n", std::strerror(error)));
  return kExitCannotWrite;
}

bool reads_from(const std::vector<std::string>& files, const std::string& output) {
  struct stat target {};
  if (stat(output.c_str(), &target) != 0 || !S_ISREG(target.st_mode)) return false;
  for (const std::string& file : files) {
    struct stat source {};
    if (file == "-" ? fstat(STDIN_FILENO, &source) != 0 : stat(file.c_str(), &source) != 0) continue;
    if (source.st_dev == target.st_dev && source.st_ino == target.st_ino) return true;
  }
  return false;
}

bool are_one_file(const std::string& one, const std::string& other) {
  struct stat of_one {
  }, of_other{};
  const bool is_one = stat(one.c_str(), &of_one) == 0, is_other = stat(other.c_str(), &of_other) == 0;
  const auto are_same = [&] { return of_one.st_dev == of_other.st_dev && of_one.st_ino == of_other.st_ino; };
  if (is_one && is_other) return S_ISREG(of_one.st_mode) && are_same();
  const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  if (is_one != is_other || name(one) != name(other)) return false;
  const auto folder = [](const std::string& path) { return path.substr(0, path.rfind('/') + 1) + "."; };
  return stat(folder(one).c_str(), &of_one) == 0 && stat(folder(other).c_str(), &of_other) == 0 && are_same();
}

}  // namespace muster::cli
