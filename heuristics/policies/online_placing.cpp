#include "heuristics/policies/online_placing.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <tuple>
#include <utility>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/plan_of.h"

namespace muster::policies {

namespace {

// What a pod of the class asks of one device of such a node, in thousandths of it, rounded up.
std::int32_t share_on(const PodClass& pod_class, const NodeClass& node_class) {
  if (pod_class.gpu.kind == GpuRequestKind::kNone) return 0;
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) return kWholeDevice;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction)
    return static_cast<std::int32_t>((pod_class.gpu.share + 999) / 1000);
  const std::int64_t mib = node_class.device_memory_mib;
  return mib == 0 ? kWholeDevice : static_cast<std::int32_t>((pod_class.gpu.share * kWholeDevice + mib - 1) / mib);
}

OnlineAsk ask_of(const PodClass& pod_class, const NodeClass& node_class) {
  return {pod_class.request[kCpu.value()], pod_class.request[kMemory.value()], pod_class.gpu.devices,
          share_on(pod_class, node_class)};
}

// A node whose memory is unknown cannot take a memory request; any node with known memory represents the share of a
// typical pod.
const NodeClass& usual_node_class(const Problem& problem, const PodClass& pod_class) {
  for (const NodeClassIndex i : problem.node_classes.indices()) {
    if (pod_class.allowed[i.value()] && problem.node_classes[i].device_memory_mib > 0) return problem.node_classes[i];
  }
  return problem.node_classes[NodeClassIndex{0}];
}

OnlinePolicy::Cluster cluster_of(const Problem& problem) {
  OnlinePolicy::Cluster cluster;
  cluster.node_types = problem.node_classes.size();
  for (const NodeClass& node_class : problem.node_classes) {
    cluster.largest_cpu = std::max(cluster.largest_cpu, node_class.capacity[kCpu.value()]);
    cluster.largest_devices = std::max(cluster.largest_devices, node_class.device_count);
  }
  if (problem.node_classes.empty()) return cluster;
  const auto add = [&](const PodClass& pod_class, double count) {
    if (count > 0)
      cluster.workload.push_back({ask_of(pod_class, usual_node_class(problem, pod_class)), count, pod_class.allowed});
  };
  if (problem.snapshot->policy.expected_workload) {
    for (const ExpectedClass& expected : problem.objective.expected_workload)
      add(problem.pod_classes[expected.pod_class], static_cast<double>(expected.weight_millionths));
    return cluster;
  }
  Indexed<PodClassIndex, double> counts(problem.pod_classes.size());
  for (const Pod& pod : problem.pods) counts[pod.pod_class] += 1;
  for (const PodClassIndex i : problem.pod_classes.indices()) add(problem.pod_classes[i], counts[i]);
  return cluster;
}

// Nodes by the scores of a policy, kept for each class of pods until the node changes.
class PolicyChooser : public placement::NodeChooser {
 public:
  PolicyChooser(const ClusterState& state, const QueueBounds& bounds, const OnlinePolicy& policy, std::uint64_t seed)
      : placement::NodeChooser(state, bounds, placement::NodeRule::kBestFit),
        problem_(state.problem()),
        state_(state),
        bounds_(bounds),
        policy_(policy),
        scores_(problem_.pod_classes.size()),
        all_nodes_(problem_.nodes.size()),
        rank_(problem_.nodes.size()) {
    for (std::size_t i = 0; i < all_nodes_.size(); ++i) all_nodes_[i] = NodeIndex{static_cast<std::uint32_t>(i)};
    std::vector<NodeIndex> shuffled = all_nodes_;
    std::mt19937_64 random(seed);  // its output is the same everywhere
    for (std::size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[random() % i]);
    for (std::size_t i = 0; i < shuffled.size(); ++i) rank_[shuffled[i]] = static_cast<std::uint32_t>(i);
  }

  NodeIndex choose(PodIndex pod, std::span<const NodeIndex> among) override {
    const PodClassIndex pod_class = problem_.pods[pod].pod_class;
    std::vector<Scored>& scores = scores_[pod_class];
    scores.resize(problem_.nodes.size());
    NodeIndex best = NodeIndex::none();
    std::int64_t best_score = kNoFit;
    for (const NodeIndex node : among.empty() ? std::span<const NodeIndex>(all_nodes_) : among) {
      Scored& scored = scores[node.value()];
      if (scored.seen != state_.version(node) + 1) scored = look_at(pod_class, node);
      const bool is_better =
          scored.score > best_score || (scored.score == best_score && !best.is_none() && rank_[node] < rank_[best]);
      if (!is_better || !can_place(state_, bounds_, pod, node)) continue;
      best = node;
      best_score = scored.score;
    }
    return best;
  }

