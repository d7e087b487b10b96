// Numbers that docs/semantics.md defines: they say what a plan is worth and which plans are allowed, not how one is
// found. Another value is another contract. Those of decisions over time were chosen by replays of the Philly trace at
// three loads, seeds 1 to 3 (docs/simulation.md has the figures).
#pragma once

#include <cstdint>

namespace muster {

struct SemanticNumbers {
  // Expected duration, seniority and expected end ("Over time").
  std::int64_t single_hours = 4, gang_hours = 16;  // that gangs of one GPU, and larger ones, are first taken to run
  std::int64_t imagined = 5;                       // gangs of that duration in the history of all queues
  std::int64_t borrowed = 10;          // gangs of that history's mean in the history of a queue; 50 is alike
  std::int64_t shortest_seconds = 60;  // of any expected duration, and of what is left of one
  std::int64_t added_seconds = 3'600;  // to what a gang has waited, in its turn; 12 min to 24 h are alike
  std::int64_t overrun_seconds = 600;  // that a gang which runs longer than expected goes on for, at least
  // "Reservations".
  std::int64_t head_gpus = 8;       // of the smallest gang that others are kept back for; 2 and 4 gained nothing
  std::int64_t fill_units = 2'048;  // of a quota that are filled exactly; what is beyond goes to the first in turn
  // "Expected starts".
  std::int64_t forecast_steps = 32;    // ends that differ by so small a part of the time ahead are taken together
  std::int64_t ranking_seconds = 600;  // ahead, for which forecasts rank gangs by now; then as often as this doubles
};

inline constexpr SemanticNumbers kSemantics;

}  // namespace muster
