// Where the records of a simulation go, and the sums over them.
#pragma once

#include <cstdint>

#include "datasets/simulation/records.h"
#include "model/snapshot/plan.h"

namespace muster::simulation {

// Passes each record on, and adds up the totals.
class SimulationLog {
 public:
  // `last_arrival`: the instant of the last submission of the workload.
  SimulationLog(SimulationSink sink, Nanoseconds last_arrival);

  void tell(const SimulationRecord& record) const {
    if (sink_) sink_(record);
  }
  // Also ends the sample of the cycle before, and begins that of this one. Fills in the record's number.
  void tell_cycle(CycleRecord record);
  // Ends the sample of the last cycle, which is not later than `now`.
  void end_sample(Nanoseconds now) { add_sample_until(now, totals_.samples); }
  // From one instant to a later one, the cluster has this capacity, and this much of it runs pods.
  void pass_time(Nanoseconds from, Nanoseconds to, Work capacity, Work allocated);
  void count_departures(EvictionReason reason, std::int64_t pods);
  void count_failed(std::int64_t pods) { totals_.departed.failed += pods; }

  const SimulationTotals& totals() const { return totals_; }

 private:
  SimulationSink sink_;
  SimulationTotals totals_;
};

}  // namespace muster::simulation
