#include "datasets/simulation/node_failures.h"

#include <algorithm>

#include "model/base/require.h"

namespace muster::simulation {

// Runs of falling uniform numbers u1 >= u2 >= ... : a run of odd length is accepted with probability e^-u1, and then
// the span is u1 plus one for each run that was not.
Nanoseconds exponential_span(generator::Random& random, Nanoseconds mean) {
  MUSTER_REQUIRE(0 < mean && mean <= Nanoseconds{1} << 57);
  constexpr std::uint64_t kMostRefused = 60;  // e^-60 is never seen
  for (std::uint64_t refused = 0;; ++refused) {
    const std::uint64_t first = random.next();
    std::uint64_t last = first, length = 1;
    for (std::uint64_t next = random.next(); next <= last; next = random.next()) {
      last = next;
      ++length;
    }
    if (length % 2 == 0 && refused < kMostRefused) continue;
    // mean x (refused + first / 2^64), by halves of 32 bits.
    const auto scale = static_cast<std::uint64_t>(mean);
    const std::uint64_t high = (first >> 32) * (scale >> 32);
    const std::uint64_t middle =
        ((first >> 32) * (scale & 0xFFFF'FFFF) >> 32) + ((first & 0xFFFF'FFFF) * (scale >> 32) >> 32);
    const std::uint64_t span =
        std::min(scale * std::min(refused, kMostRefused) + high + middle, static_cast<std::uint64_t>(INT64_MAX) >> 1);
    return std::max<Nanoseconds>(1, static_cast<Nanoseconds>(span));
  }
}

}  // namespace muster::simulation
