// At which instants of a simulation a plan is wanted.
#pragma once

#include <cstdint>
#include <optional>

#include "datasets/simulation/simulated_nodes.h"
#include "model/snapshot/snapshot.h"

namespace muster::simulation {

// Remembers what happened since the last plan, and applies the rule of the options. A plan is wanted only if pods wait,
// and only if it could differ from the last one.
class CycleTrigger {
 public:
  CycleTrigger(const SimulationOptions& options, Nanoseconds start)
      : rule_(options.cycle), period_(options.period), batch_(options.batch), start_(start) {}

  // What the answers depend on besides. `snapshot`: the cluster now; only its rules are read.
  struct Instant {
    Nanoseconds now = 0;
    bool pods_wait = false;
    bool all_arrived = false;  // no event of the workload is left
    const Snapshot& snapshot;
  };
  bool is_cycle_at(const Instant& instant) const;
  // With kPeriod, the next multiple of the period at which a plan is wanted as things are; else none.
  std::optional<Nanoseconds> next_in_grid(const Instant& instant) const;
  // With the other rules, a plan may be wanted between two events of one instant.
  bool is_periodic() const { return rule_ == CycleRule::kPeriod; }

  void note_change() { has_changed_ = true; }
  void note_arrivals(std::int64_t pods) { arrived_pods_ += pods; }
  void note_cycle(Nanoseconds now) { last_cycle_ = now; }
  // The plan of the last cycle was carried out; with kPeriod its own changes count for the next one.
  void note_plan(bool is_empty);
  bool has_changed() const { return has_changed_; }  // since the last plan, or by it

 private:
  bool wants_cycle(const Instant& instant) const;

  CycleRule rule_;
  Nanoseconds period_;
  std::int64_t batch_;  // pods
  Nanoseconds start_;
  std::optional<Nanoseconds> last_cycle_;
  std::int64_t arrived_pods_ = 0;  // since the last cycle
  bool has_changed_ = true;
};

}  // namespace muster::simulation
