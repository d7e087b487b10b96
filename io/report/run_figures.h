// The outcome of a simulation by its events alone: the figures that its summary would have.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "io/json/json_writer.h"
#include "io/report/simulation_events.h"

namespace muster::reporting {

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

}  // namespace muster::reporting
