#include "cli/answers/overview.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/base/saturating.h"
#include "model/objective/fair_share.h"

namespace muster::cli {
namespace {

constexpr MicroGpu kWholeGpu = 1'000'000;

class OverviewMaker {
 public:
  explicit OverviewMaker(const Problem& problem) : problem_(problem), state_(problem, ClusterState::Releasing::kHeld) {}

  Overview make() {
    begin_queues();
    for (const GangIndex gang : problem_.gangs.indices()) add_gang(gang);
    sort_requests();
    for (const NodeIndex node : problem_.nodes.indices()) add_node(node);
    for (auto& [kind, devices] : devices_) overview_.devices.push_back(devices);
    return std::move(overview_);
  }

 private:
  void begin_queues() {
    const FairShares shares = compute_fair_shares(problem_);
    for (const QueueIndex queue : problem_.queues.indices()) {
      overview_.queues.push_back(
          {queue, shares.share[queue], state_.queues().usage()[queue], 0, 0, 0, {}, other_limits_of(queue)});
    }
  }

  std::string other_limits_of(QueueIndex queue) const {
    std::string text;
    for (const OtherLimitIndex index : problem_.queues[queue].other_limits) {
      const OtherLimit& limit = problem_.lists.other_limits[index];
      if (limit.queue != queue) continue;
      text.append(text.empty() ? "" : ", ").append(problem_.resource_name(limit.resource));
      text.append(" ").append(std::to_string(state_.queues().limited_usage()[index]));
      text.append(" of ").append(std::to_string(limit.limit));
    }
    return text;
  }

  void add_gang(GangIndex index) {
    const Gang& gang = problem_.gangs[index];
    GangOverview row{index, GangStatus::kGated, 0, 0, 0};
    MicroGpu pending_gpus = 0;
    for (const PodIndex pod : gang.pods) {
      const PodClass& pod_class = problem_.class_of(pod);
      const PodStatus status = problem_.pods[pod].status;
      if (state_.is_present(pod)) {
        ++row.running;
        row.gpus += queue_usage(pod_class, problem_.class_of(state_.node_of(pod)))[kQueueGpu];
      } else if (status == PodStatus::kPending || status == PodStatus::kGated) {
        ++row.waiting;
        row.gpus += pod_class.smallest_gpu_usage;
        if (status == PodStatus::kPending) pending_gpus += pod_class.smallest_gpu_usage;
        if (status == PodStatus::kPending) row.status = GangStatus::kWaiting;
      }
    }
    if (row.running + row.waiting == 0) return;
    if (row.running > 0) row.status = GangStatus::kRunning;
    overview_.gangs.push_back(row);
    if (gang.queue.is_none()) return;
    for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
      count(row, pending_gpus, gang, overview_.queues[queue.value()]);
    }
  }

  static void count(const GangOverview& row, MicroGpu pending_gpus, const Gang& gang, QueueOverview& queue) {
    queue.waiting_gpus += pending_gpus;
    if (row.status == GangStatus::kRunning) ++queue.running_gangs;
    if (row.status != GangStatus::kWaiting) return;
    ++queue.waiting_gangs;
    queue.longest_wait_seconds = std::max(queue.longest_wait_seconds.value_or(0), gang.times.waited_seconds);
  }

  // Classes of pods that ask for GPUs, the largest requests first.
  void sort_requests() {
    for (const PodClassIndex index : problem_.pod_classes.indices()) {
      if (problem_.pod_classes[index].smallest_gpu_usage > 0) requests_.push_back(index);
    }
    std::ranges::stable_sort(requests_, std::ranges::greater(),
                             [&](PodClassIndex index) { return problem_.pod_classes[index].smallest_gpu_usage; });
  }

  MicroGpu largest_fit(NodeIndex node) const {
    const Room room = room_of(state_, node);
    for (const PodClassIndex index : requests_) {
      const PodClass& pod_class = problem_.pod_classes[index];
      if (fit::node(problem_, pod_class, node) && fit::capacity(room, pod_class) &&
          fit::devices(room, problem_, pod_class, node)) {
        return pod_class.smallest_gpu_usage;
      }
    }
    return 0;
  }

  void add_node(NodeIndex index) {
    const bool is_cordoned = problem_.class_of(index).cordoned;
    overview_.cordoned_nodes += is_cordoned ? 1 : 0;
    const SnapshotNode& known = problem_.snapshot->nodes[index.value()];
    if (known.gpu_count == 0) return;
    const DeviceUnits capacity = problem_.device_capacity(index);
    NodeOverview row;
    row.node = index;
    row.devices = known.gpu_count;
    row.free_cpu = state_.free(index)[kCpu.value()];
    row.free_memory = state_.free(index)[kMemory.value()];
    for (const DeviceUnits free : state_.free_devices(index)) {
      if (free == capacity) {
        ++row.idle;
        continue;
      }
      const auto part = static_cast<MicroGpu>(static_cast<Wide>(free) * kWholeGpu / capacity);
      row.free_in_parts += part;
      row.largest_part = std::max(row.largest_part, part);
    }
    count(row, is_cordoned);
    if (is_cordoned || row.idle * kWholeGpu + row.free_in_parts == 0) return;
    row.largest_fit = largest_fit(index);
    overview_.nodes.push_back(row);
  }

  void count(const NodeOverview& row, bool is_cordoned) {
    const SnapshotNode& known = problem_.snapshot->nodes[row.node.value()];
    DeviceOverview& devices = devices_[{known.gpu_model, known.gpu_memory_mib}];
    devices.model = known.gpu_model;
    devices.memory_mib = known.gpu_memory_mib;
    devices.devices += row.devices;
    const MicroGpu free = row.idle * kWholeGpu + row.free_in_parts;
    devices.allocated += row.devices * kWholeGpu - free;
    if (is_cordoned) {
      devices.free_cordoned += free;
      return;
    }
    devices.free_whole += row.idle;
    devices.free_in_parts += row.free_in_parts;
    if (row.idle == 0 || row.idle < devices.largest_block) return;
    devices.largest_block_nodes = row.idle > devices.largest_block ? 1 : devices.largest_block_nodes + 1;
    devices.largest_block = row.idle;
  }

  const Problem& problem_;
  ClusterState state_;
  Overview overview_;
  std::map<std::pair<std::string_view, std::int64_t>, DeviceOverview> devices_;
  std::vector<PodClassIndex> requests_;
};

}  // namespace

Overview overview_of(const Problem& problem) { return OverviewMaker(problem).make(); }

}  // namespace muster::cli
