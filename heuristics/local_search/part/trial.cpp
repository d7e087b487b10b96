#include "heuristics/local_search/part/trial.h"

#include <algorithm>

namespace muster::local_search {

void Trial::match() {
  for (TrialPod& destroyed : optional) {
    const auto again = std::ranges::find(placed, destroyed.pod, &TrialPod::pod);
    destroyed.is_dropped = again == placed.end();
    if (destroyed.is_dropped) continue;
    again->from = destroyed.from;
    again->from_devices = destroyed.from_devices;
  }
}

bool Trial::changes_anything() const {
  return !std::ranges::all_of(required, &TrialPod::stays) || !std::ranges::all_of(placed, &TrialPod::stays) ||
         std::ranges::any_of(optional, &TrialPod::is_dropped);
}

}  // namespace muster::local_search
