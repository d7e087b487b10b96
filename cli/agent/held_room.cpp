#include "cli/agent/held_room.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace muster::cli {
namespace {

std::string_view gang_of(const SnapshotPod& pod) { return pod.gang.empty() ? pod.name : pod.gang; }

using Claims = std::map<std::string_view, std::set<std::string_view>>;  // nodes by gang

Claims claims_of(const Snapshot& snapshot, const std::vector<std::string>& schedulers) {
  Claims claims;
  for (const SnapshotPod& pod : snapshot.pods) {
    if (pod.status != PodStatus::kPending || pod.nominated_node.empty()) continue;
    if (!schedulers.empty() && std::ranges::find(schedulers, scheduler_of(pod)) == schedulers.end()) continue;
    claims[gang_of(pod)].insert(pod.nominated_node);
  }
  return claims;
}

std::unordered_set<std::string_view> nodes_that_are_left(const Snapshot& snapshot) {
  std::unordered_set<std::string_view> nodes;
  for (const SnapshotPod& pod : snapshot.pods) {
    if (pod.status == PodStatus::kReleasing) nodes.insert(pod.node);
  }
  return nodes;
}

}  // namespace

void HeldRoom::hold(Snapshot& snapshot, const std::vector<std::string>& schedulers, Nanoseconds now) {
  Claims claims = claims_of(snapshot, schedulers);
  std::erase_if(since_, [&](const auto& entry) { return !claims.contains(entry.first); });
  if (claims.empty()) return;
  const auto left = nodes_that_are_left(snapshot);
  std::erase_if(claims, [&](const auto& claim) {
    const auto since = since_.emplace(claim.first, mode_ == ApplyMode::kExtender ? now - kMostWait - 1 : now).first;
    if (std::ranges::any_of(claim.second, [&](std::string_view node) { return left.contains(node); }))
      since->second = now;
    return now - since->second > kMostWait;
  });
  std::unordered_set<std::string_view> held;
  for (const auto& [gang, nodes] : claims) held.insert(nodes.begin(), nodes.end());
  for (SnapshotNode& node : snapshot.nodes) {
    if (held.contains(node.name)) node.taints.push_back({kTaint, node.name, TaintEffect::kNoSchedule});
  }
  std::map<std::pair<std::string_view, PodSpecIndex>, PodSpecIndex> specs;
  for (SnapshotPod& pod : snapshot.pods) {
    const auto claim = claims.find(gang_of(pod));
    if (claim == claims.end()) continue;
    const auto [at, is_new] = specs.emplace(std::pair(claim->first, pod.spec), pod.spec);
    if (is_new) {
      PodSpec spec = snapshot.pod_specs[pod.spec];
      for (const std::string_view node : claim->second)
        spec.tolerations.push_back({kTaint, node, false, TaintEffect::kNoSchedule});
      at->second = snapshot.pod_specs.push_back(std::move(spec));
    }
    pod.spec = at->second;
  }
}

}  // namespace muster::cli
