// What pods cost in the last cycle: a start for the prices of the next one.
//
// Consecutive snapshots of a cluster ask for much the same. Prices only say where the search begins; every limit is
// proven anew from what the snapshot holds, so an answer that remembers is the same as one that does not, but sooner.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "model/levels.h"
#include "model/problem.h"
#include "solver/demand.h"

namespace muster {

// Of the last cycle that had prices, by level and by what a pod asks for and counts. Not for two threads at once.
class PriceMemory {
 public:
  // By DemandIndex, in units of the level; empty unless nearly all pods that wait are of a kind that is known.
  // Cost: O(demand classes).
  std::vector<double> recall(const Problem& problem, const Demand& demand, const LevelId& level) const;
  // Forgets what it knew of the level.
  void keep(const Problem& problem, const Demand& demand, const LevelId& level, const std::vector<double>& price);

 private:
  using Kind = std::tuple<std::vector<Amount>, GpuRequestKind, std::int32_t, std::int64_t, Work>;
  static Kind kind_of(const Problem& problem, const DemandClass& demand);

  std::map<LevelId, std::map<Kind, double>> prices_;
};

}  // namespace muster
