#include "model/build/build_problem.h"

#include <memory>
#include <utility>

#include "model/build/repair_snapshot.h"
#include "model/build/stages.h"
#include "model/problem/exceeded.h"
#include "model/problem/problem.h"

namespace muster {

std::string path_to(std::string_view list, std::size_t position, std::string_view key) {
  std::string path = "$.";
  path.append(list).append("[").append(std::to_string(position)).append("]");
  if (!key.empty()) path.append(".").append(key);
  return path;
}

InputError name_error(ErrorCode code, std::string path, std::string_view what, std::string_view name) {
  std::string message(what);
  message.append(" \"").append(name).append("\"");
  return {code, std::move(path), std::move(message)};
}

namespace {

// Whether the links are of these pods and gangs, and replace a search for names that occur twice.
bool hold_for(const SnapshotLinks& links, const Snapshot& snapshot) {
  return links.names_differ && links.pods.size() == snapshot.pods.size() && links.gang_count == snapshot.gangs.size();
}

Result<Problem> build_as_it_is(Snapshot& snapshot, int threads) {
  const std::shared_ptr<const SnapshotLinks> links = std::exchange(snapshot.links, nullptr);
  ProblemDraft draft{.snapshot = snapshot,
                     .threads = threads,
                     .links = nullptr,
                     .problem = {},
                     .queues = {},
                     .priority_classes = {},
                     .nodes = {},
                     .gangs = {},
                     .subgroups = {},
                     .models = {},
                     .device_kinds = device_kinds(snapshot),
                     .is_own_gang = {},
                     .host_ports = {}};
  draft.problem.snapshot = &snapshot;
  leave_out_foreign_pods(snapshot);
  if (links && hold_for(*links, snapshot)) draft.links = links.get();
  if (!device_count_resource(draft.problem).is_none()) snapshot.resource_names.raw().pop_back();  // built before
  draft.problem.resource_count = snapshot.resource_names.size();
  for (const auto stage : {build_queues, build_nodes, build_gangs, build_pods}) {
    if (Failure failure = stage(draft)) return *std::move(failure);
  }
  resolve_gangs(draft);
  if (Failure failure = build_host_ports(draft)) return *std::move(failure);
  if (Failure failure = build_disruption_budgets(draft)) return *std::move(failure);
  build_pod_classes(draft, build_pod_terms(draft));
  if (Failure failure = assign_running_devices(draft)) return *std::move(failure);
  build_work(draft);
  count_kept_minimums(draft);
  build_expected_workload(draft);
  build_over_time(draft);
  build_expected_there(draft);
  tell_uncounted_quotas(snapshot);
  return std::move(draft.problem);
}

}  // namespace

Result<Problem> build_problem(Snapshot& snapshot, int threads) {
  Result<Problem> problem = build_as_it_is(snapshot, threads);
  if (problem || snapshot.anomalies.strict) return problem;
  repair_snapshot(snapshot);
  return build_as_it_is(snapshot, threads);
}

}  // namespace muster
