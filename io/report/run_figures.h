// The outcome of a simulation by its events alone: the figures that its summary would have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/json/json_document.h"
#include "io/json/json_writer.h"
#include "io/json/reading.h"

namespace muster::reporting {

// The events of a simulation, as far as a report page shows them: docs/simulation.md, "Events".
//
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

// What became of one gang. Times are seconds.
struct GangOutcome {
  double gpus = 0;
  bool has_started = false, is_dropped = false;
  double waited = 0;                // until its first start, or the end
  std::optional<double> completed;  // from submission to its end
};

// Fed with events in the order of time; instants are seconds since the start. GPUs in use are exact after each cycle.
// Between two of them, a gang that ends gives back all its GPUs, which are too many if only some of its pods run.
class RunFigures {
 public:
  // The clock comes to `time`; until then, gangs of so many GPUs ran. Before each event. Cost: O(queues).
  void pass(double time, double running);
  void note_submission() { until_last_arrival_ = whole_; }
  // The cluster after a plan, with gangs of so many GPUs that run.
  void add(const CycleEvent& event, double running);
  // Pods that an eviction takes, GPU seconds that an interruption loses. Other events change nothing.
  void add(std::string_view what, const GangEvent& event);

  // Appends ,"figures":{...} with keys of a summary (docs/simulation.md, "Summary"). Cost: O(gangs log gangs).
  void write(json::JsonWriter& json, const std::vector<GangOutcome>& gangs) const;

 private:
  struct GpuSeconds {
    double capacity = 0, allocated = 0;
  };
  // How far the queues are from their shares, after one plan.
  struct Fairness {
    double shortfall = 0, jain = 1;  // GPUs; index
  };
  static Fairness fairness_of(const std::vector<QueueSample>& queues);
  void write_use(json::JsonWriter& json) const;

  double time_ = 0;
  GpuSeconds whole_, until_last_arrival_;
  double capacity_ = 0, beside_running_ = 0;  // GPUs; in use less those of running gangs, after the last plan
  std::optional<Fairness> now_;
  double sampled_seconds_ = 0, sampled_gpu_seconds_ = 0, shortfall_ = 0, jain_ = 0;  // sums over time
  std::int64_t preempted_ = 0, reclaimed_ = 0, moved_ = 0;                           // pods
  double lost_ = 0;                                                                  // GPU seconds
};

// The cycles of a simulation as curves of a report page: as many points as can be drawn.
//
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

// The gangs of a simulation and when they ran, as a report page draws them.
//
// Times are seconds since the start of the simulation, and never decrease.
class GangHistory {
 public:
  // A name may be used again once the gang that had it is gone.
  void submit(const SubmitEvent& event, std::int32_t queue, double time);
  // False: no gang of that name has been submitted. `what`: "start", "evict", "interrupt", "finish", "drop"; others
  // change nothing.
  [[nodiscard]] bool take(std::string_view what, const GangEvent& event, double time);

  // The GPUs of all gangs that run.
  double running_gpus() const { return running_gpus_; }
  // Of each gang, in the order of submission. Cost: O(gangs).
  std::vector<GangOutcome> outcomes(double end) const;

  // Appends ,"gangs":{...},"runs":{...}. What still runs ends at `end`. Cost: O(gangs + runs log runs).
  void write(json::JsonWriter& json, double end) const;

 private:
  struct Gang {
    std::string name;
    std::int32_t queue = 0;
    std::int64_t priority = 0, pods = 0;
    double gpus = 0, submitted = 0;
    std::optional<double> left;  // finished or dropped
    bool is_dropped = false;
    std::optional<double> first_start, runs_since;
    std::string evicted_for;  // the reason of the last eviction since it runs
  };
  struct Run {
    std::size_t gang = 0;
    double from = 0, to = 0;
    std::string end;
  };
  void end_run(std::size_t gang, double time, std::string_view how);
  void write_gangs(json::JsonWriter& json) const;
  void write_runs(json::JsonWriter& json, double end) const;

  std::vector<Gang> gangs_;
  std::unordered_map<std::string, std::size_t> numbers_;  // of the last gang of each name
  std::vector<Run> runs_;
  double running_gpus_ = 0;
};

}  // namespace muster::reporting
