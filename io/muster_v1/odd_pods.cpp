#include "io/muster_v1/odd_pods.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace muster::muster_v1 {

namespace {

bool equal(const GangTerms& a, const GangTerms& b) {
  return a.queue == b.queue && a.priority_class == b.priority_class && a.priority == b.priority &&
         a.preemptible == b.preemptible && a.preemption_policy == b.preemption_policy && a.created == b.created &&
         a.timeout == b.timeout && a.expected_duration == b.expected_duration && a.expected_end == b.expected_end &&
         a.checkpointed == b.checkpointed && !(a.weight < b.weight) && !(a.weight > b.weight);
}

// Makes the pod's own gang non-preemptible: for a pod that names no gang.
void forbid_eviction(SnapshotInput& in, SnapshotPod& pod) {
  std::vector<GangTerms>& all = in.snapshot.own_gang_terms;
  GangTerms terms = pod.own_gang < 0 ? GangTerms{} : all[static_cast<std::size_t>(pod.own_gang)];
  terms.preemptible = false;
  all.push_back(terms);
  pod.own_gang = static_cast<std::int32_t>(all.size() - 1);
}

}  // namespace

void keep_own_terms(SnapshotInput& in, GangTerms terms, SnapshotPod& pod) {
  terms.created = pod.created;
  std::vector<GangTerms>& all = in.snapshot.own_gang_terms;
  if (all.empty() || !equal(all.back(), terms)) all.push_back(terms);
  pod.own_gang = static_cast<std::int32_t>(all.size() - 1);
}

void hold_pod(SnapshotInput& in, SnapshotPod& pod, const std::string& wrong) {
  if (pod.status == PodStatus::kPending && pod.node.empty()) pod.status = PodStatus::kGated;
  std::string why(pod.notes.held.empty() ? "it is not understood" : pod.notes.held);
  why += ": ";
  if (!pod.gang.empty()) why.append("pod ").append(pod.name).append(": ");
  if (pod.status == PodStatus::kGated) pod.notes.held = in.keep(why + wrong);
  if (pod.gang.empty()) return forbid_eviction(in, pod);
  in.snapshot.anomalies.held_gangs.push_back(pod.gang);
}

void close_node_of(SnapshotInput& in, const SnapshotPod& pod) {
  const auto node = std::ranges::find(in.snapshot.nodes, pod.node, &SnapshotNode::name);
  if (node != in.snapshot.nodes.end()) node->unschedulable = true;
}

}  // namespace muster::muster_v1
