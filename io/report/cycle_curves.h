// The cycles of a simulation as curves of a report page: as many points as can be drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/json/json_writer.h"

namespace muster::reporting {

// After one cycle of planning.
struct CyclePoint {
  double time = 0, capacity = 0, allocated = 0, fragmentation = -1;  // seconds; GPUs
  std::int64_t running = 0, pending = 0, placed = 0, evicted = 0, moved = 0, waiting_gangs = 0;
  double waiting_gpus = 0;
  std::vector<double> fair_share, used;  // by queue
};

// Keeps at most 2 * kMostCycles - 1 points: beyond that every second one is removed, and its counts of pods placed,
// evicted and moved are added to the next.
class CycleCurves {
 public:
  static constexpr std::size_t kMostCycles = 3000;

  void add(CyclePoint point);
  std::size_t stride() const { return stride_; }  // cycles a point
  const std::vector<CyclePoint>& points() const { return points_; }

  // Appends ,"cycles":{...}. Cost: O(points x queues).
  void write(json::JsonWriter& json, const std::vector<std::string>& queues) const;

 private:
  void thin();

  std::vector<CyclePoint> points_;
  std::size_t stride_ = 1, since_kept_ = 0;
  CyclePoint passed_over_;  // the counts of cycles that are not kept
};

}  // namespace muster::reporting
