#include "datasets/generator/situations.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "datasets/generator/options.h"
#include "datasets/generator/random.h"
#include "model/base/error_code.h"
#include "model/base/require.h"

namespace muster::generator {
namespace {

// Streams of one seed are 16 apart from line to line, as those of drawn clusters; these come after theirs.
enum Stream : std::uint64_t { kStarts = 8, kFill, kStreams = 16 };

constexpr std::int64_t kTime = 1'767'225'600;  // 2026-01-01T00:00:00Z
constexpr std::int64_t kMostSecondsRun = 86'400;
constexpr std::int64_t kSecondsWaited = 60;
constexpr std::int32_t kTeamThatRuns = 0, kTeamThatWaits = 1;

// consolidate: GPUs of a node in use; one node in this many has one more in use, all under one pod.
std::int32_t used_gpus(const GeneratorOptions& o) { return std::max(1, 3 * o.cluster.gpus_per_node / 8); }
constexpr std::int32_t kNodesPerLargePod = 25;

// Pods of the pending gangs that fit after moves: each takes a node that sheds one GPU, onto what the nodes that take
// none have free.
std::int64_t most_consolidated(const GeneratorOptions& o) {
  const std::int64_t free = o.cluster.gpus_per_node - used_gpus(o);
  return (free * o.cluster.nodes - o.cluster.nodes / kNodesPerLargePod) / (free + 1);
}

std::int32_t pods_of_gang(const GeneratorOptions& o) {
  if (o.size.gang_pods > 0) return o.size.gang_pods;
  return o.situation == Situation::kReclaimGang ? std::max(1, o.cluster.nodes / 10) : 10;
}

std::int64_t pending_gangs(const GeneratorOptions& o) {
  if (o.size.gangs > 0) return o.size.gangs;
  return o.situation == Situation::kConsolidate ? most_consolidated(o) / pods_of_gang(o) : 1;
}

class SituationGeneration {
 public:
  SituationGeneration(const GeneratorOptions& options, std::uint64_t k)
      : options_(options), starts_(options.seed, k * kStreams + kStarts), fill_(options.seed, k * kStreams + kFill) {
    instance_.id = options.id;
    instance_.time = kTime;
  }

  Instance run() {
    add_nodes();
    if (options_.situation != Situation::kConsolidate) add_queues();
    switch (options_.situation) {
      case Situation::kReclaimGang:
        fill_all();
        add_pending_gangs(options_.cluster.gpus_per_node, kTeamThatWaits);
        break;
      case Situation::kReclaimSingles:
        fill_all();
        add_pending_singles();
        break;
      case Situation::kConsolidate:
        fill_evenly();
        add_pending_gangs(options_.cluster.gpus_per_node - used_gpus(options_) + 1, -1);
        break;
      case Situation::kUnplaceable:
        fill_with_pins();
        add_pending_gangs(options_.cluster.gpus_per_node, kTeamThatWaits);
        break;
      case Situation::kDrawn:
        break;
    }
    return std::move(instance_);
  }

 private:
  void add_nodes() {
    for (std::int32_t i = 0; i < options_.cluster.nodes; ++i) {
      InstanceNode& node = instance_.nodes.emplace_back();
      node.name = fmt::format("node-{}", i);
      node.cpu_milli = options_.cluster.cores_per_node * std::int64_t{1000};
      node.memory_mib = options_.cluster.memory_gib_per_node * std::int64_t{1024};
      node.gpu_count = options_.cluster.gpus_per_node;
    }
  }

  // Two of equal weight, with half of what is given out as quota each.
  void add_queues() {
    const double gpus = static_cast<double>(options_.cluster.nodes) * options_.cluster.gpus_per_node;
    for (const std::int32_t team : {kTeamThatRuns, kTeamThatWaits}) {
      InstanceQueue queue;
      queue.name = fmt::format("team-{}", team);
      queue.gpu_quota = std::llround(gpus * options_.queues.quota / 2);
      instance_.queues.push_back(std::move(queue));
    }
  }

