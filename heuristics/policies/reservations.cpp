#include "heuristics/policies/reservations.h"

#include <algorithm>
#include <utility>

#include "model/base/require.h"
#include "model/base/saturating.h"

namespace muster::policies {
namespace {

// Gangs of queues that do not exist may run, too.
bool is_below(const Problem& problem, QueueIndex leaf, QueueIndex queue) {
  return !leaf.is_none() &&
         std::ranges::find(problem.queues[leaf].ancestors, queue) != problem.queues[leaf].ancestors.end();
}

}  // namespace

Reservations::Reservations(const Problem& problem, const ClusterState& state, const QueueBounds& bounds)
    : problem_(problem), state_(state), bounds_(bounds), reserved_(problem.nodes.size(), 0) {}

Nanoseconds Reservations::end_of(GangIndex gang) const {
  const GangTimes& times = problem_.gangs[gang].times;
  if (times.expected_end > 0) return times.expected_end;
  return times.expected_duration > 0 ? saturating_add(problem_.snapshot->time, times.expected_duration) : kLargest;
}

std::size_t Reservations::outlasted(GangIndex gang) const {
  const Nanoseconds end = end_of(gang);
  return static_cast<std::size_t>(std::ranges::count_if(heads_, [&](const Head& head) { return head.start < end; }));
}

// --- What is reserved

// Of gangs with present pods, in the order of their ends.
std::vector<Reservations::Holding> Reservations::holdings() const {
  std::vector<Holding> all;
  for (const GangIndex index : problem_.gangs.indices()) {
    Holding holding{index, 0, 0};
    bool is_any = false;
    for (const PodIndex pod : problem_.gangs[index].pods) {
      if (!state_.is_present(pod)) continue;
      is_any = true;
      const QueueAmounts used = queue_usage(problem_.class_of(pod), problem_.class_of(state_.node_of(pod)));
      holding.gpus = saturating_add(holding.gpus, used[kQueueGpu]);
    }
    if (!is_any) continue;
    holding.end = end_of(index);
    all.push_back(holding);
  }
  std::ranges::stable_sort(all, {}, &Holding::end);
  return all;
}

// The pods that the minimum still lacks, those with the most devices first: of a gang without subgroups the smallest,
// else all that wait.
std::vector<PodIndex> Reservations::missing_pods(GangIndex index) const {
  const Gang& gang = problem_.gangs[index];
  std::vector<PodIndex> pods;
  for (const PodIndex pod : gang.pods) {
    if (fit::is_pending(problem_.pods[pod]) && !state_.is_present(pod)) pods.push_back(pod);
  }
  const auto devices = [&](PodIndex pod) { return problem_.class_of(pod).gpu.devices; };
  std::ranges::stable_sort(pods, {}, devices);
  if (const Group& root = problem_.groups[gang.root]; root.is_leaf()) {
    const std::int32_t missing = std::max(0, root.minimum - state_.members(gang.root));
    pods.resize(std::min(pods.size(), static_cast<std::size_t>(missing)));
  }
  std::ranges::reverse(pods);
  return pods;
}

// Of each bounded queue above the head. Less than 0: there is no room for it.
std::vector<Reservations::Spare> Reservations::spares_at(Nanoseconds time, const Head& head,
                                                         const std::vector<Holding>& holdings) const {
  const Gang& gang = problem_.gangs[head.gang];
  std::vector<Spare> spares;
  const auto add = [&](QueueIndex queue, bool of_non_preemptible, Amount bound) {
    if (bound == kNoBound) return;
    const auto counts = [&](GangIndex other) {
      const Gang& that = problem_.gangs[other];
      return !(of_non_preemptible && that.preemptible) && is_below(problem_, that.queue, queue);
    };
    MicroGpu left = bound - head.gpus;
    for (const Holding& holding : holdings) {
      if (holding.end > time && counts(holding.gang)) left = saturating_subtract(left, holding.gpus);
    }
    for (const Head& other : heads_) {
      if (counts(other.gang)) left = saturating_subtract(left, other.gpus);
    }
    spares.push_back({queue, of_non_preemptible, left});
  };
  for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
    add(queue, false, bounds_.usage[queue][kQueueGpu]);
    if (!gang.preemptible) add(queue, true, bounds_.non_preemptible[queue][kQueueGpu]);
  }
  return spares;
}

