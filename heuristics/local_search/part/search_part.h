// One part of a round of the search: some nodes, and what waits for a place on them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/problem/problem.h"

namespace muster::local_search {

struct SearchPart {
  std::vector<NodeIndex> nodes;
  std::vector<PodIndex> waiting_pods;    // each of which may be placed by itself
  std::vector<GangIndex> waiting_gangs;  // whose minimum may be placed as a whole
  std::uint32_t number = 0, of = 1;      // this one, and how many there are: gangs that could lose pods belong to one
  std::uint64_t seed = 0;
  std::int64_t trials = 0;
  bool counts_usable = true;  // whether plans equal in all levels are distinguished, which takes longer
};

}  // namespace muster::local_search
