// SIGINT, SIGTERM and SIGHUP (unless it is ignored, as nohup has it) as a request: the current line is still answered,
// unless that takes kSecondsToFinish more. The second signal ends the program immediately.
#pragma once

namespace muster::cli {

// Longer than most budgets, and shorter than the time after which service managers and the kubelet send SIGKILL. It is
// the kernel's time: a line without a clock (--deterministic), or with one that stands still, ends by it, too.
inline constexpr unsigned kSecondsToFinish = 10;

// Installs the handlers; ignores SIGUSR1 and SIGUSR2, which mean nothing here, and SIGPIPE, so that a reader that has
// gone away is an error of write(). Once a process.
void install_interrupt();

// The signal that has been received, 0: none.
int received_signal();

// A descriptor that becomes and stays readable once a signal has been received or wake_readers() was called.
int wake_descriptor();

// Ends every wait on wake_descriptor(), for good.
void wake_readers();

}  // namespace muster::cli
