// The levels that are counted by queue: work within the fair shares, and within the quotas.
#include <algorithm>
#include <functional>
#include <numeric>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/objective/level_values.h"

namespace muster {
namespace {

// Whether a short search fills the capacity, so that no long one is needed. The largest items that still fit are added
// until little is left; then the other items are searched for some that fill exactly the rest. False proves nothing.
// `items`: largest first.
bool fills_in_short(const std::vector<CountedItem>& items, Work capacity, Work divisor) {
  const Work searched = std::min(capacity, saturating_multiply(divisor, kTuning.bounds.steps));
  Work rest = capacity;
  std::vector<CountedItem> others;
  for (const CountedItem& one : items) {
    const std::int64_t taken = std::min(one.count, std::max<Work>(rest - searched, 0) / one.item);
    rest -= taken * one.item;
    if (taken < one.count) others.push_back({one.item, one.count - taken});
  }
  SubsetSums sums(rest, divisor);
  return std::ranges::any_of(others, [&](const CountedItem& one) {
    sums.add(one.item, one.count);
    return sums.is_full();
  });
}

// Children before their parents.
std::vector<QueueIndex> bottom_up(const Problem& problem) {
  std::vector<QueueIndex> order = root_queues(problem);
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::vector<QueueIndex>& children = problem.queues[order[at]].children;
    order.insert(order.end(), children.begin(), children.end());
  }
  std::ranges::reverse(order);
  return order;
}

}  // namespace

std::vector<Work> best_sums_by_rank(std::vector<RankedItem> items, Work capacity, std::size_t ranks) {
  std::ranges::stable_sort(items, {}, &RankedItem::rank);
  MUSTER_REQUIRE(items.empty() || items.back().rank < ranks);
  Work divisor = 0;
  for (const RankedItem& one : items) divisor = std::gcd(divisor, one.counted.item);
  if (divisor == 0) return std::vector<Work>(ranks, 0);
  const Work reachable = capacity / divisor * divisor;
  std::vector<Work> values;
  SubsetSums sums(capacity, divisor);
  std::vector<CountedItem> known, fresh;  // all so far, and those that `sums` has not seen
  Work total = 0, best = 0;
  std::size_t next = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t first = next;
    for (; next < items.size() && items[next].rank == rank; ++next) {
      const CountedItem& counted = items[next].counted;
      known.push_back(counted);
      fresh.push_back(counted);
      total = saturating_add(total, saturating_multiply(counted.item, counted.count));
    }
    if (next > first && best < reachable) {
      known = count_items(std::move(known));
      if (total <= capacity) {
        best = total;
      } else if (fills_in_short(known, reachable, divisor)) {
        best = reachable;
      } else {
        for (const CountedItem& one : count_items(std::exchange(fresh, {}))) sums.add(one.item, one.count);
        best = sums.best();
      }
    }
    values.push_back(best);
  }
  return values;
}

Work forest_value(const Problem& problem, const Indexed<QueueIndex, WorkByKind>& of_leaves,
                  const Indexed<QueueIndex, std::array<Work, 2>>& bounds) {
  Indexed<QueueIndex, WorkByKind> values(problem.queues.size(), WorkByKind{});
  Work sum = 0;
  for (const QueueIndex index : bottom_up(problem)) {
    const Queue& queue = problem.queues[index];
    for (std::size_t kind = 0; kind < 2; ++kind) {
      const Work value = std::min(queue.is_leaf() ? of_leaves[index][kind] : values[index][kind], bounds[index][kind]);
      Work& above = queue.parent.is_none() ? sum : values[queue.parent][kind];
      above = saturating_add(above, value);
    }
  }
  return sum;
}

std::vector<Work> share_values(const Problem& problem, const FairShares& shares, QueueItems items) {
  const std::size_t ranks = problem.objective.priorities.size();
  std::vector<Indexed<QueueIndex, WorkByKind>> of_rank(
      ranks, Indexed<QueueIndex, WorkByKind>(problem.queues.size(), WorkByKind{}));
  for (const QueueIndex queue : problem.queues.indices()) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      const std::vector<Work> values =
          best_sums_by_rank(std::move(items[queue][kind]), shares.share_work[queue][kind], ranks);
      for (std::size_t rank = 0; rank < ranks; ++rank) of_rank[rank][queue][kind] = values[rank];
    }
  }
  std::vector<Work> values;
  for (const Indexed<QueueIndex, WorkByKind>& leaves : of_rank)
    values.push_back(forest_value(problem, leaves, shares.share_work));
  return values;
}

std::vector<Work> quota_values(const Problem& problem, const FairShares& shares, const QueueWork& work) {
  std::vector<Work> values;
  Indexed<QueueIndex, WorkByKind> so_far(problem.queues.size(), WorkByKind{});
  for (const Indexed<QueueIndex, WorkByKind>& leaves : work.of_rank) {
    for (const QueueIndex queue : problem.queues.indices()) {
      for (std::size_t kind = 0; kind < 2; ++kind) {
        so_far[queue][kind] = saturating_add(so_far[queue][kind], leaves[queue][kind]);
      }
    }
    values.push_back(forest_value(problem, so_far, shares.quota_work));
  }
  return values;
}

}  // namespace muster
