#include "solver/cbc/worker_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): not every libc declares it

namespace muster::cbc {
namespace {

// Sanitizers reserve terabytes of address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// /dev/null for the standard streams, the channel on its descriptor, everything else closed.
class WorkerFiles : public SpawnFileActions {
 public:
  explicit WorkerFiles(int channel) {
    use(channel, kWorkerFileDescriptor);
    read_nothing(STDIN_FILENO);
    write_nowhere(STDOUT_FILENO);
    write_nowhere(STDERR_FILENO);
    close_from(kWorkerFileDescriptor + 1);
  }
};

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
  const int child = ::fcntl(ends[1], F_DUPFD_CLOEXEC, kWorkerFileDescriptor + 1);
  ::close(ends[1]);
  Channel parent_end(ends[0]);
  if (child < 0) return std::nullopt;
  std::vector<std::string> words{program, "worker"};
  if (!fault.empty()) words.insert(words.end(), {"--fault", fault});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const WorkerFiles actions(child);
  const SpawnAttributes attributes;
  pid_t process = -1;
  const int error =
      ::posix_spawn(&process, program.c_str(), actions.get(), attributes.get(), arguments.data(), environ);
  ::close(child);
  if (error != 0) return std::nullopt;
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

WorkerProcess::~WorkerProcess() { reap(); }

void WorkerProcess::kill() {
  if (process_ > 0) ::kill(process_, SIGKILL);
}

bool WorkerProcess::has_ended() {
  if (process_ > 0 && ::waitpid(process_, nullptr, WNOHANG) != 0) process_ = -1;
  return process_ <= 0;
}

std::string WorkerProcess::end() {
  if (process_ <= 0) return "it had ended before";
  const std::optional<int> status = reap();
  return status ? cause_of_death(*status) : "it ended";
}

std::optional<int> WorkerProcess::reap() noexcept {
  if (process_ <= 0) return std::nullopt;
  kill();  // a process that is dying already keeps its own cause of death: the signal comes too late for it
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = ::waitpid(process_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  process_ = -1;
  return reaped < 0 ? std::nullopt : std::optional(status);
}

}  // namespace muster::cbc
