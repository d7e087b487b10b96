#include "cli/terminal/interrupt.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/terminal/console.h"

namespace muster::cli {
namespace {

std::atomic<int> signal_received{0};
int event_descriptor = -1;

// Async-signal-safe: an atomic store, a write and an alarm.
void on_signal(int number) {
  const int saved = errno;
  signal_received.store(number, std::memory_order_relaxed);
  wake_readers();
  alarm(kSecondsToFinish);
  errno = saved;
}

// Workers end with the channel on which they are spoken to.
void on_alarm(int) {
  constexpr std::string_view kWords = "muster: the current line is not answered: it takes too long after the signal\n";
  const int number = received_signal();
  if (number == 0) return;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kWords.data(), kWords.size());
  _exit(kExitSignalled + number);
}

}  // namespace

void install_interrupt() {
  event_descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event_descriptor < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup stays
  std::signal(SIGALRM, on_alarm);
  std::signal(SIGUSR1, SIG_IGN);
  std::signal(SIGUSR2, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

int received_signal() { return signal_received.load(std::memory_order_relaxed); }

int wake_descriptor() { return event_descriptor; }

void wake_readers() {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then it is readable already.
  [[maybe_unused]] const ssize_t written = write(event_descriptor, &one, sizeof one);
}

}  // namespace muster::cli
