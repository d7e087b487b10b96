#include "model/objective/missing_pods.h"

#include <algorithm>

#include "model/base/saturating.h"
#include "model/objective/level_values.h"
#include "model/problem/eviction_loss.h"

namespace muster {
namespace {

// The missing amount if `possible` could be there and `there` is. Unknown for sums that saturate.
std::int64_t missing_of(std::int64_t possible, std::int64_t there) {
  return possible == kLargest ? kLargest : std::max<std::int64_t>(0, saturating_subtract(possible, there));
}

}  // namespace

PossibleSums::PossibleSums(const Problem& problem, const Possibilities& possibilities)
    : work(problem.objective.priorities.size(), 0) {
  for (const Gang& gang : problem.gangs) {
    const std::size_t rank = gang.rank;
    if (!gang.queue_is_leaf || rank == work.size()) continue;
    for (const PodIndex pod : gang.pods) {
      if (!possibilities.may_be_present(pod)) continue;
      work[rank] = saturating_add(work[rank], problem.pods[pod].weighted_work);
      if (possibilities.may_be_placed(pod)) seniority = saturating_add(seniority, seniority_of(problem, pod));
    }
  }
}

MissingPods::MissingPods(const Problem& problem, const Possibilities& possibilities, const PossibleSums& sums,
                         const Levels& levels)
    : problem_(problem), possibilities_(possibilities) {
  const std::size_t ranks = sums.work.size();
  const std::vector<Work> work = values_of_kind(problem, levels, LevelKind::kWork);
  Work before = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Work so_far = work[rank];
    work_.push_back(so_far == kLargest ? kLargest : missing_of(sums.work[rank], so_far - before));
    before = so_far;
  }
  evicted_ = values_of_kind(problem, levels, LevelKind::kEvicted).front();
  moved_ = values_of_kind(problem, levels, LevelKind::kMoved).front();
  seniority_ = missing_of(sums.seniority, values_of_kind(problem, levels, LevelKind::kSeniority).front());
}

bool MissingPods::goes_uncounted(const Gang& gang) const {
  return gang.stale && problem_.snapshot->policy.actions.stale;
}

std::int64_t MissingPods::evicted_by(PodIndex index) const {
  const Pod& pod = problem_.pods[index];
  if (goes_uncounted(problem_.gangs[pod.gang])) return 0;
  return evicted_value(pod);
}

MissingPods::Cost MissingPods::cost_of(PodIndex index) const {
  const Pod& pod = problem_.pods[index];
  const Gang& gang = problem_.gangs[pod.gang];
  Cost cost;
  cost.runs = pod.status == PodStatus::kRunning;
  cost.rank = gang.queue_is_leaf ? gang.rank : work_.size();
  cost.work = cost.rank < work_.size() ? pod.weighted_work : 0;
  cost.other = cost.runs ? evicted_by(index) : seniority_of(problem_, index);
  return cost;
}

bool MissingPods::is_possible(const Cost& cost) const {
  if (cost.rank < work_.size() && cost.work > work_[cost.rank]) return false;
  return cost.other <= (cost.runs ? evicted_ : seniority_);
}

bool MissingPods::may_be_evicted(PodIndex index) const {
  const Pod& pod = problem_.pods[index];
  return pod.status == PodStatus::kRunning && possibilities_.may_leave(problem_.gangs[pod.gang]) &&
         is_possible(cost_of(index));
}

bool MissingPods::may_be_moved(PodIndex index) const {
  return problem_.pods[index].weighted_work <= moved_ && possibilities_.may_be_moved(index);
}

MostMissing::MostMissing(const MissingPods& missing)
    : missing_(missing), by_seniority_(missing.seniority_), by_evicted_(std::max<std::int64_t>(0, missing.evicted_)) {
  for (const Work work : missing.work_) by_work_.emplace_back(work);
}

void MostMissing::add(const MissingPods::Cost& cost, std::int64_t profit, std::int64_t count) {
  if (profit <= 0 || !missing_.is_possible(cost)) return;
  if (cost.rank < by_work_.size())
    by_work_[cost.rank].add({cost.work, profit, count});
  else
    of_no_rank_ = saturating_add(of_no_rank_, saturating_multiply(profit, count));
  (cost.runs ? by_evicted_ : by_seniority_).add({cost.other, profit, count});
}

std::int64_t MostMissing::profit() const {
  std::int64_t by_work = of_no_rank_;
  for (const FractionalKnapsack& of_rank : by_work_) by_work = saturating_add(by_work, of_rank.profit());
  return std::min(by_work, saturating_add(by_seniority_.profit(), by_evicted_.profit()));
}

}  // namespace muster
