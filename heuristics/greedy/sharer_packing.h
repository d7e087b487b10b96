// How sharers fill devices, by counts alone: which of them are surplus, because no other pod is left to fill the
// devices that they use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::greedy {

// Of all sharers of one size, how many there are. Sizes in millionths of a device, largest first.
using SharerCounts = std::map<std::int64_t, std::int64_t, std::greater<>>;

struct SharerPacking {
  std::int64_t idle = 0;  // millionths of devices that are shared
  SharerCounts on_idle;   // sharers on devices that are idle in part
};
// On empty devices, the largest first, each on the tightest device that it fits on (best fit decreasing). Cost:
// O(sizes^3) at most.
SharerPacking pack_sharers(const SharerCounts& counts);

// Gangs that share devices, all or none of each.
struct SharerGang {
  std::size_t number = 0;
  std::int64_t share = 0;  // of each of its sharers
  std::int64_t sharers = 0;
};
SharerCounts counts_of(std::span<const SharerGang> gangs);

// The numbers of the sharers without which less is left idle on shared devices: of one size after another, or of all
// sizes together where none is enough; the last in the list first. Cost: O(gangs x sizes^2), and O(sizes^2) packings.
std::vector<std::size_t> surplus_sharers(std::span<const SharerGang> gangs);

// Whether sums alone tell what fits: then gangs can be chosen before any of them is placed.
//
// They do where nodes with devices are alike and idle, and all waiting pods use devices. Of the numbers of whole
// devices that pods ask for each divides the next, and the last that of a node, so that the largest placed first leave
// no gap; nor does any of them take more of another resource than its devices' part of the node. Sharers have to fill
// devices (pack_sharers), and what they take of other resources is not examined. `state`: before anything is placed.
// Cost: O(nodes x resources + groups + pods + pod classes x classes of nodes).
bool have_exact_sums(const Problem& problem, const ClusterState& state);

}  // namespace muster::greedy
