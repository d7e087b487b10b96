// What the agent has written and its watch has not shown yet: a plan made before would be made of an old state.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/agent/act.h"
#include "io/api_server/clock.h"
#include "io/api_server/object_store.h"
#include "model/base/tuning.h"

namespace muster::cli {

class WrittenActs {
 public:
  // After this time a write is taken for seen: another writer may have undone it in between.
  static constexpr std::chrono::seconds kMostWait{kTuning.online.agent.written_s};
  // The same for a write without an answer, such as when the API server went down: it may have been made or not.
  static constexpr std::chrono::seconds kMostWaitOfUnanswered{kTuning.online.agent.unanswered_s};

  WrittenActs(ApplyMode mode, api_server::Clock clock) : mode_(mode), clock_(std::move(clock)) {}

  void add(const Act& act, std::chrono::seconds most_wait = kMostWait) { acts_.push_back({act, clock_() + most_wait}); }
  // Forgets those that the store shows. Whether there are none left.
  bool are_seen(const api_server::ObjectStore& objects);
  // When the first one is forgotten in any case. Requires that there is one.
  std::chrono::steady_clock::time_point end() const;

 private:
  struct Written {
    Act act;
    std::chrono::steady_clock::time_point until;
  };
  bool is_seen(const Act& act, const api_server::ObjectStore& objects) const;

  ApplyMode mode_;
  api_server::Clock clock_;
  std::vector<Written> acts_;
};

}  // namespace muster::cli
