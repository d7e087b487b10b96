// The levels that count what leaves: `preempted`, `evictedBeyond`, `evicted` and `moved`.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "model/objective/levels.h"
#include "solver/rows/eviction_rows.h"

namespace muster::formulation {

class EvictionLevels {
 public:
  // All outlive the object.
  EvictionLevels(const FormulationInput& input, const GangColumns& columns, const EvictionRows& evictions,
                 lp::ModelBuilder& model)
      : in_(input), columns_(columns), evictions_(evictions), model_(model) {}

  // `evicted`, or the part that its kind counts. Adds columns and rows for `preempted`.
  lp::LinearExpression evicted(const LevelId& id);
  lp::LinearExpression moved() const;

 private:
  bool counts(const LevelId& id, const GangClass& gang_class, const ExitColumns& exit) const;
  void add_reclaimed(const LevelId& id, lp::LinearExpression& preempted);
  lp::LinearExpression reclaimed_in_reach(QueueIndex queue, std::int32_t priority,
                                          const lp::LinearExpression& reclaimed);

  const FormulationInput& in_;
  const GangColumns& columns_;
  const EvictionRows& evictions_;
  lp::ModelBuilder& model_;
  std::map<std::pair<QueueIndex, std::int32_t>, lp::LinearExpression> reclaimed_;  // see reclaimed_in_reach
};

}  // namespace muster::formulation
