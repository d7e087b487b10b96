// The events of a cluster over time, as a simulation replays them: the snapshot that it starts from, and events.
//
// Shape: `all` holds the start and everything that arrives later, in order of arrival, and owns the text and the pod
// specs that all of it refers to; events name positions in its lists. Units as in model/snapshot/snapshot.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/snapshot/snapshot.h"

namespace muster {

enum class WorkloadEventKind : std::uint8_t { kSubmit, kAddNodes, kRemoveNodes, kCordon, kUncordon, kQueues };

// Positions from `begin` up to `end`.
struct PositionRange {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};

struct WorkloadEvent {
  Nanoseconds time = 0;  // an instant, not before that of the event before it
  WorkloadEventKind kind = WorkloadEventKind::kSubmit;
  PositionRange gangs, pods;            // kSubmit; all pods are pending, and their gangs are of the same event
  std::optional<Nanoseconds> duration;  // kSubmit: how long each gang runs, > 0; none: for ever
  PositionRange nodes;                  // kAddNodes
  PositionRange queues;                 // kQueues: added, or in place of those of the same name
  std::vector<std::string_view> names;  // of nodes: kRemoveNodes, kCordon, kUncordon
};

struct Workload {
  Snapshot all;
  PositionRange start_gangs, start_pods, start_nodes, start_queues;  // what is there from the start
  std::vector<WorkloadEvent> events;                                 // in the order of time
};

}  // namespace muster
