// When `muster agent` makes its next plan.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "model/base/require.h"

namespace muster::cli {

// What keeps the agent from planning, or from carrying a plan out. Each has an end that is awaited, so that none lasts
// on a cluster in which nothing changes: a message of a watch, a change of leadership, or a time.
enum class Obstacle : std::uint8_t {
  kUnread,       // a kind has not been listed yet: until ClusterWatch tells of a change, or it is set aside
  kInterrupted,  // a watch is: likewise, or until its kind is set aside
  kFollows,      // the Lease is not held: until Leadership::Handlers::on_change
  kUnseen,       // the last writes have not come back: until ClusterWatch tells of them, or by time
  kNone
};

// What the next plan depends on besides time.
struct PlanSituation {
  Obstacle obstacle = Obstacle::kNone;
  std::uint64_t revision = 0;                              // of the objects
  std::chrono::steady_clock::time_point ends_at_latest{};  // the obstacle, by time alone; max: not
};

// At most one plan a period, if something has changed; at least one an idle period. Cost of each call: O(1).
class PlanTimer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  PlanTimer(std::chrono::milliseconds period, std::chrono::milliseconds idle_period)
      : period_(period), idle_period_(idle_period) {}

  // From when on a plan may begin; none: one is being made or carried out, the end of the obstacle is awaited, or it is
  // stopped.
  std::optional<Time> next(const PlanSituation& situation) const {
    if (is_busy_ || is_stopped_) return std::nullopt;
    const Time allowed = begun_ + period_;
    if (situation.obstacle != Obstacle::kNone) {
      if (situation.obstacle == Obstacle::kFollows || situation.ends_at_latest == Time::max()) return std::nullopt;
      return std::max(allowed, situation.ends_at_latest);
    }
    if (situation.revision != revision_) return allowed;
    return std::max(allowed, std::min(again_, begun_ + idle_period_));
  }

  // Requires that no plan is being made.
  void begin(std::uint64_t revision, Time now) {
    MUSTER_REQUIRE(!is_busy_);
    is_busy_ = true;
    begun_ = now;
    again_ = Time::max();
    revision_ = revision;
  }
  void end() { is_busy_ = false; }
  // No plan is made any more.
  void stop() { is_stopped_ = true; }
  bool is_stopped() const { return is_stopped_; }
  // Another plan at this time, even if nothing changes.
  void plan_again(Time time) { again_ = std::min(again_, time); }
  // The plan ended by an internal error. A lack of memory passes; what fails again and again is tried less and less
  // often.
  void note_defect() { plan_again(begun_ + period_ * (1 << std::min(defects_++, kMostDoublings))); }
  void note_plan() { defects_ = 0; }

  Time begun() const { return begun_; }                         // of the current plan, or the last one
  std::uint64_t planned_revision() const { return revision_; }  // of its objects

 private:
  static constexpr int kMostDoublings = 10;

  const std::chrono::milliseconds period_, idle_period_;
  bool is_busy_ = false, is_stopped_ = false;
  int defects_ = 0;  // plans in a row
  std::uint64_t revision_ = 0;
  Time begun_{}, again_ = Time::max();
};

}  // namespace muster::cli
