// Random snapshots that are small enough to look at every outcome, with every feature of placement switched on now and
// then.
#pragma once

#include <cstdint>
#include <string>

namespace muster::brute_force {

struct TinyOptions {
  int most_nodes = 5, most_gangs = 6, most_pods = 10;  // pods that are pending
  double load = 1;                                     // how often features are switched on: 0 never, 1 as usual
};

// One line of `muster/v1`, without the line feed; the policy allows `place` alone. The same seed gives the same line on
// every machine. Running and releasing pods always fit.
std::string tiny_instance(std::uint64_t seed, const TinyOptions& options = {});

}  // namespace muster::brute_force
