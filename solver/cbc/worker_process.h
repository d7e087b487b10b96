// One worker process as its parent sees it: spawned, spoken to over a channel, killed and reaped.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>

#include <fcntl.h>
#include <spawn.h>
#include <sys/types.h>

#include "solver/cbc/channel.h"

namespace muster::cbc {

constexpr int kWorkerFileDescriptor = 3;  // the descriptor of the channel in `muster worker`

// Killed and reaped at the latest by the destructor.
class WorkerProcess {
 public:
  // Runs `program worker [--fault FAULT]` with nothing open but the channel; its standard streams are /dev/null.
  // `memory_limit`: bytes of address space, 0 for none. Nothing if the program cannot be run.
  static std::optional<WorkerProcess> spawn(const std::string& program, const std::string& fault,
                                            std::uint64_t memory_limit);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  Channel& channel() { return channel_; }

  void kill();  // does not wait
  // Whether it has ended and been reaped. Returns immediately.
  bool has_ended();
  // Kills it, waits for it and returns the cause of its death, if it was dead before.
  std::string end();

 private:
  WorkerProcess(pid_t process, Channel channel);
  // Kills it and waits for it. Its status; none: there is none. Needs no memory.
  std::optional<int> reap() noexcept;

  pid_t process_;
  Channel channel_;
};

// How every child process starts: with no signal blocked and with no handler, whatever the parent has, and with the
// open files that it is given.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

// What `posix_spawn` does with the files of the child, in the order of the calls.
class SpawnFileActions {
 public:
  SpawnFileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnFileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnFileActions(const SpawnFileActions&) = delete;
  SpawnFileActions& operator=(const SpawnFileActions&) = delete;

  void use(int file, int as) { ::posix_spawn_file_actions_adddup2(&actions_, file, as); }
  void read_nothing(int as) { ::posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", O_RDONLY, 0); }
  void write_nowhere(int as) { ::posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", O_WRONLY, 0); }
  void close_from(int first) { ::posix_spawn_file_actions_addclosefrom_np(&actions_, first); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace muster::cbc
