// When a simulation plans, what an interruption costs, and when it ends.
#pragma once

#include <cstdint>
#include <optional>

#include "datasets/simulation/node_failures.h"
#include "model/problem/known_durations.h"
#include "model/snapshot/snapshot.h"

namespace muster::simulation {

enum class CycleRule : std::uint8_t {
  kPeriod,  // at every multiple of the period since the start
  kBatch,   // once this many pods have arrived, and after the last arrival whenever something leaves
  kEach     // after each event, and whenever something leaves
};

struct SimulationOptions {
  CycleRule cycle = CycleRule::kPeriod;
  Nanoseconds period = 60 * kNanosecondsPerSecond;
  std::int64_t batch = 1;     // pods
  bool resumes_work = false;  // an interrupted job resumes where it was; else it restarts
  bool moves_live = false;    // a move is no interruption
  bool drops = false;         // what is not placed in the first cycle after it was submitted leaves
  KnownDurations durations = KnownDurations::kByRules;  // to the policy; of finished jobs they are kept as histories
  // What queues have used until now is kept for the snapshots, by a half of its weight in this time; 0: it is not.
  Nanoseconds usage_half_life = 0;
  bool calibrates = false;  // expected starts are computed, to compare them with the actual ones
  NodeFailureOptions failures;
  std::optional<Nanoseconds> until;  // an instant: nothing later happens
};

}  // namespace muster::simulation
