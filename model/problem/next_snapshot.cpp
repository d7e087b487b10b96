#include "model/problem/next_snapshot.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/problem/gang_tree.h"
#include "model/snapshot/filters.h"

namespace muster {

void make_pending_again(SnapshotPod& pod, Nanoseconds now) {
  pod.status = PodStatus::kPending;
  pod.node = {};
  pod.devices.clear();
  pod.started.reset();
  pod.nominated_node = {};
  if (!pod.gang.empty()) pod.created = now;
}

namespace {

void start(SnapshotPod& pod, const Placement& placement, std::string_view node, Nanoseconds now) {
  pod.status = PodStatus::kRunning;
  pod.node = node;
  pod.devices = placement.devices;
  pod.started = now;
  pod.nominated_node = {};
}

// If the age of a gang, or of a pod that is a gang by itself, is not given, it dates from the first snapshot that
// showed it.
void keep_age(Snapshot& snapshot, Nanoseconds then) {
  for (SnapshotGang& gang : snapshot.gangs) {
    if (!gang.terms.created) gang.terms.created = then;
  }
  for (SnapshotPod& pod : snapshot.pods) {
    if (pod.gang.empty() && !pod.created) pod.created = then;  // counts if the pod's own terms do not set it
  }
}

// Which gangs run below their minimum, and since when. Pods are still in the order of the problem.
void tell_staleness(Snapshot& snapshot, const Problem& problem, Nanoseconds then) {
  const auto runs = [&](PodIndex pod) { return snapshot.pods[pod.value()].status == PodStatus::kRunning; };
  const auto counts = [&](PodIndex pod) {
    return runs(pod) || snapshot.pods[pod.value()].status == PodStatus::kSucceeded;
  };
  for (std::size_t position = 0; position < snapshot.gangs.size(); ++position) {
    SnapshotGang& source = snapshot.gangs[position];
    const Gang& gang = problem.gangs[GangIndex(position)];
    const bool is_below = std::ranges::any_of(gang.pods, runs) && !meets_minimum(problem, gang, counts);
    if (!is_below) {
      source.stale_since.reset();
    } else if (!source.stale_since) {
      source.stale_since = then;
    }
  }
}

// A budget allows one more eviction for each of its pods that has started, and one fewer for each that is gone.
void count_in_budgets(Snapshot& snapshot, const SnapshotPod& pod, std::int64_t change) {
  for (SnapshotDisruptionBudget& budget : snapshot.disruption_budgets) {
    const bool is_selected =
        budget.selector && budget.namespace_name == pod.namespace_name && matches(*budget.selector, pod.labels);
    if (is_selected) budget.allowed += change;
  }
}

}  // namespace

Snapshot next_snapshot(Snapshot snapshot, const Problem& problem, const Plan& plan, Nanoseconds later) {
  MUSTER_REQUIRE(snapshot.pods.size() == problem.pods.size() && snapshot.nodes.size() == problem.nodes.size());
  MUSTER_REQUIRE(later >= 0);
  const Nanoseconds then = snapshot.time;
  snapshot.time = saturating_add(then, later);
  keep_age(snapshot, then);
  for (const Eviction& eviction : plan.evictions) {
    make_pending_again(snapshot.pods[eviction.pod.value()], snapshot.time);
    count_in_budgets(snapshot, snapshot.pods[eviction.pod.value()], -1);
  }
  for (const Placement& placement : plan.placements) {
    start(snapshot.pods[placement.pod.value()], placement, snapshot.nodes[placement.node.value()].name, snapshot.time);
    count_in_budgets(snapshot, snapshot.pods[placement.pod.value()], 1);
  }
  tell_staleness(snapshot, problem, then);
  snapshot.pods.erase_if([](const SnapshotPod& pod) { return pod.status == PodStatus::kReleasing; });
  return snapshot;
}

EndState end_state_of(const Problem& problem, const Plan& plan) {
  EndState state{Indexed<PodIndex, NodeIndex>(problem.pods.size())};
  for (const PodIndex pod : problem.pods.indices()) {
    if (problem.pods[pod].status == PodStatus::kRunning) state.node_of[pod] = problem.pods[pod].node;
  }
  for (const Eviction& eviction : plan.evictions) state.node_of[eviction.pod] = NodeIndex::none();
  for (const Placement& placement : plan.placements) state.node_of[placement.pod] = placement.node;
  return state;
}

bool is_placed(const Plan& plan, PodIndex pod) {
  MUSTER_REQUIRE_SLOW(std::ranges::is_sorted(plan.placements, {}, &Placement::pod));
  return std::ranges::binary_search(plan.placements, pod, {}, &Placement::pod);
}

bool is_evicted(const Plan& plan, PodIndex pod) {
  MUSTER_REQUIRE_SLOW(std::ranges::is_sorted(plan.evictions, {}, &Eviction::pod));
  return std::ranges::binary_search(plan.evictions, pod, {}, &Eviction::pod);
}

}  // namespace muster
