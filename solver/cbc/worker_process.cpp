#include "solver/cbc/worker_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/base/process.h"

namespace muster::cbc {
namespace {

// Sanitizers reserve terabytes of address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

void set_limits(pid_t process, std::uint64_t memory_limit) {
  const rlimit no_core{0, 0};
  ::prlimit(process, RLIMIT_CORE, &no_core, nullptr);
  if (kIsSanitized || memory_limit == 0) return;
  const rlimit memory{memory_limit, memory_limit};
  ::prlimit(process, RLIMIT_AS, &memory, nullptr);
}

std::string cause_of_death(int status) {
  if (WIFEXITED(status)) return "it exited with code " + std::to_string(WEXITSTATUS(status));
  if (WIFSIGNALED(status)) return std::string("it was killed by signal ") + std::to_string(WTERMSIG(status));
  return "it ended";
}

}  // namespace

std::optional<WorkerProcess> WorkerProcess::spawn(const std::string& program, const std::string& fault,
                                                  std::uint64_t memory_limit) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
  // The descriptor of the worker's end must not be a number at which the standard streams will be opened.
  const Descriptor child(::fcntl(ends[1], F_DUPFD_CLOEXEC, kWorkerFileDescriptor + 1));
  ::close(ends[1]);
  Channel parent_end(ends[0]);
  if (child.get() < 0) return std::nullopt;
  std::vector<std::string> words{program, "worker"};
  if (!fault.empty()) words.insert(words.end(), {"--fault", fault});
  ChildFiles files;
  files.use(child.get(), kWorkerFileDescriptor);
  files.read_nothing(STDIN_FILENO);
  files.write_nowhere(STDOUT_FILENO);
  files.write_nowhere(STDERR_FILENO);
  files.close_from(kWorkerFileDescriptor + 1);
  const pid_t process = start_process(std::move(words), files);
  if (process < 0) return std::nullopt;
  set_limits(process, memory_limit);
  return WorkerProcess(process, std::move(parent_end));
}

WorkerProcess::WorkerProcess(pid_t process, Channel channel) : process_(process), channel_(std::move(channel)) {}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)), channel_(std::move(other.channel_)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(channel_, other.channel_);
  return *this;
}

WorkerProcess::~WorkerProcess() { kill_and_reap(); }

void WorkerProcess::kill() {
  if (process_ > 0) ::kill(process_, SIGKILL);
}

bool WorkerProcess::has_ended() {
  if (process_ > 0 && ::waitpid(process_, nullptr, WNOHANG) != 0) process_ = -1;
  return process_ <= 0;
}

std::string WorkerProcess::end() {
  if (process_ <= 0) return "it had ended before";
  const std::optional<int> status = kill_and_reap();
  return status ? cause_of_death(*status) : "it ended";
}

std::optional<int> WorkerProcess::kill_and_reap() noexcept {
  if (process_ <= 0) return std::nullopt;
  kill();  // a process that is dying already keeps its own cause of death: the signal comes too late for it
  return reap(std::exchange(process_, -1));
}

}  // namespace muster::cbc
