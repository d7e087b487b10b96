// A choice whose pods need places, and the places that were found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/problem/problem.h"
#include "solver/budget/deadline.h"

namespace muster::slots {

// A part of the cluster, by NodeIndex; null: all of it. Outlives the call. Equal parts should be one object.
using NodeFilter = const std::vector<bool>*;

// Running pods of one pod class that are alike in all but their places: it does not matter which of them remain.
struct KeptPods {
  std::vector<PodIndex> pods;
  std::int64_t kept = 0;       // of them remain, where they run or moved; the others leave. 0 .. number of pods
  bool movable = true;         // else those that remain stay where they are
  Work cost = 0;               // of moving one: its weighted work; > 0
  NodeFilter nodes = nullptr;  // where a moved one may be
};

// Pending pods that are placed together or not at all.
struct NewPods {
  GangIndex gang;
  std::vector<PodIndex> pods;
  NodeFilter nodes = nullptr;  // where they may be
};

// Requires: no pod is in two lists, and each pod of `kept` fits at home next to `base` and all other pods of `kept`,
// which holds if they run there in the snapshot. Refers to objects that outlive the call.
struct SlotTask {
  const Problem& problem;
  const ClusterState& base;   // what stays for good; none of the pods below is present
  const QueueBounds& bounds;  // of queues, see queue_bounds
  std::vector<KeptPods> kept;
  std::vector<NewPods> placed;  // those to be done without first come last
  std::optional<std::int64_t> most_moves;
};

// Until when places are improved, and when every pod has to have one.
struct PlaceTime {
  Deadline improving, last;
};

// `state` obeys every rule of placement that can_place tests (order of binding aside, see ordered_plan_of), the parts
// given, `most_moves`, and minResources. Of each KeptPods, `kept` pods are present. No moved pod could be at home next
// to everything else in `state`, unless PlaceTime::last has passed.
struct SlotResult {
  ClusterState state;                 // base, and all that stays, is moved or is placed
  std::vector<PodIndex> moved, left;  // of `kept`, ascending: present elsewhere; not present
  std::vector<std::size_t> homeless;  // positions in SlotTask::placed, ascending, that found no places
  Work moved_work = 0;
  // No way to place all of `placed` moves less work; none: it is proven that they cannot all be placed. 0: unknown.
  std::optional<Work> least_moved = 0;
  // Everything is placed, and no way to do so moves less work.
  bool is_proven() const { return homeless.empty() && least_moved && *least_moved >= moved_work; }
};

}  // namespace muster::slots
