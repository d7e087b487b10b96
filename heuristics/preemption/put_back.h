// Puts a pod that has left back where it was.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/preemption/eviction_ledger.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/binding_order.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"

namespace muster::preemption {

// Whether the state as it is, with its evictions, is a plan that obeys the rules.
class PlanCheck {
 public:
  // All must outlive it.
  PlanCheck(const ClusterState& state, const EvictionRules& rules, const EvictionLedger& ledger)
      : state_(state), rules_(rules), ledger_(ledger) {}

  // Whether the pods can be bound in some order, the evictions obey the rules, and no present gang lacks its
  // minResources. Cost: that of EvictionLedger::obeys_rules, and of the gangs with minResources once running pods have
  // changed.
  bool rules_hold() const {
    if (!has_binding_order(state_) || !ledger_.obeys_rules()) return false;
    // Only changes of running pods change what gangs need, so each gang is queried once in between.
    const std::vector<GangIndex>& asking = rules_.survey().with_min_resources;
    held_at_.resize(asking.size(), kNever);
    for (std::size_t i = 0; i < asking.size(); ++i) {
      if (held_at_[i] == state_.changes().standing_version()) continue;
      if (min_resources_hold(asking[i])) {
        held_at_[i] = state_.changes().standing_version();
      } else if (is_anything_present(state_, asking[i])) {
        return false;
      }
    }
    return true;
  }
  bool min_resources_hold(GangIndex gang) const { return min_resources_.hold(state_, gang); }  // fit::min_resources

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  const ClusterState& state_;
  const EvictionRules& rules_;
  const EvictionLedger& ledger_;
  mutable MinResources min_resources_;
  mutable std::vector<std::uint64_t> held_at_;  // by EvictionSurvey::with_min_resources: standing version when it held
};

// Puts the pod on the place where the snapshot runs it, or on the given place where it was before. False: some rule
// forbids it, and nothing has changed. Requires that the pod is not present. Cost: that of the fit test; if an
// anti-affinity is in the way O(pods), and O(pods of the group) if its group requires a topology level.
bool put_back(ClusterState& state, const QueueBounds& bounds, PodIndex pod);
bool put_back(ClusterState& state, const QueueBounds& bounds, PodIndex pod, const Place& place);

}  // namespace muster::preemption
