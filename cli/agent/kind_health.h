// Which kinds of objects the agent does without, since the API server cannot list or watch them: one broken optional
// kind must not stop all planning.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/agent/planning/options.h"
#include "io/api_server/object_store.h"

namespace muster::cli {

// A kind that may not be read, or has failed for a while, is set aside until it is watched again. Kinds without which
// no plan is right are never set aside: nodes and pods; in the mode `kai`, what KAI is about to bind.
class KindHealth {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // `patience`: counted while the kinds that are never set aside are watched, so that an API server that stands still
  // sets nothing aside.
  KindHealth(ApplyMode mode, std::chrono::milliseconds patience) : mode_(mode), patience_(patience) {}

  // What the kinds are now. Returns a sentence for each that is set aside, or is back, since the last call; the second
  // value: whether it is set aside. Cost: O(kinds).
  std::vector<std::pair<std::string, bool>> update(const std::vector<api_server::KindReport>& reports, Time now);

  // Every kind has been listed once, or is forbidden, gone or set aside; false without any kind.
  bool is_complete() const { return is_complete_; }
  // A kind that was listed and is not being watched now, so that its objects may be old; empty: there is none.
  const std::string& interrupted() const { return interrupted_; }
  const std::vector<const kubernetes::KnownKind*>& set_aside() const { return set_aside_; }
  // When the next kind that fails is set aside; max: none is.
  Time next() const { return next_; }
  // Rises whenever set_aside() changes.
  std::uint64_t revision() const { return revision_; }

 private:
  bool is_essential(const kubernetes::KnownKind& known) const;

  const ApplyMode mode_;
  const std::chrono::milliseconds patience_;
  std::map<const kubernetes::KnownKind*, Time> failing_since_;
  std::vector<const kubernetes::KnownKind*> set_aside_;
  std::string interrupted_;
  bool is_complete_ = false;
  Time next_ = Time::max();
  std::uint64_t revision_ = 0;
};

}  // namespace muster::cli
