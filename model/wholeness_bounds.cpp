// Bounds of the levels of wholeness, by what the plan must hold in sum given the levels before.
//
// Given `work`, all pods that may be placed are, but for some of no more work than is missing of it. Prices for pods
// that no node can exceed then tell how many nodes must be in use: any price is valid, the best one counts. They are
// the dual solutions of the bin packing relaxation (Martello and Toth 1990, section 8.3), guessed.
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "model/fractional_knapsack.h"
#include "model/free_room.h"
#include "model/wholeness.h"

namespace muster {
namespace {

constexpr std::int64_t kThousand = 1'000;
constexpr std::int64_t kMostSteps = 20'000'000;  // of counting copies of gangs' pods on nodes
constexpr std::int64_t kMostDevices = 64;        // of a node, for which prices by devices are tried

// Whole devices that the pod asks for; 0: none, or parts of them.
std::int64_t whole_devices(const PodClass& pod_class) {
  return pod_class.gpu.kind == GpuRequestKind::kWhole ? pod_class.gpu.devices : 0;
}

// No more than the pod takes of GPUs, in thousandths.
std::int64_t least_volume(const PodClass& pod_class) {
  std::int64_t volume = pod_class.mig_gpu_usage / kThousand;
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) volume += kThousand * pod_class.gpu.devices;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction)
    volume += pod_class.gpu.devices * pod_class.gpu.share / kThousand;
  return volume;
}

// A price of pods, and what all pods on a node can come to at most.
struct Price {
  std::function<std::int64_t(const PodClass&)> of_pod;
  std::function<std::int64_t(const NodeEnd&)> of_node;
};

// By whole devices: `of_size[x]` for a pod with x of them.
Price by_devices(const Problem& problem, std::vector<std::int64_t> of_size) {
  std::vector<std::int64_t> most(of_size.size(), 0);  // on so many idle devices
  for (std::size_t idle = 1; idle < most.size(); ++idle) {
    for (std::size_t size = 1; size <= idle; ++size)
      most[idle] = std::max(most[idle], of_size[size] + most[idle - size]);
  }
  return {[of_size = std::move(of_size)](const PodClass& pod_class) {
            const auto size = static_cast<std::size_t>(whole_devices(pod_class));
            return size < of_size.size() ? of_size[size] : std::int64_t{0};
          },
          [&problem, most = std::move(most)](const NodeEnd& node) {
            const DeviceUnits whole = problem.node_classes[node.node_class].device_capacity();
            const auto idle = std::ranges::count_if(node.free_devices, [&](DeviceUnits free) { return free >= whole; });
            return most[static_cast<std::size_t>(idle)];
          }};
}

Price by_volume(const Problem& problem) {
  return {least_volume, [&problem](const NodeEnd& node) {
            const DeviceUnits whole = problem.node_classes[node.node_class].device_capacity();
            std::int64_t volume = 0;
            for (const DeviceUnits free : node.free_devices)
              volume += static_cast<std::int64_t>(
                  (Wide{std::max<DeviceUnits>(0, free)} * kThousand + whole - 1) / whole);
            for (const ResourceIndex resource : problem.snapshot->resource_names.indices()) {
              const Work slice = mig_slice_work(problem.snapshot->resource_names[resource]);
              const Amount free = std::max<Amount>(0, node.free[resource.value()]);
              if (slice > 0) volume = saturating_add(volume, saturating_multiply(slice, free));
            }
            return volume;
          }};
}

Price by_resource(std::size_t resource) {
  return {[resource](const PodClass& pod_class) { return pod_class.request[resource]; },
          [resource](const NodeEnd& node) { return std::max<Amount>(0, node.free[resource]); }};
}

std::vector<Price> prices_of(const Problem& problem) {
  std::vector<Price> prices{by_volume(problem), by_resource(kCpu.value()), by_resource(kMemory.value())};
  std::int64_t most = 0;
  for (const NodeClass& node_class : problem.node_classes) most = std::max<std::int64_t>(most, node_class.device_count);
  if (most > kMostDevices) return prices;
  for (std::int64_t step = 2; step <= most; ++step) {
    std::vector<std::int64_t> at_least(static_cast<std::size_t>(most) + 1, 0), rounded = at_least;
    for (std::int64_t size = 1; size <= most; ++size) {
      at_least[static_cast<std::size_t>(size)] = size >= step ? 1 : 0;
      rounded[static_cast<std::size_t>(size)] = size * step / (most + 1);
    }
    prices.push_back(by_devices(problem, std::move(at_least)));
    prices.push_back(by_devices(problem, std::move(rounded)));
  }
  return prices;
}

