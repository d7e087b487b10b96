// One worker process as its parent sees it: spawned, spoken to over a channel, killed and reaped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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
  std::optional<int> kill_and_reap() noexcept;

  pid_t process_;
  Channel channel_;
};

}  // namespace muster::cbc
