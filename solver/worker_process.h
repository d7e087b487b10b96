// One worker process as its parent sees it: spawned, spoken to over a channel, killed and reaped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "solver/channel.h"

namespace muster {

constexpr int kWorkerFileDescriptor = 3;  // where `muster worker` finds its end of the channel

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
  // Whether there is nothing left of it to wait for. Returns at once.
  bool has_ended();
  // Kills it, waits for it and says what it had died of, if it was dead before.
  std::string end();

 private:
  WorkerProcess(pid_t process, Channel channel);

  pid_t process_;
  Channel channel_;
};

}  // namespace muster
