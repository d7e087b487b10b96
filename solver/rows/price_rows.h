// Rule Price (docs/semantics.md, "Evictions") in the formulation: what the pods that leave for the gangs of one channel
// lose together is at most what these gangs may make others lose.
//
// Every plan obeys these rows. The losses of each gang by itself, and those of moves, are not included; decoding checks
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heuristics/preemption/eviction_rules.h"
#include "solver/demand/demand.h"
#include "solver/lp/model_builder.h"

namespace muster::formulation {

class PriceRows {
 public:
  // All outlive the object. Cost: O(1).
  PriceRows(const Problem& problem, const Demand& demand, const preemption::EvictionPrice& price)
      : problem_(problem), demand_(demand), price_(price) {}

  // Whether some of the gangs may make some pod of the victims leave. Cost: O(gangs of the classes).
  bool can_afford(const std::vector<GangClassIndex>& claimants, GangClassIndex victims) const;

  // What the row of one channel adds up.
  struct Losses {
    lp::LinearExpression lost;     // by the pods that leave
    lp::LinearExpression allowed;  // for the gangs that are placed; its constant: for gangs that have no column
  };
  // `pods`: how many leave. No pod of the cell loses less than what is counted.
  void add_loss(RunningCellIndex cell, const lp::LinearExpression& pods, Losses& losses) const;
  // `admitted`: the column that counts gangs of the class that are placed, or -1.
  void add_claimants(GangClassIndex index, std::int32_t admitted, Losses& losses) const;
  // Coefficients are rounded to at most a million units of the largest, which relaxes the row.
  static void add_row(const Losses& losses, const std::string& name, lp::ModelBuilder& model);

 private:
  std::int64_t most_loss(GangClassIndex claimants) const;

  const Problem& problem_;
  const Demand& demand_;
  const preemption::EvictionPrice& price_;
};

}  // namespace muster::formulation
