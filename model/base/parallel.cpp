#include "model/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

#ifdef MUSTER_TBB
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#endif

namespace muster {

namespace {

#ifdef MUSTER_TBB

// Asked when the program starts: if memory fails during the first of such questions, oneTBB waits for its end for ever.
const int most_threads = oneapi::tbb::info::default_concurrency();

// Kept by each calling thread. If there were one for each call, finished ones would accumulate in oneTBB, which walks
// through all of them: 30,000 tiny snapshots in one process took 139 MB and 150 s instead of 12 MB and 2.4 s.
oneapi::tbb::task_arena& arena_of(int threads) {
  thread_local std::map<int, oneapi::tbb::task_arena> arenas;
  return arenas.try_emplace(threads, threads).first->second;
}

thread_local bool is_at_work = false;  // in the body of a loop

class AtWork {
 public:
  AtWork() : before_(std::exchange(is_at_work, true)) {}
  ~AtWork() { is_at_work = before_; }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  bool before_;
};

// An exception in one body of a loop must not end the loops within its other bodies, which would seem to be finished.
void run_loop(std::size_t count, const std::function<void(std::size_t)>& body) {
  const auto run_body = [&](std::size_t i) {
    const AtWork at_work;
    body(i);
  };
  oneapi::tbb::task_group_context own(oneapi::tbb::task_group_context::isolated);
  oneapi::tbb::parallel_for(std::size_t{0}, count, run_body, oneapi::tbb::simple_partitioner(), own);
}

// A loop inside another loop shares its threads, since an arena of its own would get none. A thread that waits for the
// end of its loop takes no other work meanwhile.
void run_threads(std::size_t count, int threads, const std::function<void(std::size_t)>& body) {
  if (is_at_work) return oneapi::tbb::this_task_arena::isolate([&] { run_loop(count, body); });
  // More than the machine has would be ignored, with a warning on stderr.
  arena_of(std::min(threads, most_threads)).execute([&] { run_loop(count, body); });
}

#else

// An exception ends the loop and is thrown to the caller, as oneTBB does.
void run_threads(std::size_t count, int threads, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr fault;
  std::once_flag is_first;
  const auto work = [&] {
    try {
      for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) body(i);
    } catch (...) {
      std::call_once(is_first, [&] { fault = std::current_exception(); });
      next = count;
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t wanted = std::min(count, static_cast<std::size_t>(threads));
    for (std::size_t t = 1; t < wanted; ++t) helpers.emplace_back(work);
    work();
  }
  if (fault) std::rethrow_exception(fault);
}

#endif

// The cgroup's quota in cores, rounded down; a very large number if there is none. oneTBB ignores it.
int cgroup_cores() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  long long period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 1 << 20;
  return static_cast<int>(std::clamp<long long>(std::atoll(quota.c_str()) / period, 1, 1 << 20));
}

int affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& body) {
  if (threads <= 1 || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  run_threads(count, threads, body);
}

std::size_t ranges_for(std::size_t steps, int threads) {
  constexpr std::size_t kLeastSteps = 10'000;  // some 100 microseconds of about 10 ns each
  return std::min(static_cast<std::size_t>(std::max(threads, 1)), 1 + steps / kLeastSteps);
}

int usable_cores() { return std::max(1, std::min(affinity_cores(), cgroup_cores())); }

}  // namespace muster
