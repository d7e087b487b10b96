#include "model/snapshot/plan.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "model/base/require.h"

namespace muster {

void normalise(Plan& plan) {
  for (Placement& placement : plan.placements) {
    std::ranges::sort(placement.devices);
    std::ranges::sort(placement.after);
  }
  std::ranges::sort(plan.placements, {}, &Placement::pod);
  std::ranges::sort(plan.evictions, {}, &Eviction::pod);
}

std::vector<std::size_t> binding_order(const Plan& plan, const Snapshot& snapshot) {
  MUSTER_REQUIRE_SLOW(std::ranges::is_sorted(plan.placements, {}, &Placement::pod));
  MUSTER_REQUIRE_SLOW(std::ranges::is_sorted(plan.evictions, {}, &Eviction::pod));
  std::vector<std::size_t> order(plan.placements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto waits = [&](const Placement& placement) {
    return !placement.after.empty() || std::ranges::binary_search(plan.evictions, placement.pod, {}, &Eviction::pod);
  };
  std::ranges::sort(order, {}, [&](std::size_t i) {
    const Placement& placement = plan.placements[i];
    return std::tuple(waits(placement), placement.step, snapshot.pods[placement.pod.value()].name);
  });
  return order;
}

}  // namespace muster
