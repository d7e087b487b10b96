// One trial of the search: the pods that are destroyed, and the places where they and waiting pods are repaired.
#pragma once

#include <compare>
#include <cstdint>
#include <tuple>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/device_sets.h"
#include "model/objective/wholeness.h"
#include "model/problem/problem.h"

namespace muster::local_search {

struct TrialPod {
  PodIndex pod;
  PodClassIndex pod_class;
  NodeIndex from{}, to{};  // none: it had, or then has, no node
  DeviceList from_devices{}, to_devices{};
  double key = 0;           // of the order in which pods are repaired
  bool is_offered = false;  // it waits, or is to wait, by itself; else as a part of its gang
  bool is_dropped = false;  // it was destroyed and not repaired
  bool stays() const { return from == to && from_devices == to_devices; }
};

struct Trial {
  std::vector<TrialPod> required;    // destroyed: they must be repaired
  std::vector<TrialPod> optional;    // destroyed: they may be repaired
  std::vector<TrialPod> placed;      // repaired besides the required ones: optional ones, and waiting pods
  GangIndex leaving;                 // a gang that is destroyed whole; it then waits, unless it is completed
  std::vector<GangIndex> completed;  // gangs that waited, or left, and now have their minimum

  void clear() {
    required.clear();
    optional.clear();
    placed.clear();
    leaving = GangIndex::none();
    completed.clear();
  }
  // Once all is repaired: gives placed pods that were destroyed their old place, and marks the others as dropped. Cost:
  // O(optional x placed).
  void match();
  // All that follow require that it is matched. Each pod once.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const TrialPod& pod : required) visit(pod);
    for (const TrialPod& pod : placed) visit(pod);
    for (const TrialPod& pod : optional) {
      if (pod.is_dropped) visit(pod);
    }
  }
  bool changes_anything() const;
};

// A step of the search: the pods that change their places in one trial, and the gain in the levels.
//
// A pod that changes its place; node none: it had, or then has, no node.
struct Change {
  PodIndex pod;
  Place from, to;
};

// The gain of a step, in the order of the levels; `worth` as SearchScope::worth. Greater is better for all of them:
// `wholeness` has the minimised levels with their sign changed. The last one is not a level: the additional idle
// capacity that the expected workload could use if all of it arrived.
struct Gain {
  std::int64_t worth = 0, unmoved = 0, seniority = 0;  // `unmoved`: work that moves no longer
  WholenessValues wholeness{};                         // zeros if the policy does not pack
  std::int64_t preference = 0, last_level = 0;
  double usable = 0;
  // The part of `preference` that comes from the preferred terms of other pods, as this part sees it: other parts may
  // know better.
  std::int64_t preferred_terms = 0;
  friend bool operator==(const Gain& a, const Gain& b) { return a.key() == b.key(); }
  friend auto operator<=>(const Gain& a, const Gain& b) { return a.key() <=> b.key(); }
  Gain& operator+=(const Gain& other);

 private:
  std::tuple<std::int64_t, std::int64_t, std::int64_t, WholenessValues, std::int64_t, std::int64_t, double> key()
      const {
    return {worth, unmoved, seniority, wholeness, preference, last_level, usable};
  }
};

struct Step {
  std::vector<Change> changes;
  Gain gain;
};

}  // namespace muster::local_search
