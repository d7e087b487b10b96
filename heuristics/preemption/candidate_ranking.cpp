#include "heuristics/preemption/candidate_ranking.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::preemption {

namespace {

// What a pod of the class takes: of devices, or of cpu.
Amount amount_of(const PodClass& pod_class, const NodeClass& node_class, bool by_device) {
  if (!by_device) return pod_class.request[kCpu.value()];
  return pod_class.gpu.devices > 0 ? pod_class.gpu.devices * share_units(pod_class, node_class) : 0;
}

}  // namespace

CandidateOrder::CandidateOrder(const PreemptionInputs& inputs, const Claim& claim, VictimEligibility& eligibility,
                               const LeastLosses& losses)
    : problem_(inputs.problem),
      state_(inputs.state),
      rules_(inputs.rules),
      claim_(claim),
      eligibility_(eligibility),
      losses_(losses) {}

std::vector<NodeIndex> CandidateOrder::by_promise(PodIndex pod, std::span<const NodeIndex> nodes) {
  MUSTER_REQUIRE(claim_.evicts());
  find_leaving_sums();
  const PodClass& pod_class = problem_.class_of(pod);
  std::vector<std::tuple<Amount, Amount, std::size_t, NodeIndex>> ranked;
  const auto rank = [&](NodeIndex node) {
    if (!fit::node(problem_, pod_class, node)) return;
    const Amount lacking = lacking_on(pod_class, node), leaving = leaving_on(pod_class, node);
    const Amount stuck = std::max<Amount>(0, lacking - leaving);
    const std::size_t pods = state_.pods_on(node).size();
    switch (claim_.stage) {
      case ClaimStage::kPlain:
        ranked.emplace_back(stuck, lacking, pods, node);
        break;
      case ClaimStage::kDisplacing:
        ranked.emplace_back(lacking, stuck, pods, node);
        break;
      case ClaimStage::kPlacingDisplaced:
        if (stuck == 0) ranked.emplace_back(leaving - lacking, lacking, pods, node);
        break;
    }
  };
  if (nodes.empty()) {
    for (const NodeIndex node : problem_.nodes.indices()) rank(node);
  } else {
    std::ranges::for_each(nodes, rank);
  }
  std::ranges::sort(ranked);
  std::vector<NodeIndex> order;
  for (const auto& entry : ranked) order.push_back(std::get<NodeIndex>(entry));
  return order;
}

Work CandidateOrder::least_moved(PodIndex pod, NodeIndex node) {
  const PodClass& pod_class = problem_.class_of(pod);
  if (pod_class.gpu.devices == 0 || std::ssize(state_.free_devices(node)) < pod_class.gpu.devices) return 0;
  if (std::exchange(least_moved_of_, problem_.pods[pod].pod_class) != problem_.pods[pod].pod_class)
    least_moved_.assign(problem_.nodes.size(), {});
  LeastMoved& known = least_moved_[node];
  if (known.is_known && known.node_version == state_.version(node)) return known.work;
  const auto lacking = static_cast<double>(lacking_on(pod_class, node));
  const double thousandths = 1e3 * lacking / static_cast<double>(problem_.device_capacity(node));
  // Less by a margin for rounding: it must stay a lower bound.
  known = {true, state_.version(node),
           static_cast<Work>(std::max(0.0, thousandths * rules_.survey().least_weight - 1e-3))};
  return known.work;
}

// What a pod of the class lacks on the node: on the devices that lack least, or of cpu if it asks for no device.
Amount CandidateOrder::lacking_on(const PodClass& pod_class, NodeIndex node) {
  if (pod_class.gpu.devices == 0)
    return std::max<Amount>(0, pod_class.request[kCpu.value()] - state_.free(node)[kCpu.value()]);
  const DeviceUnits need = share_units(pod_class, problem_.class_of(node));
  std::vector<DeviceUnits>& lacking = lacking_;
  lacking.clear();
  for (const DeviceUnits units : state_.free_devices(node)) lacking.push_back(std::max<DeviceUnits>(0, need - units));
  const auto devices = std::min<std::ptrdiff_t>(std::ssize(lacking), pod_class.gpu.devices);
  if (devices == 0) return 0;
  std::ranges::nth_element(lacking, lacking.begin() + devices - 1);
  return std::accumulate(lacking.begin(), lacking.begin() + devices, DeviceUnits{0});
}

// In the same unit, what the pods hold on the node whose eviction costs least.
Amount CandidateOrder::leaving_on(const PodClass& pod_class, NodeIndex node) {
  LeavingSums& known = (*leaving_now_)[node];
  if (known.node_version != state_.version(node)) {
    known = {state_.version(node), 0, 0};
    for (const PodIndex pod : state_.pods_on(node)) {
      const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
      const bool is_least = losses_.contains(gang.queue, gang.priority);
      if (!is_least || fit::is_pending(problem_.pods[pod]) || !eligibility_.may_evict_at_first(pod)) continue;
      known.devices += amount_of(problem_.class_of(pod), problem_.class_of(node), true);
      known.cpu += amount_of(problem_.class_of(pod), problem_.class_of(node), false);
    }
  }
  return pod_class.gpu.devices > 0 ? known.devices : known.cpu;
}

// The sums of claims with the same least-loss victims: few nodes have changed since the last of them.
void CandidateOrder::find_leaving_sums() {
  const Gang& claimant = problem_.gangs[claim_.claimant];
  std::vector<std::int64_t> deciding{
      static_cast<std::int64_t>(claim_.mode),
      claimant.queue.value(),
      claimant.priority,
      static_cast<std::int64_t>(claimant.preemption_policy),
      eligibility_.is_claimant_new() ? -1 : static_cast<std::int64_t>(claim_.claimant.value()),
      claim_.exchange ? claim_.exchange->most_seconds : -1};
  for (const auto& [queue, priority] : losses_.of_queues()) {
    const auto runs = std::ranges::find(rules_.survey().runs_in, queue, &std::pair<QueueIndex, GangIndex>::first);
    const bool may_go = claim_.mode != PreemptionMode::kReclaim || claim_.exchange ||
                        (runs != rules_.survey().runs_in.end() && eligibility_.may_reclaim(runs->second));
    deciding.insert(deciding.end(), {queue.value(), priority, may_go});
  }
  if (leaving_sums_.size() == kTuning.heuristics.kept && !leaving_sums_.contains(deciding)) leaving_sums_.clear();
  leaving_now_ = &leaving_sums_.try_emplace(std::move(deciding), problem_.nodes.size()).first->second;
}

}  // namespace muster::preemption