std::int64_t copies_on(const PodClass& pod_class, const NodeClass& node_class, const NodeEnd& node) {
  if (!pod_class.allowed[node.node_class.value()]) return 0;
  std::int64_t copies = kLargest;
  for (std::size_t r = 0; r < pod_class.request.size(); ++r) {
    if (pod_class.request[r] > 0) copies = std::min(copies, std::max<Amount>(0, node.free[r]) / pod_class.request[r]);
  }
  if (pod_class.gpu.devices == 0) return copies;
  if (pod_class.gpu.kind == GpuRequestKind::kMemory && node_class.device_memory_mib == 0) return 0;
  const DeviceUnits share = std::max<DeviceUnits>(1, share_units(pod_class, node_class));
  std::int64_t shares = 0;
  for (const DeviceUnits free : node.free_devices) shares += std::max<DeviceUnits>(0, free) / share;
  return std::min(copies, shares / pod_class.gpu.devices);
}

// How many of the largest bins it takes to hold `pods`, beyond the first one; as many as there are where they do not
// suffice.
std::int64_t beyond_first_bin(std::vector<std::int64_t>& bins, std::int64_t pods) {
  std::ranges::sort(bins, std::greater<>{});
  std::int64_t used = 0;
  for (const std::int64_t copies : bins) {
    if (pods <= 0 || copies == 0) break;
    pods = saturating_subtract(pods, copies);
    ++used;
  }
  return std::max<std::int64_t>(0, used - 1);
}

bool is_all_or_nothing(const Problem& problem, const Gang& gang) {
  return gang.groups.size() == 1 && problem.groups[gang.root].minimum >= std::ssize(gang.pods);
}

}  // namespace

// What is known of a plan with these levels.
struct WholenessBounds::Given {
  Work missing = 0;     // at most so much of what may be present is not
  Plan leaving;         // those who may be gone; their room counts as free
  EndState end_state;   // without them
  FreeRoom room;
  Indexed<NodeIndex, std::uint8_t> is_broken;  // whatever else is placed
};

WholenessBounds::WholenessBounds(const Problem& problem)
    : problem_(problem), whole_nodes_(problem), possibilities_(problem) {
  for (const GangIndex index : problem.gangs.indices()) {
    const Gang& gang = problem.gangs[index];
    may_go_stale_ = may_go_stale_ || (gang.stale && problem.snapshot->policy.actions.stale);
    if (!gang.queue_is_leaf) continue;
    for (const PodIndex pod : gang.pods) {
      if (possibilities_.may_be_present(pod))
        possible_work_ = saturating_add(possible_work_, problem.pods[pod].weighted_work);
    }
  }
}

WholenessValues WholenessBounds::whatever() const {
  const Indexed<NodeIndex, std::uint8_t> none_broken(problem_.nodes.size(), 0);
  return {whole_nodes_.countable(), whole_domains(problem_, whole_nodes_, none_broken), 0, 0, 0, 0};
}

WholenessValues WholenessBounds::given(const Levels& levels) const {
  const std::size_t ranks = problem_.priorities.size();
  const std::size_t evicted = 3 * ranks, moved = evicted + 1, whole_nodes = evicted + 3;
  if (possible_work_ == kLargest) return whatever();
  const bool all_stay = levels.values[evicted] == 0 && levels.values[moved] == 0 && !may_go_stale_;
  Plan leaving;
  for (const PodIndex pod : problem_.pods.indices()) {
    if (all_stay || problem_.pods[pod].status != PodStatus::kRunning) continue;
    if (possibilities_.may_leave(problem_.gangs[problem_.pods[pod].gang]) || possibilities_.may_be_moved(pod))
      leaving.evictions.push_back({pod, EvictionReason::kPreempt, GangIndex::none()});
  }
  EndState end_state = end_state_of(problem_, leaving);
  const FreeRoom room(problem_, leaving, end_state);
  const Work work = ranks == 0 ? 0 : levels.values[evicted - 1];
  Indexed<NodeIndex, std::uint8_t> is_broken = broken_nodes(problem_, whole_nodes_, end_state);
  const Given known{std::max<Work>(0, saturating_subtract(possible_work_, work)), std::move(leaving),
                    std::move(end_state), room, std::move(is_broken)};
  const std::int64_t most_whole = whole_nodes_.countable() - must_break(known);
  const GangSpread spread = least_spread(known);
  return {most_whole, most_whole_domains(known, levels.values[whole_nodes]), spread.nodes, spread.domains,
          spread.models, least_misplaced(known)};
}

