#include "heuristics/policies/online_policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "model/base/require.h"

namespace muster::policies {

namespace {

constexpr std::array<std::pair<OnlinePolicyKind, std::string_view>, 5> kNames{{
    {OnlinePolicyKind::kLeastAllocated, "least-allocated"},
    {OnlinePolicyKind::kMostAllocated, "most-allocated"},
    {OnlinePolicyKind::kBestFit, "best-fit"},
    {OnlinePolicyKind::kDotProduct, "dot-product"},
    {OnlinePolicyKind::kFgd, "fgd"},
}};
constexpr std::array<OnlinePolicyKind, kNames.size()> kKinds{
    OnlinePolicyKind::kLeastAllocated, OnlinePolicyKind::kMostAllocated, OnlinePolicyKind::kBestFit,
    OnlinePolicyKind::kDotProduct, OnlinePolicyKind::kFgd};

constexpr double kMaxScore = 100;
constexpr double kPopularity = 0.95;  // of all pods: the most frequent classes that make it up are typical

// kube-scheduler counts a container without a request as if it asked for this much.
constexpr std::int64_t kLeastCpu = 100, kLeastMemory = 200 * 1024 * 1024;

std::int64_t total_of(std::span<const std::int32_t> devices) {
  return std::accumulate(devices.begin(), devices.end(), std::int64_t{0});
}

bool fits(const OnlineAsk& ask, const OnlineNode& node) {
  if (ask.cpu > node.cpu_free || ask.memory > node.memory_free) return false;
  return std::ranges::count_if(node.devices, [&](std::int32_t free) { return free >= ask.share; }) >= ask.devices;
}

// The share of one resource that is in use (or free) afterwards, in percent, rounded down; 0 beyond its capacity.
std::int64_t percent(std::int64_t part, std::int64_t total) {
  return total == 0 || part > total || part < 0 ? 0 : part * 100 / total;
}

// Cpu and memory, equal weights: the defaults of kube-scheduler.
std::int64_t allocated_score(const OnlineAsk& ask, const OnlineNode& node, bool most) {
  const auto of = [&](std::int64_t total, std::int64_t free, std::int64_t asked) {
    const std::int64_t used = total - free + asked;
    return percent(most ? used : total - used, total);
  };
  return (of(node.cpu_total, node.cpu_free, std::max(ask.cpu, kLeastCpu)) +
          of(node.memory_total, node.memory_free, std::max(ask.memory, kLeastMemory))) /
         2;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The most frequent classes that make up kPopularity of all pods, merged if they differ in memory alone; counts are
// shares of them all.
std::vector<TypicalPod> popular(const std::vector<TypicalPod>& workload) {
  std::vector<TypicalPod> merged;
  double total = 0;
  for (const TypicalPod& pod : workload) {
    total += pod.count;
    const auto alike = [&](const TypicalPod& other) {
      const auto key = [](const OnlineAsk& ask) { return std::tuple(ask.cpu, ask.share, ask.devices); };
      return key(pod.ask) == key(other.ask) && pod.accepts == other.accepts;
    };
    const auto found = std::ranges::find_if(merged, alike);
    if (found == merged.end()) {
      merged.push_back(pod);
    } else {
      found->count += pod.count;
    }
  }
  std::ranges::stable_sort(merged, std::ranges::greater{}, [](const TypicalPod& pod) {
    return std::tuple(pod.count, pod.ask.cpu, pod.ask.share, pod.ask.devices);
  });
  double covered = 0;
  std::size_t kept = 0;
  while (kept < merged.size() && covered < kPopularity * total) covered += merged[kept++].count;
  merged.resize(kept);
  for (TypicalPod& pod : merged) pod.count = pod.count / total / (covered / total);
  return merged;
}

}  // namespace

std::string_view online_policy_name(OnlinePolicyKind kind) {
  return std::ranges::find(kNames, kind, &std::pair<OnlinePolicyKind, std::string_view>::first)->second;
}

std::optional<OnlinePolicyKind> online_policy_of(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &std::pair<OnlinePolicyKind, std::string_view>::second);
  if (found == kNames.end()) return std::nullopt;
  return found->first;
}

std::span<const OnlinePolicyKind> online_policies() { return kKinds; }

OnlinePolicy::OnlinePolicy(OnlinePolicyKind kind, const Cluster& cluster)
    : kind_(kind),
      largest_cpu_(static_cast<double>(std::max<std::int64_t>(1, cluster.largest_cpu))),
      largest_gpu_(static_cast<double>(std::max(1, cluster.largest_devices)) * kWholeDevice),
      types_(cluster.node_types) {
  if (kind != OnlinePolicyKind::kFgd) return;
  for (const TypicalPod& pod : popular(cluster.workload)) {
    auto share = std::ranges::find(shares_, pod.ask.share);
    if (share == shares_.end()) share = shares_.insert(shares_.end(), pod.ask.share);
    const auto position = static_cast<std::size_t>(share - shares_.begin());
    for (std::size_t t = 0; t < types_.size(); ++t)
      types_[t].push_back({pod.ask.cpu, pod.ask.devices, position, pod.count, pod.accepts[t]});
  }
}

double OnlinePolicy::fragmentation(const OnlineNode& node) const {
  struct TypeCapacity {
    std::int32_t devices = 0;    // with room for the share
    std::int64_t too_small = 0;  // total
  };
  std::array<TypeCapacity, 64> few;
  std::vector<TypeCapacity> many(shares_.size() > few.size() ? shares_.size() : 0);
  const std::span<TypeCapacity> rooms = many.empty() ? std::span<TypeCapacity>(few) : std::span<TypeCapacity>(many);
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    rooms[i] = {};
    for (const std::int32_t free : node.devices) {
      if (free >= shares_[i]) {
        ++rooms[i].devices;
      } else {
        rooms[i].too_small += free;
      }
    }
  }
  // The cases of the paper: both lack, devices lack, cpu lacks, needs no device and has or lacks cpu, no access.
  enum Case : std::uint8_t { kBoth, kDevices, kCpuLacks, kNoDevice, kNoDeviceNorCpu, kNoAccess };
  std::array<double, 6> lost{};
  const auto total = static_cast<double>(total_of(node.devices));
  for (const Typical& pod : types_[node.type]) {
    const bool has_cpu = node.cpu_free >= pod.cpu;
    if (pod.devices == 0) {
      lost[has_cpu ? kNoDevice : kNoDeviceNorCpu] += pod.popularity * total;
    } else if (!pod.accepts) {
      lost[kNoAccess] += pod.popularity * total;
    } else if (rooms[pod.share].devices < pod.devices) {
      lost[has_cpu ? kDevices : kBoth] += pod.popularity * total;
    } else if (has_cpu) {
      lost[kDevices] += pod.popularity * static_cast<double>(rooms[pod.share].too_small);
    } else {
      lost[kCpuLacks] += pod.popularity * total;
    }
  }
  return std::accumulate(lost.begin(), lost.end(), 0.0);
}

