// Trials of a server while clients send requests: to end, and to lose its worker process.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

#include "bench/support/answer.h"
#include "bench/support/machine.h"
#include "bench/support/serve_load.h"
#include "bench/support/serve_process.h"

namespace muster::bench {

// One SIGTERM under load. A request that was sent before the signal has to be answered; one after it may find the
// connection closed, but never a part of an answer.
struct Drain {
  std::size_t sent_before = 0, at_work = 0;  // at_work: of those before, answered after the signal
  std::size_t lost = 0, cut = 0;             // lost: sent before, and not answered by 200
  int exit_code = -1;                        // -1: it has not ended in a minute
  double seconds = 0;                        // from the signal to its end

  bool is_clean() const { return lost == 0 && cut == 0 && exit_code == 0; }
};

inline Drain drain_under_load(const std::vector<std::string>& arguments, const std::vector<std::string>& requests,
                              int clients, std::chrono::milliseconds after) {
  constexpr int kRequestsPerConnection = 5, kPatienceMs = 60'000;
  ServeProcess server(arguments);
  Load load(server.socket(), requests, clients, kRequestsPerConnection);
  while (load.answered() < static_cast<std::size_t>(clients)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(after);
  const auto signalled = LoadClock::now();
  server.signal(SIGTERM);
  Drain drain;
  drain.exit_code = server.exit_code_within(kPatienceMs).value_or(-1);
  drain.seconds = std::chrono::duration<double>(LoadClock::now() - signalled).count();
  for (const Exchange& exchange : load.end()) {
    if (exchange.fate == Fate::kCut) ++drain.cut;
    if (exchange.sent >= signalled) continue;
    ++drain.sent_before;
    if (exchange.fate != Fate::kAnswered || exchange.status != 200)
      ++drain.lost;
    else if (exchange.ended > signalled)
      ++drain.at_work;
  }
  return drain;
}

// Failures of a worker, caused from outside as the system would: a crash, a hang, the kernel's out-of-memory killer, no
// more memory.
enum class WorkerFault { kCrash, kHang, kKill, kMemory };

inline void inject(pid_t worker, WorkerFault fault) {
  const rlimit nothing{1, 1};
  if (fault == WorkerFault::kCrash) kill(worker, SIGSEGV);
  if (fault == WorkerFault::kHang) kill(worker, SIGSTOP);
  if (fault == WorkerFault::kKill) kill(worker, SIGKILL);
  if (fault == WorkerFault::kMemory) prlimit(worker, RLIMIT_AS, &nothing, nullptr);
}

struct Faults {
  int injected = 0;
  std::size_t requests = 0, lost = 0, late = 0;  // lost: not answered by a plan; late: a plan that reports this itself
  double most_late_ms = 0;
  std::size_t zombies = 0;  // of the server, two seconds after the request after all
  bool is_well = false;     // a request after all that is answered by a plan

  bool is_clean() const { return lost == 0 && late == 0 && zombies == 0 && is_well; }
};

// Whether a child is a worker by now: it begins as a copy of its parent, which waits until it has become one.
inline bool is_worker(pid_t child) {
  std::ifstream stream("/proc/" + std::to_string(child) + "/cmdline");
  std::string words;
  std::getline(stream, words);
  return words.find(std::string("\0worker\0", 8)) != std::string::npos;
}

// Each fault strikes a worker that has not been struck before.
inline Faults worker_faults_under_load(const ServeProcess& server, const std::vector<std::string>& requests,
                                       int clients, WorkerFault fault, int count) {
  constexpr int kRequestsPerConnection = 5;
  constexpr std::chrono::milliseconds kPatience{30'000}, kBetween{131};
  Faults faults;
  Load load(server.socket(), requests, clients, kRequestsPerConnection);
  std::vector<pid_t> struck;
  for (auto last = LoadClock::now(); faults.injected < count && LoadClock::now() - last < kPatience;) {
    std::this_thread::sleep_for(kBetween);
    for (const pid_t worker : children_of(server.id())) {
      if (faults.injected == count || !is_worker(worker) || std::ranges::find(struck, worker) != struck.end()) continue;
      inject(worker, fault);
      struck.push_back(worker);
      ++faults.injected;
      last = LoadClock::now();
    }
  }
  for (const std::size_t enough = load.answered() + static_cast<std::size_t>(2 * clients); load.answered() < enough;)
    std::this_thread::sleep_for(kBetween);
  for (const Exchange& exchange : load.end()) {
    ++faults.requests;
    if (exchange.status != 200 || statement_of(exchange.body).empty()) ++faults.lost;
    if (exchange.body.find("\"deadlineMissed\":true") == std::string::npos) continue;
    ++faults.late;
    faults.most_late_ms =
        std::max(faults.most_late_ms, elapsed_ms(exchange.body).value_or(0) -
                                          number_after(statement_of(exchange.body), "budgetMs").value_or(0));
  }
  const auto answer = server.ask(requests[0], 60'000);
  faults.is_well = answer && answer->status == 200;
  std::this_thread::sleep_for(std::chrono::seconds(2));
  for (const pid_t child : children_of(server.id())) faults.zombies += is_zombie(child) ? 1 : 0;
  return faults;
}

}  // namespace muster::bench
