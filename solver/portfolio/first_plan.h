// Hands plans of greedy to the engine that begins with one of them, in another thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "heuristics/state/candidate.h"

namespace muster::portfolio {

class FirstPlan {
 public:
  // By greedy's thread: what is placed without evictions; the whole plan.
  void set_placed(const Candidate& plan) { set(placed_, plan); }
  void set(const Candidate& plan) { set(whole_, plan, true); }

  // By the other thread, once: waits until `patience` for the whole plan, then for either. None: greedy has ended
  // without one.
  std::optional<Candidate> wait(std::chrono::steady_clock::time_point patience) {
    std::unique_lock lock(mutex_);
    is_awaited_ = true;
    if (!changed_.wait_until(lock, patience, [this] { return whole_ || has_ended_; }))
      changed_.wait(lock, [this] { return whole_ || placed_ || has_ended_; });
    return std::exchange(is_news_, false) && whole_ ? whole_ : placed_;
  }
  // By the other thread: a whole plan since then.
  std::optional<Candidate> later() {
    const std::lock_guard lock(mutex_);
    return std::exchange(is_news_, false) ? whole_ : std::nullopt;
  }

  // Tells that greedy has ended, by whatever way: the other thread must not wait for ever.
  class Ending {
   public:
    // `last`: what greedy then has; outlives this.
    explicit Ending(FirstPlan& plan, const std::optional<Candidate>& last = no_plan()) : plan_(plan), last_(last) {}
    ~Ending() { plan_.end(last_); }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

   private:
    static const std::optional<Candidate>& no_plan() {
      static const std::optional<Candidate> none;
      return none;
    }
    FirstPlan& plan_;
    const std::optional<Candidate>& last_;
  };

 private:
  void set(std::optional<Candidate>& which, const Candidate& plan, bool is_news = false) {
    const std::lock_guard lock(mutex_);
    which = plan;
    is_news_ = is_news_ || is_news;
    changed_.notify_one();
  }
  void end(const std::optional<Candidate>& last) {
    const std::lock_guard lock(mutex_);
    if (is_awaited_ && last) {  // else the copy is of no use
      whole_ = last;
      is_news_ = true;
    }
    has_ended_ = true;
    changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Candidate> placed_, whole_;
  bool has_ended_ = false, is_news_ = false, is_awaited_ = false;
};

}  // namespace muster::portfolio
