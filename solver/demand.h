// What waits, grouped: the demand side of the formulation.
//
// Pods that are interchangeable for every node and every level share a DemandClass; gangs that are interchangeable up
// to their age share a GangClass, so that the model's size depends on kinds, not on pods.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/cluster_state.h"
#include "model/problem.h"

namespace muster {

using DemandIndex = Index<struct DemandTag>;
using CellIndex = Index<struct CellTag>;
using GangClassIndex = Index<struct GangClassTag>;

// Pods alike in class, in weighted work and in nominated node.
struct DemandClass {
  PodClassIndex pod_class;
  Work weighted_work = 0;    // of one pod
  NodeIndex nominated_node;  // none: none
  std::int64_t count = 0;    // of all cells
};

// The pending pods of one leaf group that are of one demand class. For a gang class of several gangs: of each of them.
struct Cell {
  GangClassIndex gang_class;
  GroupIndex leaf;  // of the first gang of the class
  DemandIndex demand;
  std::vector<PodIndex> pods;  // of the first gang of the class, ascending
  std::int64_t count() const { return static_cast<std::int64_t>(pods.size()); }
};

// Gangs that differ in name, and in age where all or nothing of them is placed. Only gangs of one leaf group and one
// demand class, of which nothing is present and which ask for no topology level, share a class; all others are classes
// of their own.
struct GangClass {
  std::vector<GangIndex> gangs;  // longest waiting first, then by index
  std::vector<CellIndex> cells;
  QueueIndex queue;
  std::int32_t priority = 0;
  bool preemptible = true;
  bool minimum_runs = false;  // it is there already: each pod placed is a unit of its own
  std::int64_t minimum = 0;   // pods of its one cell that each gang needs (classes of several gangs only)
  std::int64_t size() const { return static_cast<std::int64_t>(gangs.size()); }
};

struct Demand {
  Indexed<DemandIndex, DemandClass> classes;
  Indexed<CellIndex, Cell> cells;
  Indexed<GangClassIndex, GangClass> gang_classes;
};

// Collects the pods that the rules do not exclude beforehand: pending and not present in `state`, of a gang whose queue
// is a leaf, that has not timed out, and whose minResources are covered by what is free or being freed on the nodes
// that its pods may use. Cost: O(pods log pods). `excluded` gangs (stale ones that are evicted) are passed over.
Demand collect_demand(const Problem& problem, const std::vector<bool>& excluded, const ClusterState& state);

}  // namespace muster
