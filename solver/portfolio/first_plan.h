// Hands the plan of greedy's first start to the engine that begins with it, in another thread.
#pragma once

#include <optional>
#include <semaphore>

#include "heuristics/state/candidate.h"

namespace muster::portfolio {

class FirstPlan {
 public:
  // By greedy's thread, at most once.
  void set(const Candidate& plan) {
    plan_ = plan;
    is_known_.release();
  }

  // By the other thread, once: waits for the plan. Null: greedy has ended without one.
  const Candidate* wait() {
    is_known_.acquire();
    return plan_ ? &*plan_ : nullptr;
  }

  // Tells that greedy has ended, by whatever way: the other thread must not wait for ever.
  class Ending {
   public:
    explicit Ending(FirstPlan& plan) : plan_(plan) {}
    ~Ending() { plan_.is_known_.release(); }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

   private:
    FirstPlan& plan_;
  };

 private:
  std::optional<Candidate> plan_;
  std::counting_semaphore<2> is_known_{0};
};

}  // namespace muster::portfolio
