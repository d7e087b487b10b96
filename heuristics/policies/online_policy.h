// Single-pod policies of other schedulers: the score that a policy gives one pod on one node.
//
// Sources: kube-scheduler's NodeResourcesFit with the strategies LeastAllocated and MostAllocated (Kubernetes 1.20,
// `least_allocated.go`, `most_allocated.go`); best fit, dot product and fragmentation gradient descent (FGD) as the
// simulator of Weng et al., "Beware of Fragmentation", USENIX ATC 2023, runs them
// (hkust-adsl/kubernetes-scheduler-simulator: `best_fit_score.go`; `dot_product_score.go`, merged GPU dimension,
// normalised by the largest node; `fgd_score.go` and `frag.go`, typical pods of 95 % popularity). Scores are whole
// numbers as they are there, and so tie as often.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace muster::policies {

enum class OnlinePolicyKind : std::uint8_t { kLeastAllocated, kMostAllocated, kBestFit, kDotProduct, kFgd };

// "least-allocated", "most-allocated", "best-fit", "dot-product", "fgd".
std::string_view online_policy_name(OnlinePolicyKind kind);
std::optional<OnlinePolicyKind> online_policy_of(std::string_view name);
std::span<const OnlinePolicyKind> online_policies();

// A node as it is now. Cpu in thousandths of a core, memory in bytes, devices in free thousandths of each.
struct OnlineNode {
  std::int64_t cpu_free = 0, cpu_total = 0, memory_free = 0, memory_total = 0;
  std::size_t type = 0;  // the position that TypicalPod::accepts refers to
  std::span<const std::int32_t> devices;
};

inline constexpr std::int32_t kWholeDevice = 1000;

// What one pod asks for: `share` thousandths of each of `devices` devices.
struct OnlineAsk {
  std::int64_t cpu = 0, memory = 0;
  std::int32_t devices = 0, share = 0;
  bool is_fraction() const { return devices == 1 && share < kWholeDevice; }
  friend bool operator==(const OnlineAsk&, const OnlineAsk&) = default;
};

// A class of the future workload: FGD counts as lost what it cannot use.
struct TypicalPod {
  OnlineAsk ask;
  double count = 0;           // how often it is met; any scale
  std::vector<bool> accepts;  // by node type
};

struct OnlineScore {
  std::int64_t score = 0;    // higher is better, 0..100
  std::int32_t device = -1;  // of a fraction: the one that the policy takes
};

class OnlinePolicy {
 public:
  struct Cluster {
    std::int64_t largest_cpu = 0;      // of a node
    std::int32_t largest_devices = 0;  // of a node
    std::size_t node_types = 0;
    std::vector<TypicalPod> workload;  // may be empty for all policies but FGD
  };
  OnlinePolicy(OnlinePolicyKind kind, const Cluster& cluster);

  // Requires that the pod fits. Fractions go to the device with the least room that suffices (lowest index first), but
  // under FGD to the one that scores best; whole devices are the idle ones of lowest index. Cost: O(devices) and, for
  // FGD, O(typical pods + distinct shares x devices) for each device that differs.
  OnlineScore score(const OnlineAsk& ask, const OnlineNode& node) const;

  // What of a node's free devices (thousandths) the typical pods could not use, on average: F_n(M) of the paper.
  double fragmentation(const OnlineNode& node) const;

 private:
  // Of one node type, in the order in which they are summed up: the score of a change of nothing is 50 or 49 by the
  // last bit of the sum, as it is in the source.
  struct Typical {
    std::int64_t cpu = 0;
    std::int32_t devices = 0;
    std::size_t share = 0;  // position in `shares_`
    double popularity = 0;
    bool accepts = false;
  };

  std::int64_t fgd_score(double before, const OnlineNode& after) const;
  OnlineScore score_fgd(const OnlineAsk& ask, const OnlineNode& node) const;

  OnlinePolicyKind kind_;
  double largest_cpu_, largest_gpu_;
  std::vector<std::int32_t> shares_;         // distinct, of the typical pods
  std::vector<std::vector<Typical>> types_;  // by node type
};

}  // namespace muster::policies
