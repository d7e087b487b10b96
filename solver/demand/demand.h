// Waiting pods, and running pods that may leave, grouped: the demand side of the formulation.
//
// Pods that are interchangeable for every node and every level share a DemandClass; gangs that are interchangeable
// except for their age share a GangClass, so that the model's size depends on kinds, not on pods. A pod that may leave
// is demand like any other, except that it can continue where it runs at no cost: its room counts as free, and staying
// is one way to fill it.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"
#include "solver/demand/departure_options.h"

namespace muster::formulation {

using DemandIndex = Index<struct DemandTag>;
using CellIndex = Index<struct CellTag>;
using GangClassIndex = Index<struct GangClassTag>;
using RunningCellIndex = Index<struct RunningCellTag>;

// Pods equal in class, in weighted work and in nominated node; or the pods of one running cell, which stay.
struct DemandClass {
  PodClassIndex pod_class;
  Work weighted_work = 0;    // of one pod
  NodeIndex nominated_node;  // none: none
  std::int64_t count = 0;    // of all cells
  RunningCellIndex stays;    // none: pods that are placed
};

// The pending pods of one leaf group that are of one demand class. For a gang class of several gangs: of each of them.
// Or the pods of a running cell, as far as they are moved.
struct Cell {
  GangClassIndex gang_class;
  GroupIndex leaf;  // of the first gang of the class
  DemandIndex demand;
  std::vector<PodIndex> pods;  // of the first gang of the class, ascending
  RunningCellIndex moves;      // none: pods that wait
  std::int64_t count() const { return static_cast<std::int64_t>(pods.size()); }
};

// Running pods of one leaf group that may leave, equal in all that determines the value of staying, leaving or being
// moved: class, weight, time run, their usage where they run, and the domains there that their gang refers to, or in
// which affinity or spread counts them.
struct RunningCell {
  GangClassIndex gang_class;
  GroupIndex leaf;  // of the first gang of the class
  DemandIndex stay;
  CellIndex move;              // none: they may not be moved
  std::vector<PodIndex> pods;  // of all gangs of the class, in their order
  NodeIndex node;              // of the first
  BudgetSetIndex budgets;      // disruption budgets that they count in; none: none
  QueueAmounts usage{};        // of one pod, on its node
  Work cost = 0;               // of evicting one: weighted work x seconds run
  std::int64_t count() const { return static_cast<std::int64_t>(pods.size()); }
};

// Gangs that differ in name, and in age if all or nothing of them is placed. A class is shared only by gangs of one
// leaf group and one demand class of which nothing is present and which ask for no topology level, and by gangs of one
// running pod; all others are classes by themselves.
struct GangClass {
  std::vector<GangIndex> gangs;  // longest waiting first, then by index
  std::vector<CellIndex> cells;
  std::vector<RunningCellIndex> running;  // of gangs that may leave
  DepartureOptions leaving;
  bool is_singles = false;       // gangs of one pod each, which runs
  bool lacks_resources = false;  // its minResources are not covered without evictions
  QueueIndex queue;
  std::int32_t priority = 0;
  bool preemptible = true;
  bool minimum_runs = false;  // it is there already (of gangs that may not leave: for good)
  std::int64_t minimum = 0;   // pods of its one cell that each gang needs (classes of several gangs only)
  std::int64_t size() const { return static_cast<std::int64_t>(gangs.size()); }
};

struct Demand {
  Indexed<DemandIndex, DemandClass> classes;
  Indexed<CellIndex, Cell> cells;
  Indexed<GangClassIndex, GangClass> gang_classes;
  Indexed<RunningCellIndex, RunningCell> running;
  Indexed<PodIndex, RunningCellIndex> running_cell_of;  // none: it waits, or stays for good
  // By node class: the parts of the cluster that the minResources of some gang count which lacks them.
  std::vector<std::vector<bool>> counted_parts;
};

// Collects the pods that the rules do not exclude in advance: pending and not present in `state`, of a gang whose queue
// is a leaf, that has not timed out, and whose minResources are covered by what is free or being freed on the nodes
// that its pods may use; and the running pods that may leave. Demand classes of pods that stay come first. Cost: O(pods
// log pods).
Demand collect_demand(const Problem& problem, const EvictionCandidates& candidates, const ClusterState& state);
// By node class: whether some pod of the gang could be placed there, so that free capacity there counts for its
// minResources.
std::vector<bool> usable_classes(const Problem& problem, GangIndex gang);
// The gang classes of each leaf queue, in their order. Cost: O(gang classes).
Indexed<QueueIndex, std::vector<GangClassIndex>> classes_by_queue(const Problem& problem, const Demand& demand);
// Removes the pods that may leave.
void remove_candidates(const Demand& demand, ClusterState& state);

}  // namespace muster::formulation
