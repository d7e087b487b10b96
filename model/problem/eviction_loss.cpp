#include "model/problem/eviction_loss.h"

#include <algorithm>
#include <limits>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/problem/gang_tree.h"

namespace muster {

std::int64_t loss_of(const Problem& problem, PodIndex index) {
  const Pod& pod = problem.pods[index];
  MUSTER_REQUIRE(pod.status == PodStatus::kRunning);
  const std::int64_t seconds = std::min(pod.run_seconds, problem.gangs[pod.gang].times.unsaved_seconds);
  return saturating_multiply(problem.pod_classes[pod.pod_class].work, std::max<std::int64_t>(1, seconds));
}

std::int64_t most_loss_for(const Problem& problem, GangIndex index, double price) {
  MUSTER_REQUIRE(price >= 0);
  const Gang& gang = problem.gangs[index];
  const Work work = least_sum(problem, gang, [&](PodIndex pod) { return problem.class_of(pod).work; });
  const double most = price * static_cast<double>(saturating_multiply(work, gang.times.waited_seconds));
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return most >= static_cast<double>(kMost) ? kMost : static_cast<std::int64_t>(most);
}

}  // namespace muster
