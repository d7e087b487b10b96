// A replay of a workload, event by event: arrivals, ends, failures of nodes, and the plans of a scheduler.
//
// This class makes no decisions. `advance` moves the clock to the next instant at which a plan is wanted, `snapshot` is
// what a scheduler sees then, `carry_out` makes the plan happen at that instant. Time is in whole nanoseconds, and
// equal calls give equal records, on every platform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string_view>
#include <vector>

#include "datasets/simulation/node_failures.h"
#include "datasets/simulation/records.h"
#include "model/base/error.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "model/snapshot/workload.h"

namespace muster {

enum class CycleRule : std::uint8_t {
  kPeriod,  // at every multiple of the period since the start
  kBatch,   // once this many pods have arrived, and after the last arrival whenever something leaves
  kEach     // after each event, and whenever something leaves
};

struct SimulationOptions {
  CycleRule cycle = CycleRule::kPeriod;
  Nanoseconds period = 60 * kNanosecondsPerSecond;
  std::int64_t batch = 1;     // pods
  bool resumes_work = false;  // an interrupted job resumes where it was; else it restarts
  bool moves_live = false;    // a move is no interruption
  bool drops = false;         // what is not placed in the first cycle after it was submitted leaves
  NodeFailureOptions failures;
  std::optional<Nanoseconds> until;  // an instant: nothing later happens
};

class Simulation {
 public:
  using Sink = std::function<void(const SimulationRecord&)>;  // may be empty

  // Errors: those of build_problem, for the start or for later arrivals. The workload must outlive the simulation. Pods
  // that are releasing at the start are removed immediately. Cost: O(n log n) in the workload.
  static Result<std::unique_ptr<Simulation>> begin(const Workload& workload, const SimulationOptions& options,
                                                   Sink sink);

  // Advances to the next instant at which a plan is wanted: pods wait, and something has happened since the last plan,
  // or the rules depend on the clock. False: the end; no running job will finish, and nothing more is placed. Cost:
  // O(pods) and O(log jobs) for each event.
  bool advance();

  // The snapshot that a scheduler sees now. build_problem may fill in devices; nothing else may be changed.
  Snapshot& snapshot() { return snapshot_; }

  // Carries the plan out at one instant: departures first. Requires that the problem was built of snapshot(), the
  // shares of the problem, and a plan that the referee passes. Cost: that of `evaluate`.
  void carry_out(Problem problem, const FairShares& shares, const Plan& plan);

  Nanoseconds now() const { return now_; }
  const Workload& workload() const { return workload_; }
  // Events of the workload that have happened, for progress.
  std::size_t events_done() const { return next_event_; }
  // All submitted jobs so far, in order, and sums over time up to now.
  const std::vector<SimulatedJob>& jobs() const { return jobs_; }
  const SimulationTotals& totals() const { return totals_; }

 private:
  using JobIndex = std::uint32_t;
  struct End {
    Nanoseconds time = 0;
    JobIndex job = 0;
    std::uint32_t epoch = 0;
    friend auto operator<=>(const End&, const End&) = default;
  };
  struct NodeChange {
    Nanoseconds time = 0;
    std::size_t node = 0;  // identity
    friend auto operator<=>(const NodeChange&, const NodeChange&) = default;
  };
  // One node of the snapshot: its future failures, and whether it would be cordoned without them.
  struct NodeState {
    NodeFailures failures;
    bool is_down = false, is_cordoned = false, is_removed = false;
  };
  template <class T>
  using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;
  struct Changes;

  Simulation(const Workload& workload, const SimulationOptions& options, Sink sink);
  std::optional<InputError> start();
  std::optional<InputError> check_all() const;
  void tell(const SimulationRecord& record) const {
    if (sink_) sink_(record);
  }

  // --- Time
  bool is_over() const;
  bool wants_cycle() const;
  std::optional<Nanoseconds> next_instant() const;
  std::optional<Nanoseconds> next_grid_time() const;
  void move_clock(Nanoseconds time);
  void happen_now();
  bool is_cycle_now() const;
  bool clock_matters() const;

  // --- Events
  void happen(const WorkloadEvent& event);
  void submit(const PositionRange& gangs, const PositionRange& pods, std::optional<Nanoseconds> duration);
  void add_job(std::string_view name, const GangTerms& terms, const std::vector<std::size_t>& pods,
               std::optional<Nanoseconds> duration);
  void add_node(std::size_t position);
  void change_nodes(const WorkloadEvent& event);
  void put_queue(const SnapshotQueue& queue);
  void finish(const End& end);
  void toggle(const NodeChange& change);
  void lose_pods_on(std::string_view node);
  void count_capacity();
  void compact();

  // --- Plans
  void interrupt(SimulatedJob& job, Work running);
  void start_job(JobIndex index);
  void leave(JobIndex index, const Changes& changes, const Plan& plan);
  void arrive(JobIndex index, const Changes& changes, const Plan& plan);
  void tell_cycle(const FairShares& shares, const Plan& plan, std::optional<std::int64_t> fragmentation);
  void drop_unplaced();
  Work running_work(const SimulatedJob& job) const;
  // Whether the pods of a job that count, by position, meet its minimum. Requires the positions of the last problem.
  bool meets(const SimulatedJob& job, const std::function<bool(std::size_t)>& counts) const;
  bool runs(std::size_t pod) const { return snapshot_.pods[pod].status == PodStatus::kRunning; }
  Work work_of(std::size_t pod) const { return spec_work_[snapshot_.pods[pod].spec]; }
  PodRecord record_of(PodIndex pod, NodeIndex node, const std::vector<std::int32_t>& devices) const;
  std::int32_t priority_of(const GangTerms& terms) const;

  const Workload& workload_;
  SimulationOptions options_;
  Sink sink_;
  Snapshot snapshot_;
  std::optional<Problem> problem_;            // of the last plan, or of the start: what meets a gang's minimum
  std::vector<JobIndex> pod_job_, gang_job_;  // by pod and gang of the snapshot
  std::vector<SimulatedJob> jobs_;
  Indexed<PodSpecIndex, Work> spec_work_;   // thousandths of a GPU
  std::vector<std::size_t> node_identity_;  // by node of the snapshot
  std::vector<NodeState> nodes_;            // by identity
  Earliest<End> ends_;
  Earliest<NodeChange> node_changes_;
  std::size_t next_event_ = 0;
  Nanoseconds now_ = 0, start_ = 0;
  std::optional<Nanoseconds> last_cycle_;
  std::int64_t pending_pods_ = 0, arrived_pods_ = 0;  // arrived since the last cycle
  std::int64_t running_with_end_ = 0, nodes_down_ = 0;
  std::size_t new_jobs_ = 0;  // jobs from here on were submitted after the last cycle
  bool has_changed_ = true;   // since the last plan, or by it
  bool has_left_ = false;     // something went, or room came, since the last plan
  bool any_finished_ = false;
  Work allocated_ = 0, capacity_ = 0;
  SimulationTotals totals_;
};

}  // namespace muster
