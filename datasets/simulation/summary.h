// The results of a simulation: waiting and completion times by queue and by size of gang, allocation, losses, fairness.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/simulation/simulation.h"
#include "datasets/simulation/told_starts.h"

namespace muster::simulation {

// Of spans in nanoseconds. Quantiles by the nearest rank.
struct SpanStatistics {
  std::int64_t count = 0;
  double mean_seconds = 0;
  Nanoseconds p50 = 0, p99 = 0, most = 0;
};
SpanStatistics statistics_of(std::vector<Nanoseconds> spans);

// A group of gangs: of one size, of one queue, or all.
struct GangSummary {
  std::string name;
  std::int64_t submitted = 0, started = 0, finished = 0, dropped = 0;
  SpanStatistics waiting;  // from submission to the first start, or to the end of the simulation; dropped ones left out
  SpanStatistics completion;  // from submission to the end of those that finished
  SpanStatistics delay;       // the same beyond their duration
  std::int64_t interruptions = 0, evicted_pods = 0, moved_pods = 0;
  GpuTime lost = 0;
  ToldStatistics told;  // of those that were told a start and have started; count 0: none
};

struct SimulationSummary {
  GangSummary all, large;             // large: 8 GPUs and more
  std::vector<GangSummary> by_size;   // classes that have a gang, small ones first
  std::vector<GangSummary> by_queue;  // by name
  GpuTime lost = 0;
};

// Cost: O(jobs log jobs).
SimulationSummary summarize(const Simulation& simulation);

}  // namespace muster::simulation