// Nodes that count and cannot be whole.
std::int64_t WholenessBounds::must_break(const Given& given) const {
  std::int64_t broken = 0;
  for (const NodeIndex node : problem_.nodes.indices())
    broken += whole_nodes_.counts(node) && given.is_broken[node] != 0 ? 1 : 0;
  std::map<std::pair<PodClassIndex, Work>, std::int64_t> placeable;  // by class and weighted work of a pod
  for (const PodIndex pod : problem_.pods.indices()) {
    const Pod& p = problem_.pods[pod];
    if (possibilities_.may_be_placed(pod)) ++placeable[{p.pod_class, p.weighted_work}];
  }
  std::int64_t most = 0;
  for (const Price& price : prices_of(problem_)) {
    FractionalKnapsack left_out(given.missing);
    std::int64_t asked = 0;
    for (const auto& [kind, count] : placeable) {
      const std::int64_t one = price.of_pod(problem_.pod_classes[kind.first]);
      if (one == 0) continue;
      asked = saturating_add(asked, saturating_multiply(one, count));
      left_out.add({kind.second, one, count});
    }
    if (asked == kLargest) continue;
    asked -= left_out.profit();
    std::vector<std::int64_t> whole;
    for (const NodeIndex node : problem_.nodes.indices()) {
      if (problem_.class_of(node).cordoned) continue;
      const std::int64_t held = price.of_node(given.room.of(node));
      if (whole_nodes_.counts(node) && given.is_broken[node] == 0)
        whole.push_back(held);
      else
        asked = saturating_subtract(asked, held);
    }
    if (asked <= 0) continue;
    most = std::max(most, 1 + beyond_first_bin(whole, asked));
  }
  return broken + most;
}

// Of each topology level the smallest first, as many as `whole_nodes` make up.
std::int64_t WholenessBounds::most_whole_domains(const Given& given, std::int64_t whole_nodes) const {
  std::int64_t sum = 0;
  for (const TopologyLevelIndex level : problem_.topology_levels.indices()) {
    std::vector<std::int64_t> sizes;
    for (const TopologyDomain& domain : problem_.domains) {
      if (domain.level != level) continue;
      std::int64_t size = 0;
      bool may_be_whole = true;
      for (const NodeIndex node : domain.nodes) {
        if (!whole_nodes_.counts(node)) continue;
        ++size;
        may_be_whole = may_be_whole && given.is_broken[node] == 0;
      }
      if (may_be_whole && size > 0) sizes.push_back(size);
    }
    std::ranges::sort(sizes);
    std::int64_t left = whole_nodes;
    for (const std::int64_t size : sizes) {
      if ((left -= size) < 0) break;
      ++sum;
    }
  }
  return sum;
}

