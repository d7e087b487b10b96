// Decides when the configurations of a problem are listed completely, and for how long it is solved without the list
// first.
//
// With the list every level can be proven, but one level may take all the time, and there is no plan before its end. So
// the methods of the shorter budgets, which are too short for the list, run first, for as long as the longest of those
// budgets: a longer budget then finds what every shorter one finds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "model/base/tuning.h"

namespace muster::formulation {

inline std::chrono::microseconds time_per_state() { return std::chrono::microseconds(kTuning.listing.state_us); }

// How many states may be listed in that time.
inline std::size_t most_states_in(std::chrono::nanoseconds left) {
  return static_cast<std::size_t>(std::max<std::int64_t>(left / time_per_state(), 0));
}

// The part of the time left that is kept for the path without the list, if the list has that many states. Lists that
// are solved very quickly need no other path.
inline std::chrono::nanoseconds time_without_list(std::size_t states, std::chrono::nanoseconds left) {
  if (states <= kTuning.listing.few) return {};
  return std::min<std::chrono::nanoseconds>(time_per_state() * static_cast<std::int64_t>(states), left);
}

}  // namespace muster::formulation
