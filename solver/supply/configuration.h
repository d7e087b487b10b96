// Node configurations: sets of pods that may be on one node of a residual class together.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "heuristics/preemption/eviction_rules.h"
#include "solver/demand/anti_affinity.h"
#include "solver/demand/demand.h"
#include "solver/supply/residual_class.h"

namespace muster::formulation {

// Pods of some demand classes that fit together on one node, in the order in which they are placed, each with the
// devices (positions in ResidualClass::free_devices) that it takes. Includes the pods that run on the node and stay; in
// a pinned residual class `resident` identifies them.
struct Configuration {
  struct Step {
    DemandIndex demand;
    std::vector<std::int32_t> devices;
    std::int32_t resident = -1;  // position in ResidualClass::residents
  };
  std::vector<Step> steps;
  std::vector<std::pair<DemandIndex, std::int32_t>> counts;  // ascending by demand class
  // Classes of residents of which one more could stay in addition to all this. Only if configurations are listed. In a
  // residual class that is not pinned: for any choice of devices by new pods, each class by itself.
  std::vector<DemandIndex> could_stay;
  std::int64_t last_level = 0;  // what the node adds to the last level: fragmentation, or the square of its use
  // As could_stay, in addition to what of all this belongs to gangs that may evict a pod of the class (rule Not in
  // vain): the same classes and more.
  std::vector<DemandIndex> could_stay_by_right = {};
};

// For which pods that arrive a resident may be evicted: those of gangs that may evict it, and moved ones.
class Displacers {
 public:
  // All must outlive it. `before`: the snapshot as it is.
  Displacers(const Problem& problem, const Demand& demand, const preemption::EvictionRules& rules,
             const ClusterState& before)
      : problem_(problem), demand_(demand), rules_(rules), before_(before), of_stay_(demand.classes.size()) {}

  // Whether a pod of some gang that asks for this class may have a resident of the class `stay` evicted. Cost: O(1); on
  // the first call for `stay` O(cells).
  bool may_displace(DemandIndex arriving, DemandIndex stay) {
    if (of_stay_[stay].empty()) find(stay);
    return of_stay_[stay][arriving.value()];
  }

 private:
  void find(DemandIndex stay);

  const Problem& problem_;
  const Demand& demand_;
  const preemption::EvictionRules& rules_;
  const ClusterState& before_;
  Indexed<DemandIndex, std::vector<bool>> of_stay_;  // by arriving class; empty: not known yet
};

// All of it outlives the objects that receive it.
struct ConfigurationInput {
  const Problem& problem;
  const Demand& demand;
  const AntiAffinityRules& anti_affinity;
  Displacers* displacers = nullptr;  // none: any pod may have any resident evicted
};

// Whether there are more of them than `limit`. Counts only sets of four different pods of small classes, so there may
// be many more even if the result is no. Cost: O(demand classes of the residual class).
bool surely_has_more(const ConfigurationInput& input, const ResidualClass& residual, std::size_t limit);

// Every distinct count of pods that fits on one node of the class, the empty one first, each with the placing that is
// best for the last level; several of one count if they differ in the residents that could stay in addition. `states`
// is the permitted number of intermediate states, and on return the number left; none if they do not suffice. None,
// too, if `stop` returns true; it is polled.
std::optional<std::vector<Configuration>> enumerate_configurations(const ConfigurationInput& input,
                                                                   const ResidualClass& residual, std::size_t& states,
                                                                   const std::function<bool()>& stop = {});

}  // namespace muster::formulation
