// The prices of pods in the last cycle: a start for the prices of the next one.
//
// Consecutive snapshots of a cluster have similar requests. Prices only determine where the search begins; every bound
// is proven anew from the snapshot. If the time suffices, the answer is the same without this memory, but later.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "model/objective/levels.h"
#include "model/problem/problem.h"
#include "solver/demand/demand.h"

namespace muster::column_generation {

// Of the last cycle that had prices, by level and by what a pod asks for and counts. Not thread-safe.
class PriceMemory {
 public:
  // By DemandIndex, in units of the level; empty unless nearly all waiting pods are of a known kind. Cost: O(demand
  // classes).
  std::vector<double> recall(const Problem& problem, const formulation::Demand& demand, const LevelId& level) const;
  // Forgets what it knew of the level.
  void keep(const Problem& problem, const formulation::Demand& demand, const LevelId& level,
            const std::vector<double>& price);

 private:
  using Kind = std::tuple<std::vector<Amount>, GpuRequestKind, std::int32_t, std::int64_t, Work>;
  static Kind kind_of(const Problem& problem, const formulation::DemandClass& demand);

  std::map<LevelId, std::map<Kind, double>> prices_;
};

}  // namespace muster::column_generation
