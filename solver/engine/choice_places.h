// A choice as a task for solver/slots, and the result of it as a plan's end state.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "heuristics/state/candidate.h"
#include "heuristics/state/fit.h"
#include "solver/column_generation/restricted_master.h"
#include "solver/formulation/formulation.h"
#include "solver/slots/slots.h"

namespace muster::engine {

class ChoicePlaces {
 public:
  // All outlive it. `solution`: of a pooled formulation of the same demand.
  ChoicePlaces(const Problem& problem, const column_generation::RestrictedMaster& whole,
               const formulation::FormulationSolution& solution);

  // Higher priorities first, among them those that have waited longest. Refers to this object.
  slots::SlotTask task(const QueueBounds& bounds);
  // Why those left that are not at home in the state of the task's result.
  std::vector<PlannedEviction> departures(const ClusterState& state,
                                          const std::vector<formulation::EvictionChannel>& channels) const;

 private:
  void keep(formulation::RunningCellIndex cell, slots::SlotTask& task);
  void place(formulation::GangClassIndex index, std::vector<slots::NewPods>& placed);
  void place_equal(const formulation::GangClass& gang_class, std::int64_t gangs, std::vector<slots::NewPods>& placed);
  slots::NodeFilter nodes_of(formulation::CellIndex cell);
  slots::NodeFilter nodes_in(const std::set<formulation::ZoneIndex>& zones);

  const Problem& problem_;
  const column_generation::RestrictedMaster& whole_;
  const formulation::Demand& demand_;
  const formulation::FormulationSolution& solution_;
  std::map<std::set<formulation::ZoneIndex>, std::vector<bool>> filters_;
};

}  // namespace muster::engine
