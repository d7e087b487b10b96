#include "cli/terminal/children.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/terminal.h"
#include "model/base/process.h"
#include "model/base/require.h"

namespace muster::cli {
namespace {

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// The signals that end the program are blocked, and readable, while this exists. Their default action, or their
// handler, runs afterwards.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action {};
      ::sigaction(signal, nullptr, &action);
      if (action.sa_handler != SIG_IGN) ::sigaddset(&signals, signal);  // nohup stays
    }
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
    descriptor_ = Descriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  int descriptor() const { return descriptor_.get(); }

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

// Appends what there is to read. False: the end.
bool take_some(int descriptor, std::string& out) {
  std::array<char, std::size_t{1} << 16> buffer;
  ssize_t got = -1;
  do {
    got = ::read(descriptor, buffer.data(), buffer.size());
  } while (got < 0 && errno == EINTR);
  if (got > 0) out.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

class Child {
 public:
  Child(std::vector<std::string> words, EndedChild& result) : result_(&result) {
    Pipe out = make_pipe(), err = make_pipe();
    if (out.write.get() < 0 || err.write.get() < 0) {
      fail(errno);
      return;
    }
    ChildFiles files;
    files.read_nothing(STDIN_FILENO);
    files.use(out.write.get(), STDOUT_FILENO);
    files.use(err.write.get(), STDERR_FILENO);
    files.close_from(STDERR_FILENO + 1);
    process_ = start_process(std::move(words), files);
    if (process_ < 0) {
      fail(-process_);
      return;
    }
    out_ = std::move(out.read);
    err_ = std::move(err.read);
  }
  Child(Child&& other) noexcept
      : result_(other.result_),
        process_(std::exchange(other.process_, -1)),
        out_(std::move(other.out_)),
        err_(std::move(other.err_)),
        shown_(other.shown_) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(result_, other.result_);
    std::swap(process_, other.process_);
    std::swap(out_, other.out_);
    std::swap(err_, other.err_);
    std::swap(shown_, other.shown_);
    return *this;
  }
  ~Child() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    take_status();
  }

  bool has_ended() const { return process_ <= 0; }
  int out() const { return out_.get(); }
  int err() const { return err_.get(); }

  // Reads from the descriptors that are ready. The child is reaped once it has closed both.
  void read(bool out_is_ready, bool err_is_ready) {
    if (out_is_ready && !take_some(out_.get(), result_->out)) out_ = Descriptor();
    if (err_is_ready && !take_some(err_.get(), result_->err)) err_ = Descriptor();
    if (out_.get() < 0 && err_.get() < 0) take_status();
  }

  void show_what_it_says() {
    if (shown_ < result_->err.size()) write_all(STDERR_FILENO, std::string_view(result_->err).substr(shown_));
    shown_ = result_->err.size();
  }

 private:
  void fail(int error) {
    process_ = -1;
    result_->exit_code = 127;
    result_->err = std::strerror(error);
  }

  void take_status() {
    const std::optional<int> status = reap(std::exchange(process_, -1));
    if (!status) return fail(errno);
    result_->exit_code = WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
  }

  EndedChild* result_;
  pid_t process_ = -1;
  Descriptor out_, err_;
  std::size_t shown_ = 0;  // bytes of its stderr
};

// Waits for output, and takes it. False: a signal came.
bool wait_and_read(std::vector<Child>& children, const HeldSignals& signals) {
  constexpr int kSilenceMs = 2000;
  // Another thread may take the signal; then its handler wakes readers.
  std::vector<pollfd> ready = {{signals.descriptor(), POLLIN, 0}, {wake_descriptor(), POLLIN, 0}};
  for (const Child& child : children) {
    ready.push_back({child.out(), POLLIN, 0});
    ready.push_back({child.err(), POLLIN, 0});
  }
  const int count = ::poll(ready.data(), ready.size(), kSilenceMs);
  if (count < 0) return true;
  if (count == 0 && is_terminal(STDERR_FILENO)) std::ranges::for_each(children, &Child::show_what_it_says);
  if (ready[0].revents != 0 || ready[1].revents != 0) return false;
  for (std::size_t i = 0; i < children.size(); ++i)
    children[i].read(ready[2 * i + 2].revents != 0, ready[2 * i + 3].revents != 0);
  return true;
}

}  // namespace

std::optional<std::vector<EndedChild>> run_children(const std::vector<std::vector<std::string>>& commands,
                                                    std::size_t most_at_once) {
  MUSTER_REQUIRE(most_at_once > 0);
  const HeldSignals signals;
  std::signal(SIGCHLD, SIG_DFL);  // where it is ignored, no exit code is known
  std::vector<EndedChild> results(commands.size());
  std::vector<Child> children;
  std::size_t started = 0;
  while (started < commands.size() || !children.empty()) {
    while (started < commands.size() && children.size() < most_at_once) {
      children.emplace_back(commands[started], results[started]);
      ++started;
    }
    std::erase_if(children, [](const Child& child) { return child.has_ended(); });
    if (children.empty()) continue;
    if (!wait_and_read(children, signals)) return std::nullopt;
    std::erase_if(children, [](const Child& child) { return child.has_ended(); });
  }
  if (received_signal() != 0) return std::nullopt;  // Ctrl-C ends the children, too
  return results;
}

}  // namespace muster::cli
