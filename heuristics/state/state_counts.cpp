#include "heuristics/state/state_counts.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "model/base/tuning.h"

namespace muster {

namespace {

std::uint64_t key_of(AntiAffinityIndex term, DomainIndex domain) {
  return (std::uint64_t{term.value()} << 32U) | domain.value();
}

}  // namespace

std::size_t AntiAffinityCounts::slot(std::uint64_t key) const {
  const std::size_t last = cells_.size() - 1;
  // 2^64 / golden ratio (Knuth, multiplicative hashing); the upper half of the product is the mixed one.
  std::size_t at = ((key * 0x9E37'79B9'7F4A'7C15U) >> 32U) & last;
  while (cells_[at].key != key && cells_[at].key != kNone) at = (at + 1) & last;
  return at;
}

AntiAffinityCounts::Cell AntiAffinityCounts::cell(AntiAffinityIndex term, DomainIndex domain) const {
  return cells_.empty() ? Cell() : cells_[slot(key_of(term, domain))];
}

AntiAffinityCounts::Cell& AntiAffinityCounts::made_cell(std::uint64_t key) {
  if (2 * (used_ + 1) > cells_.size()) grow();
  Cell& cell = cells_[slot(key)];
  if (cell.key == kNone) {
    cell.key = key;
    ++used_;
  }
  return cell;
}

void AntiAffinityCounts::grow() {
  std::vector<Cell> larger(cells_.empty() ? 16 : 2 * cells_.size());
  std::swap(cells_, larger);
  for (const Cell& cell : larger) {
    if (cell.key != kNone) cells_[slot(cell.key)] = cell;
  }
}

void AntiAffinityCounts::count(const Problem& problem, const PodClass& pod_class, NodeIndex node, std::int32_t by) {
  const auto count = [&](const std::vector<AntiAffinityIndex>& terms, std::int32_t Cell::*pods) {
    for (const AntiAffinityIndex term : terms) {
      const DomainIndex domain = problem.inter_pod.anti_affinities[term].domain_of[node];
      if (!domain.is_none()) made_cell(key_of(term, domain)).*pods += by;
    }
  };
  count(pod_class.anti_affinity_owned, &Cell::owners);
  count(pod_class.anti_affinity_matched, &Cell::matched);
}

QueueUsage::QueueUsage(const Problem& problem)
    : problem_(&problem),
      usage_(problem.queues.size(), QueueAmounts{}),
      non_preemptible_usage_(problem.queues.size(), QueueAmounts{}),
      limited_usage_(problem.lists.other_limits.size(), 0),
      buckets_(std::clamp<std::size_t>(problem.objective.priorities.size(), 1, kTuning.heuristics.priorities)) {
  for (const QueueIndex queue : problem.queues.indices())
    non_preemptible_usage_[queue] = problem.queues[queue].core_usage;
  usage_by_priority_.assign(problem.queues.size() * buckets_, QueueAmounts{});
}

void QueueUsage::count(const Gang& gang, const PodClass& pod_class, NodeIndex node, std::int32_t by) {
  if (gang.queue.is_none()) return;
  const QueueAmounts used = queue_usage(pod_class, problem_->class_of(node));
  const std::size_t bucket = bucket_of(gang.priority);
  for (const QueueIndex queue : problem_->queues[gang.queue].ancestors) {
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      const Amount change = by * used[r];
      usage_[queue][r] += change;
      usage_by_priority_[queue.value() * buckets_ + bucket][r] += change;
      if (!gang.preemptible) non_preemptible_usage_[queue][r] += change;
    }
  }
  for (const OtherLimitIndex limit : problem_->queues[gang.queue].other_limits)
    limited_usage_[limit] += by * pod_class.request[problem_->lists.other_limits[limit].resource.value()];
}

std::size_t QueueUsage::bucket_of(std::int32_t priority) const {
  const auto& all = problem_->objective.priorities;  // highest first
  if (buckets_ <= 1) return 0;
  const auto rank = static_cast<std::size_t>(std::ranges::lower_bound(all, priority, std::greater<>{}) - all.begin());
  return std::min(rank, all.empty() ? 0 : all.size() - 1) * buckets_ / std::max<std::size_t>(1, all.size());
}

QueueAmounts QueueUsage::usage_from(QueueIndex queue, std::int32_t priority) const {
  QueueAmounts sum{};
  for (std::size_t bucket = 0; bucket <= bucket_of(priority); ++bucket) {
    for (std::size_t r = 0; r < kQueueResources; ++r)
      sum[r] += usage_by_priority_[queue.value() * buckets_ + bucket][r];
  }
  return sum;
}

}  // namespace muster
