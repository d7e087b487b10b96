#include "datasets/simulation/simulation_log.h"

#include <algorithm>
#include <utility>

#include "model/base/require.h"

namespace muster::simulation {

SimulationLog::SimulationLog(SimulationSink sink, Nanoseconds last_arrival) : sink_(std::move(sink)) {
  totals_.last_arrival = last_arrival;
}

void SimulationLog::tell_cycle(CycleRecord record) {
  record.number = totals_.cycles++;
  tell(record);
  end_sample(record.time);
  totals_.samples.last = std::move(record);
  totals_.samples.since_last = 0;
}

void SimulationLog::pass_time(Nanoseconds from, Nanoseconds to, Work capacity, Work allocated) {
  MUSTER_REQUIRE(from <= to);
  const GpuTime offered = GpuTime{capacity} * (to - from), used = GpuTime{allocated} * (to - from);
  totals_.capacity += offered;
  totals_.allocated += used;
  if (to > totals_.last_arrival) return;
  totals_.capacity_arriving += offered;
  totals_.allocated_arriving += used;
}

void SimulationLog::count_departures(EvictionReason reason, std::int64_t pods) {
  switch (reason) {
    case EvictionReason::kPreempt:
      totals_.departed.preempted += pods;
      break;
    case EvictionReason::kReclaim:
      totals_.departed.reclaimed += pods;
      break;
    case EvictionReason::kStale:
      totals_.departed.stale += pods;
      break;
    case EvictionReason::kConsolidate:
      totals_.departed.moved += pods;
      break;
  }
}

void add_sample_until(Nanoseconds time, CycleSamples& samples) {
  if (!samples.last) return;
  const CycleRecord& sample = *samples.last;
  MUSTER_REQUIRE(time >= sample.time);
  const Nanoseconds from = sample.time + samples.since_last;
  const Nanoseconds span = time - from;
  if (span <= 0) return;
  samples.since_last += span;
  samples.time += span;
  samples.capacity += GpuTime{sample.capacity} * span;
  const double seconds = static_cast<double>(span) / 1e9;
  if (sample.fragmentation) samples.fragmentation_seconds += static_cast<double>(*sample.fragmentation) / 1e6 * seconds;
  double sum = 0, squares = 0;
  std::int64_t entitled = 0;
  for (const QueueSample& queue : sample.queues) {
    const Work shortfall = std::max<Work>(0, queue.fair_share - queue.allocated);
    QueueTotals& total = samples.queues[queue.name];
    total.fair_share += GpuTime{queue.fair_share} * span;
    total.allocated += GpuTime{queue.allocated} * span;
    total.shortfall += GpuTime{shortfall} * span;
    total.time += span;
    samples.shortfall += GpuTime{shortfall} * span;
    if (queue.fair_share <= 0) continue;
    const double ratio = static_cast<double>(queue.allocated) / static_cast<double>(queue.fair_share);
    ++entitled;
    sum += ratio;
    squares += ratio * ratio;
  }
  // No queue is entitled to anything, or none has any: all are equal.
  samples.jain_seconds += squares > 0 ? sum * sum / (static_cast<double>(entitled) * squares) * seconds : seconds;
}

}  // namespace muster::simulation
