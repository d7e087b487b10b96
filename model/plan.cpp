#include "model/plan.h"

#include <algorithm>

namespace muster {

void normalise(Plan& plan) {
  for (Placement& placement : plan.placements) {
    std::ranges::sort(placement.devices);
    std::ranges::sort(placement.after);
  }
  std::ranges::sort(plan.placements, {}, &Placement::pod);
  std::ranges::sort(plan.evictions, {}, &Eviction::pod);
}

}  // namespace muster
