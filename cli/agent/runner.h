// Carries groups of acts out, one group after another, no faster than the limits allow.
//
// A gang is bound whole: first the API server checks all its acts (dry run); only if it would take each of them are
// they made. What does not fit into the pace is left for the next plan, which sees what the cluster is by then. Once
// nothing may be sent, the rest of a gang is not, either: another agent may act now.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/agent/act.h"
#include "io/api_server/api_client.h"
#include "io/api_server/object_store.h"
#include "io/api_server/timer.h"
#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::cli {

// How many changes may be made now: a bucket of tokens that fills at a constant rate (J. Turner, "New directions in
// communications", 1986).
class Pace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `tokens` for each `period`, which is also how many there are at first, and at most.
  Pace(double tokens, std::chrono::duration<double> period, Time now)
      : rate_(tokens / period.count()), most_(tokens), tokens_(tokens), filled_(now) {}

  // Whether `count` changes that belong together may be made at `now`; then they count. More than there ever are may be
  // made once it is full, and cost time afterwards.
  bool take(std::size_t count, Time now) {
    fill(now);
    const auto wanted = static_cast<double>(count);
    if (most_ <= 0 || tokens_ < std::min(wanted, most_)) return false;
    tokens_ -= wanted;
    return true;
  }

  // When as many will be there, at the earliest. Requires a rate above 0.
  Time when(std::size_t count, Time now) {
    MUSTER_REQUIRE(rate_ > 0);
    fill(now);
    const double missing = std::min(static_cast<double>(count), most_) - tokens_;
    if (missing <= 0) return now;
    return now + std::chrono::ceil<Time::duration>(std::chrono::duration<double>(missing / rate_));
  }

 private:
  void fill(Time now) {
    const std::chrono::duration<double> passed = now - filled_;
    if (passed.count() <= 0) return;
    tokens_ = std::min(most_, tokens_ + passed.count() * rate_);
    filled_ = now;
  }

  double rate_, most_, tokens_;
  Time filled_;
};

// What the agent has written and its watch has not shown yet: a plan made before would be made of an old state.
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

struct ActsDone {
  std::int64_t refused = 0, held_back = 0;       // acts; the latter by the pace
  std::chrono::steady_clock::time_point next{};  // when the pace allows what was held back
  bool is_cut = false;                           // the rest was forbidden by the handlers
};

class ActRunner {
 public:
  struct Handlers {
    // Each act that was made or refused; `error` is empty, or says why.
    std::function<void(const Act& act, const std::string& error)> on_act;
    std::function<bool()> may_begin;  // another group
    std::function<bool()> may_send;   // another request, of a group that has begun
  };

  // The client and the options outlive it.
  ActRunner(api_server::ApiClient& client, const AgentOptions& options, api_server::Clock clock, Handlers handlers);
  ~ActRunner();
  ActRunner(const ActRunner&) = delete;
  ActRunner& operator=(const ActRunner&) = delete;

  // Requires that nothing is being run. `done` is not called after the runner's end.
  void run(std::vector<ActGroup> groups, std::function<void(ActsDone)> done);
  bool is_running() const;
  // Whether the store shows all acts that were made, but those of more than WrittenActs::kMostWait ago.
  bool are_seen(const api_server::ObjectStore& objects);
  // When the oldest act that is not seen will be taken for seen; see WrittenActs::end.
  std::chrono::steady_clock::time_point seen_at_latest() const;

 private:
  class Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace muster::cli
