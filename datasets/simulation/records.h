// The records of a simulation: one for each event, and the outcome of each job at the end.
//
// Units: instants and spans in nanoseconds, GPUs in thousandths. Views point into the workload.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "model/problem/problem.h"
#include "model/snapshot/snapshot.h"

namespace muster::simulation {

// Thousandths of a GPU x nanoseconds, or GPUs in thousandths x nanoseconds of a cluster: beyond 64 bits.
__extension__ using GpuTime = __int128;
inline double gpu_seconds(GpuTime time) { return static_cast<double>(time) / 1e12; }

inline bool has_succeeded(const SnapshotPod& pod) { return pod.status == PodStatus::kSucceeded; }

// What a job has suffered so far.
struct JobDisruptions {
  std::int64_t evicted_pods = 0, moved_pods = 0, interruptions = 0;
  GpuTime lost = 0;  // work that was done in vain
};

// The current state of a job.
struct JobState {
  std::size_t first_pod = 0;  // position in the snapshot; its pods are adjacent
  Work running = 0;           // of its running pods, thousandths of a GPU
  std::int64_t pending = 0;   // pods
  std::optional<Nanoseconds> running_since;
  Nanoseconds progress = 0;  // what was done before that
  std::uint32_t epoch = 0;   // grows with each start and interruption
  bool was_told = false;     // the first plan that left it waiting has been asked when it would start
};

// A gang, or a pod that is one by itself.
struct SimulatedJob {
  std::string_view name, queue;
  std::int32_t priority = 0;  // without aging
  std::size_t pods = 0;
  Work gpu_work = 0;  // of all its pods, thousandths of a GPU
  Nanoseconds submitted = 0;
  std::optional<Nanoseconds> duration;  // none: for ever
  std::optional<Nanoseconds> first_start, finished;
  std::optional<Nanoseconds> told_start;  // expected by the first plan that left it waiting; see options
  bool is_dropped = false;
  JobDisruptions disruptions;
  JobState state;
  bool has_left() const { return is_dropped || finished.has_value(); }
};

struct PodRecord {
  std::string_view name, from, node;
  std::vector<std::int32_t> devices;
  std::int64_t share = 0;  // of each device, in millionths; 0: no devices
};

enum class JobEvent : std::uint8_t { kSubmit, kPlace, kStart, kMove, kEvict, kInterrupt, kFinish, kDrop };

struct JobRecord {
  JobEvent event = JobEvent::kSubmit;
  Nanoseconds time = 0;
  const SimulatedJob& job;
  std::vector<PodRecord> pods;        // kPlace, kMove, kEvict
  std::string_view reason, for_gang;  // kEvict, kMove; `for_gang` may be empty
  GpuTime lost = 0;                   // kInterrupt
};

enum class NodeEvent : std::uint8_t { kFailed, kRepaired, kAdded, kRemoved, kCordoned, kUncordoned };

struct NodeRecord {
  NodeEvent event = NodeEvent::kFailed;
  Nanoseconds time = 0;
  const SnapshotNode& node;
};

struct QueueSample {
  std::string_view name;
  Work fair_share = 0, allocated = 0;
};

// The cluster as a plan leaves it.
struct CycleRecord {
  Nanoseconds time = 0;
  std::int64_t number = 0;                // from 0
  std::int64_t running = 0, pending = 0;  // pods
  std::int64_t placed = 0, evicted = 0, moved = 0;
  Work capacity = 0, allocated = 0;
  std::int64_t waiting_gangs = 0;             // those whose minimum does not run
  Work waiting_work = 0;                      // of all their pods that wait
  std::optional<std::int64_t> fragmentation;  // millionths of a thousandth of a GPU; none: the policy is to spread
  std::vector<QueueSample> queues;            // leaves, in the snapshot's order
};

using SimulationRecord = std::variant<JobRecord, NodeRecord, CycleRecord>;
using SimulationSink = std::function<void(const SimulationRecord&)>;  // may be empty

// Sums over time of one leaf queue.
struct QueueTotals {
  GpuTime fair_share = 0, allocated = 0, shortfall = 0;  // shortfall: what it was below its share
  Nanoseconds time = 0;
};

// Sums over the time between plans, each cluster as the plan before left it.
struct CycleSamples {
  GpuTime shortfall = 0, capacity = 0;
  double fragmentation_seconds = 0, jain_seconds = 0;  // thousandths of a GPU x s; index x s
  Nanoseconds time = 0;
  std::map<std::string_view, QueueTotals> queues;
  std::optional<CycleRecord> last;
  Nanoseconds since_last = 0;  // of that time
};

// Adds the time since the last plan to the sums. Requires time >= samples.last->time, if there is one.
void add_sample_until(Nanoseconds time, CycleSamples& samples);

// Pods that departed, by cause.
struct DepartureTotals {
  std::int64_t preempted = 0, reclaimed = 0, stale = 0, failed = 0, moved = 0;
};

struct SimulationTotals {
  std::int64_t cycles = 0;
  GpuTime capacity = 0, allocated = 0;                    // up to now
  GpuTime capacity_arriving = 0, allocated_arriving = 0;  // up to the last arrival
  Nanoseconds last_arrival = 0;
  DepartureTotals departed;
  CycleSamples samples;
};

}  // namespace muster::simulation
