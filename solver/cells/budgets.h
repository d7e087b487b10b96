// What is limited for the cluster as a whole, divided among its cells: whatever the cells do within their parts, their
// plans together keep within the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/base/index.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::cells {

// The cells of a large cluster: parts that are planned independently, and what belongs to each.
using CellIndex = Index<struct CellTag>;

struct Dealing {
  std::vector<std::string> names;                // of the cells, by CellIndex: their number, or the value of the label
  Indexed<NodeIndex, CellIndex> cell_of_node;    // never none
  Indexed<GangIndex, CellIndex> cell_of_gang;    // which may place its pending pods; none: no cell
  Indexed<GangIndex, std::uint8_t> is_spanning;  // its pods run in several cells, and must stay
  std::size_t too_large = 0;                     // gangs with more pods than any cell has room for, by sums
  std::size_t left_out = 0;  // gangs whose rules look beyond a cell: affinity, spread, pods that run elsewhere
  std::size_t size() const { return names.size(); }
};

struct DealingOptions {
  std::size_t cells = 1;
  std::string label = {};      // not empty: one cell for each value of this node label, whatever `cells` is
  const Plan* plan = nullptr;  // of an earlier round: what it places stays in its cell, the rest is dealt again
  std::size_t round = 1;       // gangs that are left over go to other cells in each round
};

// By cell. Each sums up to at most the whole's, unless that is exceeded already and nothing may be added.
struct Budgets {
  struct OfQueue {
    QueueAmounts quota{}, limit{};                    // kUnlimited
    std::vector<OtherQueueResource> other_resources;  // those that it has a limit of
  };
  std::vector<Indexed<QueueIndex, OfQueue>> queues;
  std::vector<Indexed<DisruptionBudgetIndex, std::int64_t>> disruptions;  // evictions; of those that can bind
  std::vector<std::int64_t> moves;                                        // empty: not limited
};

// Limits and quotas follow the gangs: those that fit into them, in turn, take what they ask for to their cell; the rest
// is divided by what is asked for. Cost: O(pods + gangs x depth of queues + queues x cells).
Budgets divide(const Problem& problem, const Dealing& dealing);

}  // namespace muster::cells
