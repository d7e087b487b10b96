#include "model/referee/empty_nodes.h"

#include <algorithm>
#include <utility>

#include "model/referee/case.h"

namespace muster::referee {
namespace {

// By gang, of those that run; 0 of others.
Indexed<GangIndex, Nanoseconds> ends_of(const Problem& problem, const Forecast& forecast) {
  Indexed<GangIndex, Nanoseconds> ends(problem.gangs.size(), 0);
  for (const GangIndex gang : problem.gangs.indices()) {
    const auto runs = [&problem](PodIndex pod) { return problem.pods[pod].status == PodStatus::kRunning; };
    if (std::ranges::any_of(problem.gangs[gang].pods, runs)) ends[gang] = forecast.end(gang);
  }
  return ends;
}

}  // namespace

EmptyNodes::EmptyNodes(const Snapshot& snapshot, const Problem& problem, const Forecast& forecast,
                       const std::vector<GangIndex>& gangs)
    : snapshot_(snapshot),
      problem_(problem),
      empty_at_(problem.nodes.size(), snapshot.time),
      is_taken_(problem.nodes.size(), 0) {
  for (const GangIndex gang : gangs) needs_.push_back(need_of(gang));
  if (needs_.empty()) return;
  const Indexed<GangIndex, Nanoseconds> ends = ends_of(problem, forecast);
  for (const Pod& pod : problem.pods) {
    const bool is_there = pod.status == PodStatus::kRunning || pod.status == PodStatus::kReleasing;
    if (!is_there || pod.node.is_none()) continue;
    if (problem.pod_classes[pod.pod_class].counts_as_gpu)
      empty_at_[pod.node] = std::max(empty_at_[pod.node], ends[pod.gang]);
  }
}

EmptyNodes::Need EmptyNodes::need_of(GangIndex gang) const {
  Need need;
  std::vector<PodIndex> pending;
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (problem_.pods[pod].status == PodStatus::kPending) pending.push_back(pod);
  }
  const auto devices = [this](PodIndex pod) { return problem_.class_of(pod).gpu.devices; };
  for (const PodIndex pod : pending) need.devices = std::max(need.devices, devices(pod));
  for (const PodIndex pod : pending) {
    need.nodes += 2 * std::int64_t{devices(pod)} > need.devices ? 1 : 0;
    if (devices(pod) == need.devices) need.largest.push_back(problem_.pods[pod].pod_class);
  }
  std::ranges::sort(need.largest);
  need.largest.erase(std::ranges::unique(need.largest).begin(), need.largest.end());
  return need;
}

// What exceeds what they report is gone once they are empty. Whether they are held makes no difference.
std::int64_t EmptyNodes::devices_for(PodClassIndex pod_class, NodeClassIndex node_class) const {
  const std::vector<NodeIndex>& nodes = problem_.node_classes[node_class].nodes;
  if (nodes.empty()) return 0;
  const SnapshotNode& node = snapshot_.nodes[nodes.front().value()];
  const bool lets_in = filter_objection(snapshot_.pod_specs[problem_.pod_classes[pod_class].spec], node).empty();
  return lets_in ? node.gpu_count : 0;
}

bool EmptyNodes::suits(const Need& need, PodClassIndex pod_class, NodeClassIndex node_class) const {
  const std::int64_t devices = devices_for(pod_class, node_class);
  return devices >= need.devices && devices < 2 * std::int64_t{need.devices};
}

bool EmptyNodes::has_larger_node(const Need& need) const {
  return std::ranges::any_of(problem_.node_classes.indices(), [&](NodeClassIndex node_class) {
    return devices_for(need.largest.front(), node_class) >= 2 * std::int64_t{need.devices};
  });
}

// Several pods are the largest, and not all of them may use the same nodes.
bool EmptyNodes::is_ambiguous(const Need& need) const {
  return std::ranges::any_of(problem_.node_classes.indices(), [&](NodeClassIndex node_class) {
    const bool suits_first = suits(need, need.largest.front(), node_class);
    return std::ranges::any_of(
        need.largest, [&](PodClassIndex pod_class) { return suits(need, pod_class, node_class) != suits_first; });
  });
}

std::optional<EmptyNodes::Taken> EmptyNodes::take() {
  const Need& need = needs_[next_++];
  if (need.devices == 0 || need.largest.empty()) return Taken{};
  is_open_ = need.largest.size() > 1 && is_ambiguous(need);
  if (is_open_) return std::nullopt;
  Line& line = line_of(need);
  while (line.next < line.nodes.size() && is_taken_[line.nodes[line.next]] != 0) ++line.next;
  std::vector<NodeIndex> found;
  for (std::size_t at = line.next; at < line.nodes.size() && found.size() < need.nodes; ++at) {
    if (is_taken_[line.nodes[at]] == 0) found.push_back(line.nodes[at]);
  }
  if (found.size() < need.nodes) return has_larger_node(need) ? std::optional(Taken{}) : std::nullopt;
  for (const NodeIndex node : found) is_taken_[node] = 1;
  const Nanoseconds empty_at = empty_at_[found.back()];
  return Taken{empty_at, std::move(found)};
}

EmptyNodes::Line& EmptyNodes::line_of(const Need& need) {
  const auto [at, is_new] = lines_.try_emplace({need.devices, need.largest.front()});
  Line& line = at->second;
  if (!is_new) return line;
  for (const NodeIndex node : problem_.nodes.indices()) {
    if (suits(need, need.largest.front(), problem_.nodes[node].node_class)) line.nodes.push_back(node);
  }
  std::ranges::stable_sort(line.nodes, {}, [this](NodeIndex node) { return empty_at_[node]; });
  return line;
}

}  // namespace muster::referee