  // This many whole GPUs, and three quarters of their part of the node's cores and memory: GPUs are the scarce
  // resource.
  std::int32_t shape_of(std::int32_t gpus) {
    PodShape shape;
    shape.gpu = {GpuRequestKind::kWhole, gpus, 0};
    shape.cpu_milli = std::max<std::int64_t>(
        options_.cluster.cores_per_node * std::int64_t{750} * gpus / options_.cluster.gpus_per_node, 1);
    shape.memory_mib = options_.cluster.memory_gib_per_node * std::int64_t{768} * gpus / options_.cluster.gpus_per_node;
    return shapes_.position_of(shape, instance_);
  }

  // A gang by itself.
  InstancePod& add_pod(std::int32_t gpus, std::int32_t queue) {
    InstancePod pod;
    pod.name = fmt::format("pod-{}", instance_.pods.size());
    pod.shape = shape_of(gpus);
    pod.terms.queue = queue;
    return instance_.pods.emplace_back(std::move(pod));
  }

  // On the node's devices from `first` on.
  void add_running(std::int32_t node, std::int32_t first, std::int32_t gpus, bool preemptible) {
    const bool has_queues = options_.situation != Situation::kConsolidate;
    InstancePod& pod = add_pod(gpus, has_queues ? kTeamThatRuns : -1);
    pod.terms.preemptible = preemptible;
    pod.node = node;
    pod.devices.resize(static_cast<std::size_t>(gpus));
    std::iota(pod.devices.begin(), pod.devices.end(), first);
    pod.status = PodStatus::kRunning;
    pod.started = kTime - seconds_run();
  }

  // From a minute to a day: one of a few evenly spread times, or one that no other pod has.
  std::int64_t seconds_run() {
    if (options_.running.start_times == 0) return kSecondsWaited + ++running_;
    const auto which =
        static_cast<std::int64_t>(starts_.below(static_cast<std::uint64_t>(options_.running.start_times)));
    return kSecondsWaited + (which + 1) * (kMostSecondsRun - kSecondsWaited) / options_.running.start_times;
  }

  void fill_all() {
    for (std::int32_t node = 0; node < options_.cluster.nodes; ++node) {
      for (std::int32_t device = 0; device < options_.cluster.gpus_per_node; ++device)
        add_running(node, device, 1, true);
    }
  }

  void add_pending_singles() {
    for (std::int64_t i = 0; i < std::int64_t{options_.cluster.nodes} * options_.cluster.gpus_per_node; ++i) {
      add_pod(1, kTeamThatWaits).terms.created = kTime - kSecondsWaited;
    }
  }

  // Gang by gang, one after the other in age.
  void add_pending_gangs(std::int32_t gpus, std::int32_t queue) {
    const std::int64_t gangs = pending_gangs(options_);
    const std::int32_t pods = pods_of_gang(options_);
    const std::int32_t shape = shape_of(gpus);
    for (std::int64_t i = 0; i < gangs; ++i) {
      InstanceGang& gang = instance_.gangs.emplace_back();
      gang.name = fmt::format("gang-{}", i);
      gang.terms.queue = queue;
      gang.terms.created = kTime - kSecondsWaited - (gangs - i);
      gang.min_member = pods;
      for (std::int32_t p = 0; p < pods; ++p) {
        InstancePod& pod = instance_.pods.emplace_back();
        pod.name = fmt::format("gang-{}-{}", i, p);
        pod.shape = shape;
        pod.gang = static_cast<std::int32_t>(i);
      }
    }
  }

