// Background load: processes that compute for as long as this lives.
#pragma once

#include <csignal>
#include <stdexcept>
#include <vector>

#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::bench {

class BusyProcesses {
 public:
  // Requires that this process has one thread.
  explicit BusyProcesses(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child < 0) throw std::runtime_error("cannot start a busy process");
      if (child == 0) compute();
      children_.push_back(child);
    }
  }
  ~BusyProcesses() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  BusyProcesses(const BusyProcesses&) = delete;
  BusyProcesses& operator=(const BusyProcesses&) = delete;

 private:
  [[noreturn]] static void compute() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // A state of a mebibyte, so that caches are shared with it, too.
    std::vector<unsigned> state(1 << 18, 1);
    for (std::size_t i = 0;; i = (i * 1'103'515'245 + 12'345) % state.size()) {
      volatile unsigned& word = state[i];
      word = word * 1'664'525 + 1'013'904'223;
    }
  }

  std::vector<pid_t> children_;
};

}  // namespace muster::bench