// Devices of the node on which nothing present is expected to run any more.
std::int32_t Reservations::free_devices(NodeIndex node, Nanoseconds time) const {
  const std::int32_t devices = problem_.class_of(node).device_count;
  if (state_.pods_on(node).empty()) return devices;
  std::vector<bool> is_held(static_cast<std::size_t>(devices), false);
  for (const PodIndex pod : state_.pods_on(node)) {
    if (end_of(problem_.pods[pod].gang) <= time) continue;
    for (const std::int32_t device : state_.place_of(pod).devices) is_held[static_cast<std::size_t>(device)] = true;
  }
  return static_cast<std::int32_t>(std::ranges::count(is_held, false));
}

// The nodes that are filled best, for one pod after the other.
bool Reservations::find_nodes(Nanoseconds time, const std::vector<PodIndex>& pods, std::vector<NodePart>& nodes) const {
  Indexed<NodeIndex, std::int32_t> free(problem_.nodes.size(), 0);
  for (const NodeIndex node : problem_.nodes.indices()) free[node] = free_devices(node, time) - reserved_[node];
  for (const PodIndex pod : pods) {
    const PodClass& pod_class = problem_.class_of(pod);
    if (pod_class.gpu.devices == 0) continue;
    NodeIndex best;
    for (const NodeIndex node : problem_.nodes.indices()) {
      if (free[node] < pod_class.gpu.devices || !fit::node(problem_, pod_class, node)) continue;
      if (best.is_none() || free[node] < free[best]) best = node;
    }
    if (best.is_none()) return false;
    free[best] -= pod_class.gpu.devices;
    nodes.push_back({best, pod_class.gpu.devices});
  }
  return true;
}

bool Reservations::reserve(GangIndex gang) {
  MUSTER_REQUIRE(fit::queue_exists(problem_.gangs[gang]));
  const std::vector<PodIndex> pods = missing_pods(gang);
  Head head{gang, 0, 0, {}, {}};
  for (const PodIndex pod : pods) head.gpus = saturating_add(head.gpus, problem_.class_of(pod).smallest_gpu_usage);
  const std::vector<Holding> holding = holdings();
  const auto fits_at = [&](Nanoseconds time) {
    head.spares = spares_at(time, head, holding);
    head.nodes.clear();
    return std::ranges::all_of(head.spares, [](const Spare& spare) { return spare.gpus >= 0; }) &&
           find_nodes(time, pods, head.nodes);
  };
  const Nanoseconds now = problem_.snapshot->time;
  if (fits_at(now)) return false;
  // What is there only becomes less over time.
  const auto first =
      std::ranges::partition_point(holding, [&](const Holding& one) { return one.end <= now || !fits_at(one.end); });
  if (first == holding.end() || first->end == kLargest) return false;
  head.start = first->end;
  if (!fits_at(head.start)) return false;
  for (const NodePart& part : head.nodes) reserved_[part.node] += part.devices;
  heads_.push_back(std::move(head));
  return true;
}

// --- What others leave of it

// Devices of the node that the heads hold at that time.
std::int32_t Reservations::reserved_by(NodeIndex node, Nanoseconds time) const {
  std::int32_t devices = 0;
  for (const Head& head : heads_) {
    if (head.start > time) continue;
    for (const NodePart& part : head.nodes) devices += part.node == node ? part.devices : 0;
  }
  return devices;
}

bool Reservations::admits(PodIndex pod, NodeIndex node) const {
  const std::int32_t devices = problem_.class_of(pod).gpu.devices;
  if (reserved_[node] == 0 || devices == 0) return true;
  const Nanoseconds end = end_of(problem_.pods[pod].gang);
  return std::ranges::all_of(heads_, [&](const Head& head) {
    const auto is_here = [&](const NodePart& part) { return part.node == node; };
    if (head.start >= end || std::ranges::none_of(head.nodes, is_here)) return true;
    return free_devices(node, head.start) - devices >= reserved_by(node, head.start);
  });
}

bool Reservations::count(GangIndex index, MicroGpu gpus) {
  const Gang& gang = problem_.gangs[index];
  const Nanoseconds end = end_of(index);
  const auto for_each_spare = [&](const auto& visit) {
    for (Head& head : heads_) {
      if (head.start >= end) continue;
      for (Spare& spare : head.spares) {
        if (!(spare.of_non_preemptible && gang.preemptible) && is_below(problem_, gang.queue, spare.queue))
          visit(spare);
      }
    }
  };
  bool is_enough = true;
  for_each_spare([&](const Spare& spare) { is_enough = is_enough && spare.gpus >= gpus; });
  if (is_enough) for_each_spare([&](Spare& spare) { spare.gpus -= gpus; });
  return is_enough;
}

}  // namespace muster::policies
