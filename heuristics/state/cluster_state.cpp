#include "heuristics/state/cluster_state.h"

#include <algorithm>
#include <iterator>

#include "model/base/parallel.h"

namespace muster {

namespace {

bool holds_room(const Pod& pod, ClusterState::Releasing releasing) {
  if (pod.status == PodStatus::kRunning) return true;
  return pod.status == PodStatus::kReleasing && releasing == ClusterState::Releasing::kHeld && !pod.node.is_none();
}

}  // namespace

Place snapshot_place(const Problem& problem, PodIndex pod) {
  const auto devices = problem.devices_of(pod);
  return {problem.pods[pod].node, devices};
}

bool is_home(const ClusterState& state, PodIndex pod) {
  const Problem& problem = state.problem();
  return state.is_at(pod, problem.pods[pod].node, problem.devices_of(pod));
}

ClusterState::ClusterState(const Problem& problem, Releasing releasing, int threads)
    : problem_(&problem),
      nodes_(problem),
      places_(problem.pods.size()),
      gangs_(problem),
      queues_(problem),
      inter_pod_(problem),
      preferred_terms_(problem),
      budgets_(problem.disruption_budgets) {
  // Counts by gang, queue and domain are one task; the nodes are divided among the others. Sets of devices that have no
  // bits are in a table that all nodes share.
  const bool has_tables =
      std::ranges::any_of(problem.node_classes, [](const NodeClass& c) { return c.device_count > DeviceSets::kBits; });
  const std::size_t ranges = has_tables ? 1 : ranges_for(2 * problem.pods.size(), threads);
  parallel_for(1 + ranges, has_tables ? 1 : threads, [&](std::size_t task) {
    if (task == 0) {
      begin_counts(releasing);
    } else {
      begin_nodes(range_of<NodeIndex>(problem.nodes.size(), task - 1, ranges), releasing);
    }
  });
  nodes_.begin_sums();
}

// The contribution of the snapshot's pods to their gangs and queues, and to the rules between pods.
void ClusterState::begin_counts(Releasing releasing) {
  for (const PodIndex pod : problem_->pods.indices()) {
    const Pod& p = problem_->pods[pod];
    if (!holds_room(p, releasing)) continue;
    const PodClass& pod_class = problem_->class_of(pod);
    anti_affinity_.count(*problem_, pod_class, p.node, 1);
    if (p.status != PodStatus::kRunning) continue;
    queues_.count(problem_->gangs[p.gang], pod_class, p.node, 1);
    gangs_.count(p, 1);
    inter_pod_.count(*problem_, pod_class, p.node, true);
    preferred_terms_.count(pod_class, p.node, 0, true);
  }
}

// Their contribution to these nodes. A releasing pod holds resources but is not present: its usage is gone and its gang
// does not count it.
void ClusterState::begin_nodes(const IndexRange<NodeIndex>& nodes, Releasing releasing) {
  constexpr std::size_t kAhead = 12;
  const std::vector<Pod>& pods = problem_->pods.raw();
  const auto is_here = [&](NodeIndex node) { return *nodes.begin() <= node && node < *nodes.end(); };  // not of none
  for (const PodIndex pod : problem_->pods.indices()) {
    const Pod& p = pods[pod.value()];
    const std::size_t soon = pod.value() + kAhead, later = soon + kAhead;
    if (later < pods.size() && is_here(pods[later].node)) nodes_.fetch(pods[later].node);
    if (soon < pods.size() && is_here(pods[soon].node)) nodes_.fetch_devices(pods[soon].node);
    if (!is_here(p.node) || !holds_room(p, releasing)) continue;
    const CompactPlace place{p.node, device_sets_.set_of(problem_->devices_of(pod))};
    nodes_.fill(problem_->class_of(pod), place, device_sets_, 1);
    if (p.status != PodStatus::kRunning) continue;
    nodes_.add(pod, p.node);
    places_[pod] = place;
  }
}

void ClusterState::put(PodIndex pod, NodeIndex node, const DeviceList& devices) {
  MUSTER_REQUIRE_SLOW(!is_present(pod));
  log_.push_back({pod, {node, device_sets_.set_of(devices)}, true});
  apply(pod, log_.back().place, true);
}

void ClusterState::take(PodIndex pod) {
  MUSTER_REQUIRE_SLOW(is_present(pod));
  log_.push_back({pod, places_[pod], false});
  apply(pod, log_.back().place, false);
  if (problem_->class_of(pod).has_ordered_rules()) ++inter_pod_taken_;
}

void ClusterState::rollback(Checkpoint checkpoint) {
  while (log_.size() > checkpoint) {
    const Change change = log_.back();
    log_.pop_back();
    apply(change.pod, change.place, !change.put);
    if (!change.put && problem_->class_of(change.pod).has_ordered_rules()) --inter_pod_taken_;
  }
}

void ClusterState::apply(PodIndex pod, const CompactPlace& place, bool put) {
  const Pod& p = problem_->pods[pod];
  const PodClass& pod_class = problem_->class_of(pod);
  const std::int32_t by = put ? 1 : -1;
  const bool runs = p.status == PodStatus::kRunning;
  // A pod that is placed elsewhere than in the snapshot, for example on other devices of its node, has left home.
  const auto is_home = [&] {
    return runs && place.node == p.node && device_sets_.is_equal(place.devices, problem_->devices_of(pod));
  };
  nodes_.count(pod_class, place, device_sets_, by);
  anti_affinity_.count(*problem_, pod_class, place.node, by);
  if (problem_->has_ordered_rules()) inter_pod_.count(*problem_, pod_class, place.node, put);
  if (!problem_->inter_pod.preferred_terms.empty())
    preferred_terms_.count(pod_class, place.node, is_home() ? 0 : p.weighted_work, put);
  queues_.count(problem_->gangs[p.gang], pod_class, place.node, by);
  gangs_.count(p, by);
  if (put) {
    nodes_.add(pod, place.node);
    places_[pod] = place;
  } else {
    nodes_.remove(pod, place.node);
    places_[pod].node = NodeIndex::none();
  }
  if (runs && !budgets_.empty()) {
    const auto budgets = problem_->disruption_budgets.of(pod);
    if (!budgets.empty() && is_home()) budgets_.count(budgets, by);
  }
  changes_.note(p, place.node);
}

bool ClusterState::budgets_allow(std::span<const PodIndex> pods) const {
  if (budgets_.empty()) return true;
  const auto is_at_home = [&](PodIndex pod) {
    return problem_->pods[pod].status == PodStatus::kRunning && is_home(*this, pod);
  };
  if (std::ranges::all_of(pods, is_at_home)) return problem_->disruption_budgets.allow(pods, budgets_.left());
  std::vector<PodIndex> leaving;
  std::ranges::copy_if(pods, std::back_inserter(leaving), is_at_home);
  return leaving.empty() || problem_->disruption_budgets.allow(leaving, budgets_.left());
}

}  // namespace muster
