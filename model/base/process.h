// Other processes: how they are started and waited for, and descriptors of files that are closed with their owner.
#pragma once

#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/base/require.h"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): not every libc declares it

namespace muster {

// Owns a descriptor; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

// What is done with the files of a process before it starts, in the order of the calls; else it has those of its
// parent that are not closed on exec.
class ChildFiles {
 public:
  ChildFiles() { ::posix_spawn_file_actions_init(&actions_); }
  ~ChildFiles() { ::posix_spawn_file_actions_destroy(&actions_); }
  ChildFiles(const ChildFiles&) = delete;
  ChildFiles& operator=(const ChildFiles&) = delete;

  void use(int file, int as) { ::posix_spawn_file_actions_adddup2(&actions_, file, as); }
  void read_nothing(int as) { ::posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", O_RDONLY, 0); }
  void write_nowhere(int as) { ::posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", O_WRONLY, 0); }
  void close_from(int first) { ::posix_spawn_file_actions_addclosefrom_np(&actions_, first); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// Starts a process, with no signal blocked and with no handler, whatever the parent has, and with the parent's
// environment. The first word is the program, which is looked up in PATH unless it has a slash. Returns the process, or
// the errno of the failure as a negative number. Requires a word.
inline pid_t start_process(std::vector<std::string> words, const ChildFiles& files) {
  MUSTER_REQUIRE(!words.empty());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t signals;
  ::sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes, &signals);
  ::sigfillset(&signals);
  ::posix_spawnattr_setsigdefault(&attributes, &signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t process = -1;
  const int error = ::posix_spawnp(&process, arguments[0], files.get(), &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  return error == 0 ? process : -error;
}

// Waits until the process has ended. Its status as waitpid() has it; none: it is no child, or was reaped before. Needs
// no memory.
inline std::optional<int> reap(pid_t process) noexcept {
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = ::waitpid(process, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  return reaped < 0 ? std::nullopt : std::optional(status);
}

}  // namespace muster