std::int64_t OnlinePolicy::fgd_score(double before, const OnlineNode& after) const {
  return static_cast<std::int64_t>(sigmoid((before - fragmentation(after)) / kWholeDevice) * kMaxScore);
}

OnlineScore OnlinePolicy::score_fgd(const OnlineAsk& ask, const OnlineNode& node) const {
  const double before = fragmentation(node);
  std::vector<std::int32_t> devices(node.devices.begin(), node.devices.end());
  OnlineNode after = node;
  after.cpu_free -= ask.cpu;
  after.devices = devices;
  if (!ask.is_fraction()) {
    std::int32_t missing = ask.devices;
    for (std::int32_t& free : devices) {
      if (missing > 0 && free >= ask.share) {
        free -= ask.share;
        --missing;
      }
    }
    return {fgd_score(before, after), -1};
  }
  OnlineScore best;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto first = std::ranges::find(node.devices, devices[i]) - node.devices.begin();
    if (devices[i] < ask.share || static_cast<std::size_t>(first) < i) continue;  // an equal one scores the same
    devices[i] -= ask.share;
    const std::int64_t score = fgd_score(before, after);
    if (best.device < 0 || score > best.score) best = {score, static_cast<std::int32_t>(i)};
    devices[i] += ask.share;
  }
  return best;
}

OnlineScore OnlinePolicy::score(const OnlineAsk& ask, const OnlineNode& node) const {
  MUSTER_REQUIRE_SLOW(fits(ask, node));
  if (kind_ == OnlinePolicyKind::kFgd) return score_fgd(ask, node);
  OnlineScore result;
  if (ask.is_fraction()) {
    for (std::size_t i = 0; i < node.devices.size(); ++i) {
      const bool is_tighter =
          result.device < 0 || node.devices[i] < node.devices[static_cast<std::size_t>(result.device)];
      if (node.devices[i] >= ask.share && is_tighter) result.device = static_cast<std::int32_t>(i);
    }
  }
  const auto cpu_free = static_cast<double>(node.cpu_free), gpu_free = static_cast<double>(total_of(node.devices));
  const auto cpu = static_cast<double>(ask.cpu), gpu = static_cast<double>(ask.devices) * ask.share;
  switch (kind_) {
    case OnlinePolicyKind::kLeastAllocated:
    case OnlinePolicyKind::kMostAllocated:
      result.score = allocated_score(ask, node, kind_ == OnlinePolicyKind::kMostAllocated);
      break;
    case OnlinePolicyKind::kBestFit: {
      const double left = 0.5 * (cpu_free - cpu) / largest_cpu_ + 0.5 * (gpu_free - gpu) / largest_gpu_;
      result.score = static_cast<std::int64_t>((1 - left) * kMaxScore);
      break;
    }
    default: {  // the smaller the product of what is free and what is asked for, the better
      const double product =
          cpu_free / largest_cpu_ * (cpu / largest_cpu_) + gpu_free / largest_gpu_ * (gpu / largest_gpu_);
      result.score = static_cast<std::int64_t>((1 - product / 2) * kMaxScore);
    }
  }
  return result;
}

}  // namespace muster::policies