  // Each node has `used_gpus` in use: one pod of one GPU at least, the rest in pods of 1, 2 and 4. A few have one pod
  // of one GPU more instead.
  void fill_evenly() {
    const std::vector<bool> has_large_pod = draw_nodes(options_.cluster.nodes / kNodesPerLargePod);
    for (std::int32_t node = 0; node < options_.cluster.nodes; ++node) {
      if (has_large_pod[static_cast<std::size_t>(node)]) {
        add_running(node, 0, used_gpus(options_) + 1, true);
        continue;
      }
      add_running(node, 0, 1, true);
      for (std::int32_t used = 1; used < used_gpus(options_);) {
        const std::int32_t drawn = 1 << fill_.below(3);
        const std::int32_t gpus = std::min(drawn, used_gpus(options_) - used);
        add_running(node, used, gpus, true);
        used += gpus;
      }
    }
  }

  // Every node except half as many as one gang needs has a pod that may not be evicted; one node in ten and each of
  // those without such a pod have one GPU free.
  void fill_with_pins() {
    const std::int32_t without_pin = std::min(pods_of_gang(options_) / 2, options_.cluster.nodes);
    const std::vector<bool> may_be_emptied = draw_nodes(without_pin);
    for (std::int32_t node = 0; node < options_.cluster.nodes; ++node) {
      const bool is_open = may_be_emptied[static_cast<std::size_t>(node)];
      const std::int32_t in_use = options_.cluster.gpus_per_node - (is_open || fill_.below(10) == 0 ? 1 : 0);
      for (std::int32_t device = 0; device < in_use; ++device) add_running(node, device, 1, is_open || device > 0);
    }
  }

  // The given number of nodes, all choices equally likely (Fan, Muller and Rezucha, JASA 1962).
  std::vector<bool> draw_nodes(std::int32_t count) {
    std::vector<bool> chosen(static_cast<std::size_t>(options_.cluster.nodes));
    std::int32_t wanted = count;
    for (std::int32_t i = 0; i < options_.cluster.nodes; ++i) {
      const bool is_chosen =
          fill_.below(static_cast<std::uint64_t>(options_.cluster.nodes - i)) < static_cast<std::uint64_t>(wanted);
      chosen[static_cast<std::size_t>(i)] = is_chosen;
      wanted -= is_chosen ? 1 : 0;
    }
    return chosen;
  }

  const GeneratorOptions& options_;
  Random starts_, fill_;
  Instance instance_;
  ShapeTable shapes_;
  std::int64_t running_ = 0;
};

InputError situation_fault_at(std::string_view option, std::string message) {
  return {ErrorCode::kInvalidOption, std::string(option), std::move(message)};
}

}  // namespace

Instance situation_instance(const GeneratorOptions& options, std::uint64_t k) {
  MUSTER_REQUIRE(options.situation != Situation::kDrawn && !situation_fault(options));
  return SituationGeneration(options, k).run();
}

std::optional<InputError> situation_fault(const GeneratorOptions& o) {
  const std::int64_t pods = pending_gangs(o) * pods_of_gang(o);
  if (o.cluster.gpus_per_node < 2) return situation_fault_at("gpus-per-node", "must be at least 2 for a situation");
  if (o.situation == Situation::kReclaimSingles && (o.size.gangs > 0 || o.size.gang_pods > 0)) {
    return situation_fault_at("gangs", "and gang-pods cannot be used: this situation has no gangs of several pods");
  }
  if (o.situation == Situation::kReclaimGang && 2 * pods > o.cluster.nodes) {
    return situation_fault_at("gang-pods", "makes gangs that request more than half of the nodes");
  }
  if (o.situation == Situation::kConsolidate && (pods == 0 || pods > most_consolidated(o))) {
    return situation_fault_at("gangs", fmt::format("must request 1 to {} pods", most_consolidated(o)));
  }
  if (o.situation == Situation::kUnplaceable && (pods_of_gang(o) < 2 || pods_of_gang(o) > o.cluster.nodes)) {
    return situation_fault_at("gang-pods", "must be from 2 to the number of nodes");
  }
  return std::nullopt;
}

}  // namespace muster::generator
