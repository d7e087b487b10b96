// The events of a simulation, as far as a report page shows them: docs/simulation.md, "Events".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "io/json/json_document.h"
#include "io/json/reading.h"

namespace muster::reporting {

// What every event has.
struct EventHead {
  double time = 0;  // seconds
  std::string_view event;
};

struct QueueSample {
  std::string_view name;
  std::optional<double> fair_share, allocated;  // GPUs
};

struct HeaderEvent {
  std::string_view policy, cycle;
  std::vector<QueueSample> queues;
};

struct SubmitEvent {
  std::string_view gang, queue;
  std::int64_t priority = 0, pods = 0;
  double gpus = 0;
};

// Start, eviction, interruption, end of a gang.
struct GangEvent {
  std::string_view gang, reason;
  json::JsonValue gang_value;
  std::int64_t pods = 0;  // that it is about
  double lost = 0;        // GPU seconds
};

struct NodeEvent {
  std::string_view name, change;
};

struct CycleEvent {
  std::int64_t running = 0, pending = 0, placed = 0, evicted = 0, moved = 0;  // pods
  double capacity = 0, allocated = 0, fragmentation = -1;                     // GPUs; -1: not told
  std::vector<QueueSample> queues;
  struct Waiting {
    std::int64_t gangs = 0;
    double gpus = 0;
  } waiting;
};

// False: the reading has the error. Keys that the record does not have are ignored, since a simulation may report more
// than a page shows. Texts refer to the document and the reading's names. Cost: O(members).
[[nodiscard]] bool read_event(json::Reading& in, json::JsonValue line, EventHead& head);
[[nodiscard]] bool read_event(json::Reading& in, json::JsonValue line, HeaderEvent& event);
[[nodiscard]] bool read_event(json::Reading& in, json::JsonValue line, SubmitEvent& event);
[[nodiscard]] bool read_event(json::Reading& in, json::JsonValue line, GangEvent& event);
[[nodiscard]] bool read_event(json::Reading& in, json::JsonValue line, NodeEvent& event);
[[nodiscard]] bool read_event(json::Reading& in, json::JsonValue line, CycleEvent& event);

}  // namespace muster::reporting
