// The size by which gangs of one priority are sorted, for each GangOrder.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/greedy/placing_order.h"
#include "heuristics/greedy/waiting_gangs.h"
#include "heuristics/state/cluster_state.h"

namespace muster::greedy {

// Larger gangs come first.
struct GangSortKey {
  double size = 0;
  std::uint32_t position = 0;  // of WaitingGangs::all()
};

// Whether any pod of the gang may be placed. `excluded`: by gang.
inline bool may_be_placed(const WaitingGang& gang, const std::vector<bool>& excluded) {
  return gang.waits && !excluded[gang.gang.value()];
}

// One key for each gang, in the order of WaitingGangs::by_age(). `state`: before anything is placed. Cost: O(gangs),
// and O(pods) for gangs of unequal pods.
std::vector<GangSortKey> gang_sort_keys(const ClusterState& state, const WaitingGangs& gangs, const PlacingOrder& order,
                                        const std::vector<bool>& excluded);

}  // namespace muster::greedy
