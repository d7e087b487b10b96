#include "heuristics/greedy/sharer_packing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/state/fit.h"

namespace muster::greedy {

namespace {

constexpr std::int64_t kWhole = 1'000'000;

// Devices with the same sharers.
struct Devices {
  std::int64_t count = 0;
  SharerCounts sharers;  // of each
};

// By what is free on each; devices with equal free capacity differ only in the order of insertion.
using DevicesByCapacity = std::multimap<std::int64_t, Devices>;

// Places as many as fit on each of some devices, at most `left` of them in total; returns the number placed.
std::int64_t put(DevicesByCapacity& devices, std::pair<std::int64_t, Devices> some, std::int64_t share,
                 std::int64_t left) {
  const std::int64_t on_each = some.first / share;
  const auto put_on = [&](std::int64_t count, std::int64_t sharers) {
    if (count == 0 || sharers == 0) return;
    Devices changed{count, some.second.sharers};
    changed.sharers[share] += sharers;
    devices.emplace(some.first - sharers * share, std::move(changed));
    some.second.count -= count;
  };
  const std::int64_t most = std::min(left, on_each * some.second.count);
  put_on(most / on_each, on_each);
  put_on(1, most % on_each);
  if (some.second.count > 0) devices.insert(std::move(some));
  return most;
}

}  // namespace

SharerPacking pack_sharers(const SharerCounts& counts) {
  DevicesByCapacity devices;
  for (const auto& [share, count] : counts) {
    std::int64_t left = count;
    while (left > 0) {
      const auto tightest = devices.lower_bound(share);
      if (tightest != devices.end()) {
        std::pair<std::int64_t, Devices> some = std::move(*tightest);
        devices.erase(tightest);
        left -= put(devices, std::move(some), share, left);
      } else {
        const std::int64_t on_each = kWhole / share;
        left -= put(devices, {kWhole, {(left + on_each - 1) / on_each, {}}}, share, left);
      }
    }
  }
  SharerPacking packing;
  for (const auto& [room, some] : devices) {
    packing.idle += room * some.count;
    if (room == 0) continue;
    for (const auto& [share, sharers] : some.sharers) packing.on_idle[share] += sharers * some.count;
  }
  return packing;
}

namespace {

// Of one size, the last gangs of no more sharers than `most` together.
struct Surplus {
  std::vector<std::size_t> positions;
  std::int64_t sharers = 0;
};
Surplus last_of(std::span<const SharerGang> gangs, const std::vector<bool>& is_out, std::int64_t share,
                std::int64_t most) {
  Surplus surplus;
  for (std::size_t i = gangs.size(); i-- > 0 && surplus.sharers < most;) {
    if (is_out[i] || gangs[i].share != share || surplus.sharers + gangs[i].sharers > most) continue;
    surplus.positions.push_back(i);
    surplus.sharers += gangs[i].sharers;
  }
  return surplus;
}

// Of those on idle devices of one size, or of all sizes (0), the last gangs; and what is idle without them.
struct LeftOut {
  std::vector<std::size_t> positions;
  SharerCounts counts;  // of those that stay
  std::int64_t idle = 0;
};
LeftOut without(std::span<const SharerGang> gangs, const std::vector<bool>& is_out, const SharerCounts& counts,
                const SharerCounts& on_idle, std::int64_t only) {
  LeftOut left{{}, counts, 0};
  for (const auto& [share, sharers] : on_idle) {
    if (only != 0 && share != only) continue;
    const Surplus surplus = last_of(gangs, is_out, share, sharers);
    left.positions.insert(left.positions.end(), surplus.positions.begin(), surplus.positions.end());
    left.counts[share] -= surplus.sharers;
  }
  left.idle = pack_sharers(left.counts).idle;
  return left;
}

}  // namespace

SharerCounts counts_of(std::span<const SharerGang> gangs) {
  SharerCounts counts;
  for (const SharerGang& gang : gangs) counts[gang.share] += gang.sharers;
  return counts;
}

std::vector<std::size_t> surplus_sharers(std::span<const SharerGang> gangs) {
  SharerCounts counts = counts_of(gangs);
  std::vector<bool> is_out(gangs.size(), false);
  std::vector<std::size_t> numbers;
  for (std::size_t rounds = counts.size(); rounds > 0; --rounds) {
    const SharerPacking packing = pack_sharers(counts);
    LeftOut best{{}, counts, packing.idle};
    const auto try_without = [&](std::int64_t only) {
      LeftOut left = without(gangs, is_out, counts, packing.on_idle, only);
      if (left.idle < best.idle) best = std::move(left);
    };
    for (const auto& [share, sharers] : packing.on_idle) try_without(share);
    if (best.positions.empty()) try_without(0);
    if (best.positions.empty()) break;
    counts = std::move(best.counts);
    for (const std::size_t position : best.positions) {
      is_out[position] = true;
      numbers.push_back(gangs[position].number);
    }
  }
  return numbers;
}

namespace {

bool may_hold_devices(const NodeClass& node_class) { return node_class.device_count > 0 && !node_class.cordoned; }

// A node like all others that have devices, if they are idle; none if they differ.
NodeIndex typical_node(const Problem& problem, const ClusterState& state) {
  NodeIndex typical = NodeIndex::none();
  for (const NodeIndex node : problem.nodes.indices()) {
    const NodeClass& node_class = problem.class_of(node);
    if (!may_hold_devices(node_class)) continue;
    if (state.idle_devices(node) < node_class.device_count || node_class.devices_closed) return NodeIndex::none();
    if (typical.is_none()) typical = node;
    if (node_class.device_count != problem.class_of(typical).device_count) return NodeIndex::none();
    if (!std::ranges::equal(state.free(node), state.free(typical))) return NodeIndex::none();
  }
  return typical;
}

std::vector<PodClassIndex> waiting_classes(const Problem& problem) {
  std::vector<bool> waits(problem.pod_classes.size(), false);
  for (const Pod& pod : problem.pods) {
    if (fit::is_pending(pod)) waits[pod.pod_class.value()] = true;
  }
  std::vector<PodClassIndex> classes;
  for (const PodClassIndex index : problem.pod_classes.indices()) {
    if (waits[index.value()]) classes.push_back(index);
  }
  return classes;
}

bool is_allowed_everywhere(const Problem& problem, const PodClass& pod_class) {
  return std::ranges::all_of(problem.node_classes.indices(), [&](NodeClassIndex index) {
    return !may_hold_devices(problem.node_classes[index]) || pod_class.allowed[index.value()];
  });
}

// Whether pods of the class leave the other devices of a node their part of all else.
bool takes_its_part(const PodClass& pod_class, std::span<const Amount> free, std::int64_t devices) {
  for (std::size_t r = 0; r < free.size(); ++r) {
    if (pod_class.request[r] > free[r] / devices * pod_class.gpu.devices) return false;
  }
  return true;
}

}  // namespace

bool have_exact_sums(const Problem& problem, const ClusterState& state) {
  const NodeIndex node = typical_node(problem, state);
  if (node.is_none() || problem.has_inter_pod_rules()) return false;
  if (!std::ranges::all_of(problem.groups, [](const Group& group) { return group.required_level.is_none(); }))
    return false;
  const std::int64_t devices = problem.class_of(node).device_count;
  std::set<std::int64_t> sizes{devices};
  for (const PodClassIndex index : waiting_classes(problem)) {
    const PodClass& pod_class = problem.pod_classes[index];
    const GpuRequest& gpu = pod_class.gpu;
    if (gpu.devices == 0 || !is_allowed_everywhere(problem, pod_class)) return false;
    if (gpu.kind == GpuRequestKind::kFraction && gpu.devices == 1) continue;
    if (gpu.kind != GpuRequestKind::kWhole || !takes_its_part(pod_class, state.free(node), devices)) return false;
    sizes.insert(gpu.devices);
  }
  return std::ranges::adjacent_find(sizes, [](std::int64_t a, std::int64_t b) { return b % a != 0; }) == sizes.end();
}

}  // namespace muster::greedy
