#include "solver/answers/capacity/loss.h"

#include <algorithm>
#include <set>

#include "model/base/saturating.h"
#include "model/problem/eviction_loss.h"

namespace muster::answers {

Loss loss_of(const Run& run) {
  Loss loss;
  std::set<GangIndex> gangs;
  const Plan& plan = run.solution.plan;
  for (const Eviction& eviction : plan.evictions) {
    const auto placed = std::ranges::lower_bound(plan.placements, eviction.pod, {}, &Placement::pod);
    const bool is_moved = placed != plan.placements.end() && placed->pod == eviction.pod;
    std::int64_t& work = is_moved ? loss.moved_work : loss.evicted_work;
    work = saturating_add(work, muster::loss_of(run.problem, eviction.pod));
    ++(is_moved ? loss.moved_pods : loss.evicted_pods);
    if (!is_moved) gangs.insert(run.problem.pods[eviction.pod].gang);
  }
  loss.evicted_gangs = static_cast<std::int64_t>(gangs.size());
  return loss;
}

}  // namespace muster::answers
