// Random tiny clusters with every feature of the contract that the solver's rules cover. Equal seeds give equal ones.
#pragma once

#include <cstdint>

#include "test/support/case.h"

namespace muster::test {

// Shares are in percent, each drawn once for each thing that may have the feature.
struct ClusterShape {
  bool may_evict = false;  // else `place` is the only action
  int most_nodes = 4;
  int most_gangs = 6;
  int most_pods = 4;  // of a gang
  int running = 15;
};

Case random_cluster(std::uint32_t seed, const ClusterShape& shape = {});

// Of every three clusters one is the generator's, and one has running pods that may leave.
Case any_cluster(std::uint32_t seed);

}  // namespace muster::test
