#include "heuristics/local_search/trial.h"

#include <algorithm>
#include <cstddef>

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

Gain& Gain::operator+=(const Gain& other) {
  worth += other.worth;
  unmoved += other.unmoved;
  seniority += other.seniority;
  for (std::size_t i = 0; i < wholeness.size(); ++i) wholeness[i] += other.wholeness[i];
  preference += other.preference;
  last_level += other.last_level;
  usable += other.usable;
  preferred_terms += other.preferred_terms;
  return *this;
}

}  // namespace muster::local_search