  DeviceList devices_for(PodIndex pod, NodeIndex node) const override {
    const PodClass& pod_class = problem_.class_of(pod);
    const std::int32_t device = scores_[problem_.pods[pod].pod_class][node.value()].device;
    if (device < 0) return *choose_devices(room_of(state_, node), problem_, pod_class, node);
    return {device};
  }

 private:
  static constexpr std::int64_t kNoFit = -1;
  struct Scored {
    std::uint32_t seen = 0;  // version of the node + 1
    std::int64_t score = kNoFit;
    std::int32_t device = -1;
  };

  Scored look_at(PodClassIndex class_index, NodeIndex node) {
    Scored scored{state_.version(node) + 1, kNoFit, -1};
    const PodClass& pod_class = problem_.pod_classes[class_index];
    const Room room = room_of(state_, node);
    if (!fit::node(problem_, pod_class, node) || !fit::capacity(room, pod_class) ||
        !fit::devices(room, problem_, pod_class, node))
      return scored;
    const NodeClass& node_class = problem_.class_of(node);
    levels_.clear();
    for (const DeviceUnits free : room.devices)
      levels_.push_back(static_cast<std::int32_t>(free * kWholeDevice / problem_.device_capacity(node)));
    OnlineNode view;
    view.cpu_free = room.free[kCpu.value()];
    view.cpu_total = node_class.capacity[kCpu.value()];
    view.memory_free = room.free[kMemory.value()];
    view.memory_total = node_class.capacity[kMemory.value()];
    view.type = problem_.nodes[node].node_class.value();
    view.devices = levels_;
    const OnlineScore result = policy_.score(ask_of(pod_class, node_class), view);
    scored.score = result.score;
    scored.device = result.device;
    return scored;
  }

  const Problem& problem_;
  const ClusterState& state_;
  const QueueBounds& bounds_;
  const OnlinePolicy& policy_;
  Indexed<PodClassIndex, std::vector<Scored>> scores_;
  std::vector<NodeIndex> all_nodes_;
  Indexed<NodeIndex, std::uint32_t> rank_;  // among nodes of equal score the lowest is taken
  std::vector<std::int32_t> levels_;
};

std::vector<GangIndex> queue_order(const Problem& problem) {
  std::vector<GangIndex> order;
  for (const GangIndex gang : problem.gangs.indices()) order.push_back(gang);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](GangIndex gang) {
    return std::tuple(problem.gangs[gang].priority, problem.gangs[gang].times.seniority);
  });
  return order;
}

void place_in_order(const OneByOneOptions& options, const OnlinePolicy& policy, const std::vector<GangIndex>& order,
                    ClusterState& state) {
  const QueueBounds bounds = queue_bounds(state.problem(), state);
  PolicyChooser chooser(state, bounds, policy, options.seed);
  placement::GangPlacer placer(state, bounds, chooser, placement::PodOrder::kAsGiven);
  for (const GangIndex gang : order) {
    if (options.stop && options.stop()) return;
    if (!placer.may_place(gang) || !fit::min_resources(state, gang) || !placer.place_minimum(gang)) continue;
    while (placer.place_one_more(gang)) {
    }
  }
}

}  // namespace

Plan solve_one_by_one(const Problem& problem, const OneByOneOptions& options) {
  const OnlinePolicy policy(options.policy, cluster_of(problem));
  std::vector<GangIndex> order = options.order.empty() ? queue_order(problem) : options.order;
  std::vector<PlannedEviction> evictions;
  const bool must_leave = problem.snapshot->policy.actions.stale;
  for (;;) {
    ClusterState state(problem, ClusterState::Releasing::kHeld);
    for (const PlannedEviction& eviction : evictions) state.take(eviction.pod);
    place_in_order(options, policy, order, state);
    const std::size_t before = evictions.size();
    for (const GangIndex gang : problem.gangs.indices()) {
      if (!must_leave || !problem.gangs[gang].stale || is_satisfied(state, gang)) continue;
      for (const PodIndex pod : problem.gangs[gang].pods) {
        const bool runs = problem.pods[pod].status == PodStatus::kRunning && state.is_present(pod);
        if (runs) evictions.push_back({pod, EvictionReason::kStale, GangIndex::none()});
      }
      std::erase(order, gang);
    }
    if (evictions.size() == before) return plan_of(problem, state, evictions);
  }
}

}  // namespace muster::policies
