// Hands a plan of greedy's first start to the engine that begins with it, in another thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "heuristics/state/candidate.h"

namespace muster::portfolio {

class FirstPlan {
 public:
  // By greedy's thread: what is placed without evictions; the whole plan.
  void set_placed(const Candidate& plan) { set(placed_, plan); }
  void set(const Candidate& plan) { set(whole_, plan); }

  // By the other thread, once: waits until `patience` for the whole plan, then for either. None: greedy has ended
  // without one.
  std::optional<Candidate> wait(std::chrono::steady_clock::time_point patience) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, patience, [this] { return whole_ || has_ended_; }))
      changed_.wait(lock, [this] { return whole_ || placed_ || has_ended_; });
    return whole_ ? whole_ : placed_;
  }

  // Tells that greedy has ended, by whatever way: the other thread must not wait for ever.
  class Ending {
   public:
    explicit Ending(FirstPlan& plan) : plan_(plan) {}
    ~Ending() { plan_.end(); }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

   private:
    FirstPlan& plan_;
  };

 private:
  void set(std::optional<Candidate>& which, const Candidate& plan) {
    const std::lock_guard lock(mutex_);
    which = plan;
    changed_.notify_one();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Candidate> placed_, whole_;
  bool has_ended_ = false;
};

}  // namespace muster::portfolio
