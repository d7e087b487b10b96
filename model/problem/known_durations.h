// What a policy knows of durations, for programs that make the snapshots which it sees.
#pragma once

#include <cstdint>

namespace muster {

enum class KnownDurations : std::uint8_t {
  kNone,      // only how long gangs have waited
  kByRules,   // expected durations, and the rules over time as the policy of the snapshot sets them
  kExpected,  // expected durations; it reserves by itself or not at all, so reserveAfter is `never`
  kExact      // as kExpected, and each gang tells how long it will run
};

}  // namespace muster
