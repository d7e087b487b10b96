#include "cli/terminal/output.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <system_error>

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
  std::error_code ignored;
  if (std::filesystem::equivalent(one, other, ignored)) return std::filesystem::is_regular_file(one, ignored);
  return !std::filesystem::exists(one, ignored) && !std::filesystem::exists(other, ignored) &&
         std::filesystem::weakly_canonical(one, ignored) == std::filesystem::weakly_canonical(other, ignored);
}

}  // namespace muster::cli
