// What may be present once a plan is carried out, as far as the snapshot alone determines it. For bounds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/problem/gang_tree.h"
#include "model/problem/problem.h"

namespace muster {

// Facts that hold for every plan: pods that may be present in the end, and gangs that may be satisfied.
class Possibilities {
 public:
  explicit Possibilities(const Problem& problem) : problem_(problem), may_be_placed_(problem.pods.size(), false) {
    const Actions& actions = problem.snapshot->policy.actions;
    for (const PodClass& pod_class : problem.pod_classes) {
      fits_somewhere_.push_back(std::ranges::find(pod_class.allowed, true) != pod_class.allowed.end());
    }
    for (const GangIndex index : problem.gangs.indices()) {
      const Gang& gang = problem.gangs[index];
      if (!actions.place || !gang.queue_is_leaf || !gang.times.may_start()) continue;
      for (const PodIndex pod : gang.pods)
        may_be_placed_[pod.value()] = problem.pods[pod].status == PodStatus::kPending && fits(pod);
      if (meets_minimum(problem, gang, [&](PodIndex pod) { return may_count(pod); })) continue;
      for (const PodIndex pod : gang.pods) may_be_placed_[pod.value()] = false;
    }
  }

  bool fits(PodIndex pod) const { return fits_somewhere_[problem_.pods[pod].pod_class.value()]; }
  bool may_be_placed(PodIndex pod) const { return may_be_placed_[pod.value()]; }
  bool may_be_present(PodIndex pod) const {
    return problem_.pods[pod].status == PodStatus::kRunning || may_be_placed(pod);
  }
  bool may_count(PodIndex pod) const {
    return may_be_present(pod) || problem_.pods[pod].status == PodStatus::kSucceeded;
  }
  bool may_leave(const Gang& gang) const {
    const Actions& actions = problem_.snapshot->policy.actions;
    return (gang.preemptible && (actions.preempt || actions.reclaim)) || (gang.stale && actions.stale);
  }
  bool may_be_moved(PodIndex pod) const {
    const Policy& policy = problem_.snapshot->policy;
    return problem_.pods[pod].status == PodStatus::kRunning && policy.actions.place && policy.actions.consolidate &&
           policy.max_moves.value_or(1) > 0 && problem_.gangs[problem_.pods[pod].gang].preemptible &&
           !problem_.gangs[problem_.pods[pod].gang].leaves_whole && fits(pod);
  }

 private:
  const Problem& problem_;
  std::vector<bool> fits_somewhere_;  // by pod class
  std::vector<bool> may_be_placed_;
};

// What is free on a node once a plan has been carried out.
//
// What is free on the node and on its devices (fully taken ones may be left out).
struct NodeEnd {
  NodeClassIndex node_class;
  std::span<const Amount> free;
  std::span<const DeviceUnits> free_devices;
};

// Which engine a plan comes from, and what is proven of it: `solver` of docs/format.md, "Plan".
enum class Origin : std::uint8_t { kGreedy, kSearch, kMilp, kNone };  // none: the plan does nothing
enum class Proof : std::uint8_t { kOptimal, kWithinGap, kHeuristic };

inline constexpr std::array kOrigins = {Origin::kGreedy, Origin::kSearch, Origin::kMilp, Origin::kNone};
inline constexpr std::array kProofs = {Proof::kOptimal, Proof::kWithinGap, Proof::kHeuristic};

constexpr std::string_view origin_name(Origin origin) {
  constexpr std::array<std::string_view, kOrigins.size()> kNames = {"greedy", "search", "milp", "none"};
  return kNames[static_cast<std::size_t>(origin)];
}

constexpr std::string_view proof_name(Proof proof) {
  constexpr std::array<std::string_view, kProofs.size()> kNames = {"optimal", "withinGap", "heuristic"};
  return kNames[static_cast<std::size_t>(proof)];
}

}  // namespace muster
