#include "heuristics/greedy/initial_work.h"

#include <algorithm>

#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/base/saturating.h"
#include "model/objective/level_values.h"

namespace muster::greedy {

namespace {

void add(WorkPair& sum, const WorkPair& work) {
  for (std::size_t side = 0; side < 2; ++side) sum[side] = saturating_add(sum[side], work[side]);
}

bool are_within(const Problem& problem, const FairShares& shares, const Indexed<QueueIndex, WorkPair>& of_leaves) {
  ShareRoom room(problem, shares.share_work);
  for (const QueueIndex queue : problem.queues.indices()) {
    if (!room.add_whole(queue, of_leaves[queue])) return false;
  }
  return true;
}

}  // namespace

WorkPair present_work(const ClusterState& state, GangIndex gang) {
  WorkPair sum{};
  if (state.version(gang) == 0 || !is_satisfied(state, gang)) return sum;  // none of its pods has ever been present
  for (const PodIndex pod : state.problem().gangs[gang].pods) {
    if (state.is_present(pod)) add(sum, work_pair(state.problem().class_of(pod)));
  }
  return sum;
}

InitialWork::InitialWork(const Problem& problem, const FairShares& shares, const ClusterState& before)
    : problem_(problem), before_(before), waiting_gangs_(WaitingGangs::of_pending(before, waiting_)) {
  Indexed<QueueIndex, WorkPair> of_leaves(problem.queues.size(), WorkPair{});
  for (const GangIndex index : problem.gangs.indices()) {
    if (before.version(index) == 0) continue;  // no pod of it is present
    const Gang& gang = problem.gangs[index];
    if (!fit::queue_exists(gang)) continue;
    const WorkPair work = present_work(before, index);
    if (work == WorkPair{}) continue;
    add(present_[{priority_rank(problem, gang.priority), gang.queue}], work);
    add(of_leaves[gang.queue], work);
  }
  is_within_shares_ = are_within(problem, shares, of_leaves);
  if (waiting_.size() > 1 || !is_within_shares_) return;
  if (waiting_.size() == 1) {
    const Gang& gang = problem.gangs[waiting_.front()];
    if (!is_one_unit(waiting_.front())) return;
    if (fit::queue_exists(gang)) {
      for (const PodIndex pod : gang.pods) add(of_leaves[gang.queue], work_pair(problem.class_of(pod)));
    }
  }
  is_one_order_enough_ = are_within(problem, shares, of_leaves);
}

bool InitialWork::is_one_unit(GangIndex index) const {
  const Gang& gang = problem_.gangs[index];
  return gang.groups.size() == 1 && problem_.groups[gang.root].minimum == std::ssize(gang.pods) &&
         std::ranges::all_of(gang.pods, [&](PodIndex pod) {
           return fit::is_pending(problem_.pods[pod]) &&
                  problem_.pods[pod].pod_class == problem_.pods[gang.pods.front()].pod_class;
         });
}

}  // namespace muster::greedy
