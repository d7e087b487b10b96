#include "model/referee/empty_nodes.h"

#include <algorithm>
#include <tuple>

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
    : problem_(problem), empty_at_(problem.nodes.size(), snapshot.time), is_taken_(problem.nodes.size(), 0) {
  for (const GangIndex gang : gangs) needs_.push_back(need_of(gang));
  if (needs_.empty()) return;
  const Indexed<GangIndex, Nanoseconds> ends = ends_of(problem, forecast);
  for (const Pod& pod : problem.pods) {
    const bool is_there = pod.status == PodStatus::kRunning || pod.status == PodStatus::kReleasing;
    if (!is_there || pod.node.is_none()) continue;
    if (problem.pod_classes[pod.pod_class].counts_as_gpu)
      empty_at_[pod.node] = std::max(empty_at_[pod.node], ends[pod.gang]);
  }
  note_kinds();
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

// By what the nodes of the class report: what exceeds it is gone once they are empty.
bool EmptyNodes::suits(const Need& need, PodClassIndex pod_class, NodeClassIndex node_class) const {
  const NodeClassIndex reported = problem_.node_classes[node_class].reported;
  const std::int64_t devices = problem_.node_classes[reported.is_none() ? node_class : reported].device_count;
  return devices >= need.devices && devices < 2 * std::int64_t{need.devices} &&
         problem_.passes_filters(problem_.pod_classes[pod_class], node_class);
}

void EmptyNodes::note_kinds() {
  std::vector<const Need*> different;
  const auto key = [](const Need* need) { return std::tie(need->devices, need->largest); };
  for (const Need& need : needs_) different.push_back(&need);
  std::ranges::sort(different, {}, key);
  different.erase(std::ranges::unique(different, {}, key).begin(), different.end());
  std::map<Kind, std::size_t> numbers;
  for (const NodeClassIndex node_class : problem_.node_classes.indices()) {
    Kind kind;
    for (const Need* need : different) kind.push_back(suits(*need, need->largest.front(), node_class));
    kinds_.push_back(numbers.try_emplace(std::move(kind), numbers.size()).first->second);
  }
  differ_ = numbers.size() > 1;
}

// Several pods are the largest, and not all of them may use the same nodes.
bool EmptyNodes::is_ambiguous(const Need& need) const {
  return std::ranges::any_of(problem_.node_classes.indices(), [&](NodeClassIndex node_class) {
    const bool suits_first = suits(need, need.largest.front(), node_class);
    return std::ranges::any_of(
        need.largest, [&](PodClassIndex pod_class) { return suits(need, pod_class, node_class) != suits_first; });
  });
}

std::optional<Nanoseconds> EmptyNodes::take() {
  const Need& need = needs_[next_++];
  if (need.devices == 0 || need.largest.empty()) return std::nullopt;
  is_open_ = need.largest.size() > 1 && is_ambiguous(need);
  if (is_open_) return std::nullopt;
  Line& line = line_of(need);
  while (line.next < line.nodes.size() && is_taken_[line.nodes[line.next]] != 0) ++line.next;
  std::size_t after = line.next;
  std::vector<NodeIndex> found;
  for (; after < line.nodes.size() && found.size() < need.nodes; ++after) {
    if (is_taken_[line.nodes[after]] == 0) found.push_back(line.nodes[after]);
  }
  if (found.size() < need.nodes) return std::nullopt;
  is_open_ = differ_ && depends_on_ties(found, std::span(line.nodes).subspan(after));
  for (const NodeIndex node : found) is_taken_[node] = 1;
  return empty_at_[found.back()];
}

// Any of the nodes that are empty at the same time may be the last ones. If one of them is left, it matters which.
bool EmptyNodes::depends_on_ties(std::span<const NodeIndex> found, std::span<const NodeIndex> later) const {
  const NodeIndex last = found.back();
  const auto kind = [this](NodeIndex node) { return kinds_[problem_.nodes[node].node_class]; };
  const auto ties = [&](NodeIndex node) { return empty_at_[node] == empty_at_[last]; };
  bool is_left = false, is_another = false;
  for (const NodeIndex node : later) {
    if (!ties(node)) break;
    if (is_taken_[node] != 0) continue;
    is_left = true;
    is_another = is_another || kind(node) != kind(last);
  }
  for (auto node = found.rbegin(); is_left && node != found.rend() && ties(*node); ++node)
    is_another = is_another || kind(*node) != kind(last);
  return is_left && is_another;
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
