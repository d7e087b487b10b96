// What every attempt to make room shares: the cluster, the claim, what has left for it, and when to stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/preemption/claim.h"
#include "heuristics/preemption/eviction_ledger.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/leading_levels.h"
#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Remembers that work was stopped.
//
// Raised once the request has been answered with yes, until it is lowered. All calls cost O(1), or that of the request.
class StopFlag {
 public:
  // The request may be empty; it must outlive the flag.
  explicit StopFlag(const StopRequest& request) : request_(request) {}

  bool is_raised() const { return is_raised_; }
  void lower() { is_raised_ = false; }
  // Asks the request, and raises the flag if it says stop.
  void ask() {
    if (request_ && request_()) is_raised_ = true;
  }
  // Whether the flag is raised or would be by the next question.
  bool is_due() const { return is_raised_ || (request_ && request_()); }
  // For loops over many elements: asks at every 64th.
  void ask_at(std::size_t position) {
    if (position % 64 == 63) ask();
  }

 private:
  const StopRequest& request_;
  bool is_raised_ = false;
};

// Notices whether any node has more free than before.
class CapacityWatch {
 public:
  // The state must outlive the watch.
  explicit CapacityWatch(const ClusterState& state) : state_(state) {}

  bool has_begun() const { return !versions_.empty(); }
  // Whether any node has more free, of any resource or device, than at the last call; true at the first one. Cost:
  // O(nodes touched since).
  bool has_grown() {
    if (!has_begun()) {
      begin();
      return true;
    }
    const std::size_t resources = state_.problem().resource_count;
    bool has_grown = false;
    const auto compare = [&](const auto& now, auto seen) {
      for (const auto amount : now) {
        has_grown = has_grown || amount > *seen;
        *seen++ = amount;
      }
    };
    for (; read_ < state_.changes().touched().size(); ++read_) {
      const NodeIndex node = state_.changes().touched()[read_];
      if (std::exchange(versions_[node], state_.version(node)) == state_.version(node)) continue;
      compare(state_.free(node), free_.begin() + static_cast<std::ptrdiff_t>(node.value() * resources));
      compare(state_.free_devices(node), devices_.begin() + static_cast<std::ptrdiff_t>(device_begin_[node]));
    }
    return has_grown;
  }

 private:
  void begin() {
    for (const NodeIndex node : state_.problem().nodes.indices()) {
      const auto free = state_.free(node);
      const auto devices = state_.free_devices(node);
      device_begin_.push_back(devices_.size());
      versions_.push_back(state_.version(node));
      free_.insert(free_.end(), free.begin(), free.end());
      devices_.insert(devices_.end(), devices.begin(), devices.end());
    }
    read_ = state_.changes().touched().size();
  }

  const ClusterState& state_;
  std::size_t read_ = 0;                        // of the state's touched nodes
  Indexed<NodeIndex, std::uint32_t> versions_;  // of the nodes, as they were read
  std::vector<Amount> free_;                    // node x resource
  std::vector<DeviceUnits> devices_;
  Indexed<NodeIndex, std::size_t> device_begin_;  // of devices_
};

// All must outlive the context. `rules` and the bounds of the placer are those of the snapshot as it was before any
// change.
struct PreemptionInputs {
  const EvictionRules& rules;
  placement::GangPlacer& placer;  // its state is the one that changes
  const StopRequest& stop;
  std::vector<PlannedEviction> stale = {};  // evictions that are settled already
  const LeadingLevels* levels = nullptr;    // as counted of what the state is a copy of; may be none
};

struct PreemptionContext {
  explicit PreemptionContext(PreemptionInputs inputs);
  PreemptionContext(const PreemptionContext&) = delete;  // its members refer to each other
  PreemptionContext& operator=(const PreemptionContext&) = delete;

  // Whether the state as it is, with its evictions, is a plan that obeys the rules: the pods can be bound in some
  // order, the evictions obey the rules, and no present gang lacks its minResources. Cost: that of
  // EvictionLedger::obeys_rules, and of the gangs with minResources once running pods have changed.
  bool rules_hold();
  bool min_resources_hold(GangIndex gang) { return min_resources_.hold(state, gang); }  // fit::min_resources

  // One attempt after another to improve the leading levels, each kept or undone as a whole. Cost: that of
  // LeadingLevels::of unless nothing has changed since the last attempt ended.
  void begin_attempt();
  // As the attempt began, and of the state as it is: the levels down to `work`, in their order, with `evictedBeyond`
  // left at 0. `preempted`, which is minimised, has its sign reversed: compare as lists. Cost: that of
  // LeadingLevels::of, and O(evictions x priorities) if pods may be preempted.
  const std::vector<Work>& levels_before() const { return levels_; }
  std::vector<Work> levels_now();
  // The attempt stays, with these levels. Gangs that gave way and are placed again count from the next rank on.
  void keep_attempt(std::vector<Work> levels);
  void undo_attempt();

  const Problem& problem;
  const EvictionRules& rules;
  ClusterState& state;
  const QueueBounds& bounds;
  placement::GangPlacer& placer;
  StopFlag stop;
  Claim claim;  // of the attempt under way, or the last one
  PlacementRanks ranks;
  EvictionLedger ledger;
  CapacityWatch watch;

 private:
  MinResources min_resources_;
  std::vector<std::uint64_t> held_at_;  // by EvictionSurvey::with_min_resources: standing version when it held
  LeadingLevels leading_levels_;
  std::vector<Work> levels_;  // of the state at levels_at_, before the claim under way
  ClusterState::Checkpoint levels_at_ = static_cast<ClusterState::Checkpoint>(-1);
};

}  // namespace muster::preemption
