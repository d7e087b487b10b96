// A replay of a workload, event by event: arrivals, ends, failures of nodes, and the plans of a scheduler.
//
// This class makes no decisions. `advance` moves the clock to the next instant at which a plan is wanted, `snapshot` is
// what a scheduler sees then, `carry_out` makes the plan happen at that instant. Time is in whole nanoseconds, and
// equal calls give equal records, on every platform.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "datasets/simulation/cycle_trigger.h"
#include "datasets/simulation/job_runs.h"
#include "datasets/simulation/job_table.h"
#include "datasets/simulation/queue_usage.h"
#include "datasets/simulation/records.h"
#include "datasets/simulation/simulated_nodes.h"
#include "datasets/simulation/simulation_log.h"
#include "model/base/error_code.h"
#include "model/objective/fair_share.h"
#include "model/problem/histories.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "model/snapshot/workload.h"

namespace muster::simulation {

class Simulation {
 public:
  using Sink = SimulationSink;

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
  const std::vector<SimulatedJob>& jobs() const { return jobs_.jobs(); }
  const SimulationTotals& totals() const { return log_.totals(); }
  const SimulationOptions& options() const { return options_; }

 private:
  Simulation(const Workload& workload, const SimulationOptions& options, Sink sink);
  void prepare_policy(OverTime& over_time);
  std::optional<InputError> start();

  // --- Time
  CycleTrigger::Instant instant() const;
  bool is_over() const;
  std::optional<Nanoseconds> next_instant() const;
  void move_clock(Nanoseconds time);
  void happen_now();
  void note_finished(const SimulatedJob& job);
  void tell_durations();

  // --- Events
  void happen(const WorkloadEvent& event);
  void submit(const PositionRange& gangs, const PositionRange& pods, std::optional<Nanoseconds> duration);
  void tell_submitted(const SimulatedJob& job);
  void add_node(std::size_t position);
  void change_node(WorkloadEventKind kind, std::string_view name);
  void put_queue(const SnapshotQueue& queue);
  void change_next_node();

  const Workload& workload_;
  SimulationOptions options_;
  Snapshot snapshot_;
  std::optional<Problem> problem_;  // of the last plan, or of the start: what meets a gang's minimum
  SimulationLog log_;
  JobTable jobs_;
  JobRuns runs_;
  SimulatedNodes nodes_;
  CycleTrigger trigger_;
  DurationHistories durations_;
  std::optional<QueueUsage> usage_;  // none: past usage is not kept
  std::size_t next_event_ = 0;
  Nanoseconds now_ = 0;
};

}  // namespace muster::simulation