// Each gang by itself, as if all the room were its own. Of a gang that can be placed in part, any pod left out may
// undo all of it.
GangSpread WholenessBounds::least_spread(const Given& given) const {
  std::array knapsacks{FractionalKnapsack(given.missing), FractionalKnapsack(given.missing),
                       FractionalKnapsack(given.missing)};
  GangSpread all;
  std::map<std::pair<PodClassIndex, std::int64_t>, GangSpread> known;
  std::int64_t steps = 0;
  const auto spread_of = [&](PodClassIndex index, std::int64_t pods) {
    const auto [at, is_new] = known.try_emplace({index, pods});
    if (!is_new || steps > kMostSteps) return at->second;
    const PodClass& pod_class = problem_.pod_classes[index];
    std::vector<std::int64_t> by_node, by_domain(problem_.domains.size(), 0);
    std::map<ModelIndex, std::int64_t> by_model;
    std::vector<std::int64_t> outside(problem_.topology_levels.size(), 0);
    for (const NodeIndex node : problem_.nodes.indices()) {
      const NodeClass& node_class = problem_.class_of(node);
      steps += 8 + node_class.device_count;
      const std::int64_t copies = std::min(pods, copies_on(pod_class, node_class, given.room.of(node)));
      if (copies == 0) continue;
      by_node.push_back(copies);
      by_model[node_class.model] += copies;
      for (std::size_t level = 0; level < outside.size(); ++level) {
        const DomainIndex domain = problem_.nodes[node].domains[level];
        (domain.is_none() ? outside[level] : by_domain[domain.value()]) += copies;
      }
    }
    GangSpread& spread = at->second;
    spread.nodes = beyond_first_bin(by_node, pods);
    for (std::size_t level = 0; level < outside.size(); ++level) {
      std::vector<std::int64_t> bins{outside[level]};
      for (const DomainIndex domain : problem_.domains.indices()) {
        if (problem_.domains[domain].level.value() == level) bins.push_back(by_domain[domain.value()]);
      }
      spread.domains += beyond_first_bin(bins, pods);
    }
    std::vector<std::int64_t> models;
    for (const auto& [model, copies] : by_model) models.push_back(copies);
    if (pod_class.gpu.devices > 0) spread.models = beyond_first_bin(models, pods);
    return spread;
  };
  for (const Gang& gang : problem_.gangs) {
    if (gang.pods.size() < 2) continue;
    std::map<PodClassIndex, std::int64_t> pods;
    Work work = 0, least = kLargest;
    bool is_new = true;
    for (const PodIndex pod : gang.pods) {
      is_new = is_new && problem_.pods[pod].status != PodStatus::kRunning;
      if (!possibilities_.may_be_placed(pod)) continue;
      ++pods[problem_.pods[pod].pod_class];
      work = saturating_add(work, problem_.pods[pod].weighted_work);
      least = std::min(least, problem_.pods[pod].weighted_work);
    }
    if (!is_new || pods.empty()) continue;
    GangSpread spread;
    for (const auto& [pod_class, count] : pods) {
      const GangSpread of_class = spread_of(pod_class, count);
      spread.nodes = std::max(spread.nodes, of_class.nodes);
      spread.domains = std::max(spread.domains, of_class.domains);
      spread.models = std::max(spread.models, of_class.models);
    }
    const Work undone_by = is_all_or_nothing(problem_, gang) ? work : least;
    all += spread;
    knapsacks[0].add({undone_by, spread.nodes, 1});
    knapsacks[1].add({undone_by, spread.domains, 1});
    knapsacks[2].add({undone_by, spread.models, 1});
  }
  return {all.nodes - knapsacks[0].profit(), all.domains - knapsacks[1].profit(), all.models - knapsacks[2].profit()};
}

// Pods without GPUs for which nodes without GPUs have no room in sum.
std::int64_t WholenessBounds::least_misplaced(const Given& given) const {
  std::vector<PodIndex> pods;
  FractionalKnapsack left_out(given.missing);
  for (const PodIndex pod : problem_.pods.indices()) {
    const PodClassIndex pod_class = problem_.pods[pod].pod_class;
    if (!possibilities_.may_be_placed(pod) || !whole_nodes_.may_avoid_gpus(pod_class)) continue;
    pods.push_back(pod);
    left_out.add({problem_.pods[pod].weighted_work, 1, 1});
  }
  if (pods.empty()) return 0;
  std::int64_t most = std::ssize(pods);
  for (std::size_t r = 0; r < problem_.resource_count; ++r) {
    Amount free = 0;
    for (const NodeIndex node : problem_.nodes.indices()) {
      const NodeEnd end = given.room.of(node);
      if (!whole_nodes_.has_gpus(end.node_class) && !problem_.class_of(node).cordoned)
        free = saturating_add(free, std::max<Amount>(0, end.free[r]));
    }
    std::ranges::sort(pods, {}, [&](PodIndex pod) { return problem_.class_of(pod).request[r]; });
    std::int64_t fit = 0;
    for (const PodIndex pod : pods) {
      if ((free = saturating_subtract(free, problem_.class_of(pod).request[r])) < 0) break;
      ++fit;
    }
    most = std::min(most, fit);
  }
  return std::max<std::int64_t>(0, std::ssize(pods) - most - left_out.profit());
}

}  // namespace muster
