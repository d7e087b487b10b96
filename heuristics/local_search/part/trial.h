// One trial of the search: the pods that are destroyed, and the places where they and waiting pods are repaired.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/state/device_list.h"
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

}  // namespace muster::local_search
