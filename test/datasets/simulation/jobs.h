// Two jobs of a simulation, and their pods in its snapshot.
#pragma once

#include <optional>
#include <string>

#include "datasets/simulation/job_runs.h"
#include "datasets/simulation/job_table.h"
#include "datasets/simulation/simulation_log.h"
#include "test/support/case.h"

namespace muster::simulation {

// Gang g of two pods of a GPU each, of which one suffices, and a pod s of two GPUs, all on node n or pending.
inline Snapshot all_of(const std::string& where) {
  return test::Case::read(
      R"({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":4}}],"gangs":[{"name":"g","minMember":1,"queue":"q"}],)"
      R"("queues":[{"name":"q"},{"name":"default"}],"pods":[{"name":"a","gang":"g","gpu":{"count":1})" +
      where + R"(},{"name":"b","gang":"g","gpu":{"count":1})" + where + R"(},{"name":"s","gpu":{"count":2})" + where +
      "}]}");
}

// The jobs g (0) and s (1).
struct Jobs {
  explicit Jobs(const std::string& where, std::optional<Nanoseconds> duration = std::nullopt, bool resumes_work = false)
      : all(all_of(where)), table(all, now), log({}, 0), runs(table, log, resumes_work) {
    now.nodes = all.nodes;
    now.queues = all.queues;
    now.pod_specs = all.pod_specs;
    now.resource_names = all.resource_names;
    table.add_gang(0, {0, 1}, {7, duration});
    table.add_single(2, {7, duration});
  }

  Snapshot all, now;
  JobTable table;
  SimulationLog log;
  JobRuns runs;
};

inline const std::string kRuns = R"(,"node":"n")";

}  // namespace muster::simulation
