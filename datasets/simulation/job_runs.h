// What becomes of the jobs of a simulation: when they start, are interrupted, end, lose pods, or are dropped.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <string_view>
#include <vector>

#include "datasets/simulation/job_table.h"
#include "datasets/simulation/simulation_log.h"

namespace muster::simulation {

// Runs jobs, each from the instant at which its minimum runs for its duration; an interruption takes back all that was
// done, or only stops it. Keeps the ends of the running ones. Cost: O(log running jobs) for each change, and O(pods) of
// the job.
class JobRuns {
 public:
  // Both outlive the object. `resumes_work`: an interrupted job resumes where it was; else it restarts.
  JobRuns(JobTable& jobs, SimulationLog& log, bool resumes_work)
      : jobs_(jobs), log_(log), resumes_work_(resumes_work) {}
  JobRuns(const JobRuns&) = delete;
  JobRuns& operator=(const JobRuns&) = delete;

  // The minimum of the job runs from now on.
  void start(SimulatedJobIndex job, Nanoseconds now);
  // It does not any more; `running`: the work of its pods that ran until now. Requires a job that runs.
  void interrupt(SimulatedJobIndex job, Work running, Nanoseconds now);

  // The first instant at which a job may end; none: none will. It does not end if it was interrupted.
  std::optional<Nanoseconds> next_end() const;
  bool any_will_end() const { return running_with_end_ > 0; }
  // What next_end() tells happens: the job's pods succeed. False: it was interrupted. Requires such an instant.
  std::optional<SimulatedJobIndex> finish_next(Nanoseconds now);

  // The running pods on a node that fails or goes are pending again. Requires the problem of the last plan, or of the
  // start: later pods come after its own. Cost: O(pods).
  void lose_pods_on(std::string_view node, const Problem& problem, Nanoseconds now);

  // Jobs submitted since the last call of which no pod runs leave. Cost: O(pods) of them.
  void drop_unplaced(Nanoseconds now);

 private:
  struct End {
    Nanoseconds time = 0;
    SimulatedJobIndex job = 0;
    std::uint32_t epoch = 0;
    friend auto operator<=>(const End&, const End&) = default;
  };

  JobTable& jobs_;
  SimulationLog& log_;
  bool resumes_work_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::int64_t running_with_end_ = 0;
  SimulatedJobIndex first_new_ = 0;  // jobs from here on were submitted after the last call of drop_unplaced
};

}  // namespace muster::simulation
