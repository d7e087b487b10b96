#include "solver/cells/budgets.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace muster::cells {

namespace {

using Amounts = std::vector<Amount>;  // of gpu, cpu and memory, then of the other resources that are bounded
using ByCell = std::vector<Amounts>;

// `whole` in parts proportional to `shares`, rounded down; what is left over goes to the first ones. Requires whole >=
// 0.
std::vector<Amount> proportional(Amount whole, const std::vector<double>& shares) {
  std::vector<Amount> parts(shares.size(), 0);
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  Amount left = whole;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double part = all > 0 ? shares[i] / all : 1.0 / static_cast<double>(shares.size());
    parts[i] = std::clamp<Amount>(static_cast<Amount>(static_cast<double>(whole) * part), 0, left);
    left -= parts[i];
  }
  for (std::size_t i = 0; i < shares.size() && left > 0; ++i) {
    const Amount more = all > 0 && shares[i] <= 0 ? 0 : std::min(left, whole / static_cast<Amount>(shares.size()) + 1);
    parts[i] += more;
    left -= more;
  }
  return parts;
}

// One kind of bound: limits of all pods, or quotas of what is not preemptible.
class QueueDivision {
 public:
  QueueDivision(const Problem& problem, const Dealing& dealing, bool of_quota)
      : problem_(problem),
        dealing_(dealing),
        of_quota_(of_quota),
        others_(of_quota ? std::vector<ResourceIndex>() : limited_resources(problem)) {
    const std::size_t count = kQueueResources + others_.size();
    bounds_ = bounds(count);
    used_.assign(problem.queues.size(), ByCell(dealing.size(), Amounts(count, 0)));
    granted_ = asked_ = parts_ = used_;
    left_.assign(problem.queues.size(), Amounts(count, 0));
    count_running();
    grant_waiting();
  }

  Amount part_of(QueueIndex queue, std::size_t cell, std::size_t r) const { return parts_[queue][cell][r]; }
  std::vector<OtherQueueResource> other_parts_of(QueueIndex queue, std::size_t cell) const {
    std::vector<OtherQueueResource> others;
    for (std::size_t i = 0; i < others_.size(); ++i) {
      if (bound_of(queue, kQueueResources + i) != kUnlimited)
        others.push_back({others_[i], kUnlimited, part_of(queue, cell, kQueueResources + i)});
    }
    return others;
  }

 private:
  static std::vector<ResourceIndex> limited_resources(const Problem& problem) {
    std::vector<ResourceIndex> resources;
    for (const OtherLimit& limit : problem.lists.other_limits) resources.push_back(limit.resource);
    std::ranges::sort(resources);
    resources.erase(std::unique(resources.begin(), resources.end()), resources.end());
    return resources;
  }

  Indexed<QueueIndex, Amounts> bounds(std::size_t count) const {
    Indexed<QueueIndex, Amounts> bounds(problem_.queues.size(), Amounts(count, kUnlimited));
    for (const QueueIndex queue : problem_.queues.indices())
      std::ranges::copy(of_quota_ ? problem_.queues[queue].quota : problem_.queues[queue].limit, bounds[queue].begin());
    for (std::size_t i = 0; i < others_.size(); ++i)
      for (const OtherLimit& limit : problem_.lists.other_limits)
        if (limit.resource == others_[i]) bounds[limit.queue][kQueueResources + i] = limit.limit;
    return bounds;
  }

  Amount bound_of(QueueIndex queue, std::size_t r) const { return bounds_[queue][r]; }
  std::size_t count() const { return kQueueResources + others_.size(); }
  bool counts(const Gang& gang) const { return !of_quota_ || !gang.preemptible; }

  // What a pod asks for that uses so much of gpu, cpu and memory.
  Amounts amounts_of(const PodClass& pod_class, const QueueAmounts& usage) const {
    Amounts amounts(usage.begin(), usage.end());
    for (const ResourceIndex other : others_) amounts.push_back(pod_class.request[other.value()]);
    return amounts;
  }

  static void add(Amounts& sum, const Amounts& more) {
    for (std::size_t r = 0; r < sum.size(); ++r) sum[r] += more[r];
  }

  void count_running() {
    for (const PodIndex index : problem_.pods.indices()) {
      const Pod& pod = problem_.pods[index];
      const Gang& gang = problem_.gangs[pod.gang];
      if (pod.status != PodStatus::kRunning || gang.queue.is_none() || !counts(gang)) continue;
      const PodClass& pod_class = problem_.class_of(index);
      const Amounts usage = amounts_of(pod_class, queue_usage(pod_class, problem_.class_of(pod.node)));
      for (const QueueIndex queue : problem_.queues[gang.queue].ancestors)
        add(used_[queue][dealing_.cell_of_node[pod.node].value()], usage);
    }
    for (const QueueIndex queue : problem_.queues.indices())
      for (std::size_t r = 0; r < count(); ++r) {
        if (bound_of(queue, r) == kUnlimited) continue;
        left_[queue][r] = bound_of(queue, r);
        for (const Amounts& used : used_[queue]) left_[queue][r] -= used[r];
        left_[queue][r] = std::max<Amount>(0, left_[queue][r]);
      }
  }

  bool has_room(const Gang& gang, const Amounts& asked) const {
    for (const QueueIndex queue : problem_.queues[gang.queue].ancestors)
      for (std::size_t r = 0; r < count(); ++r)
        if (asked[r] > 0 && bound_of(queue, r) != kUnlimited && asked[r] > left_[queue][r]) return false;
    return true;
  }

  // By priority, then by how long they have waited.
  void grant_waiting() {
    std::vector<GangIndex> order;
    for (const GangIndex gang : problem_.gangs.indices())
      if (!dealing_.cell_of_gang[gang].is_none() && !problem_.gangs[gang].queue.is_none() &&
          counts(problem_.gangs[gang]))
        order.push_back(gang);
    std::ranges::stable_sort(order, [&](GangIndex a, GangIndex b) {
      return std::tuple(problem_.gangs[b].priority, problem_.gangs[b].times.seniority) <
             std::tuple(problem_.gangs[a].priority, problem_.gangs[a].times.seniority);
    });
    for (const GangIndex index : order) {
      const Gang& gang = problem_.gangs[index];
      Amounts asked(count(), 0);
      for (const PodIndex pod : gang.pods) {
        if (problem_.pods[pod].status != PodStatus::kPending) continue;
        const PodClass& pod_class = problem_.class_of(pod);
        add(asked, amounts_of(pod_class, {pod_class.smallest_gpu_usage, pod_class.request[kCpu.value()],
                                          pod_class.request[kMemory.value()]}));
      }
      const std::size_t cell = dealing_.cell_of_gang[index].value();
      const bool is_granted = has_room(gang, asked);
      for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
        add(asked_[queue][cell], asked);
        if (!is_granted) continue;
        add(granted_[queue][cell], asked);
        for (std::size_t r = 0; r < count(); ++r) left_[queue][r] -= asked[r];
      }
    }
    for (const QueueIndex queue : problem_.queues.indices()) divide(queue);
  }

  void divide(QueueIndex queue) {
    for (std::size_t r = 0; r < count(); ++r) {
      std::vector<double> shares;
      for (std::size_t cell = 0; cell < dealing_.size(); ++cell)
        shares.push_back(static_cast<double>(asked_[queue][cell][r] + (of_quota_ ? used_[queue][cell][r] : 0)));
      const bool is_bounded = bound_of(queue, r) != kUnlimited;
      const std::vector<Amount> rest = proportional(is_bounded ? std::max<Amount>(0, left_[queue][r]) : 0, shares);
      for (std::size_t cell = 0; cell < dealing_.size(); ++cell)
        parts_[queue][cell][r] =
            is_bounded ? used_[queue][cell][r] + granted_[queue][cell][r] + rest[cell] : kUnlimited;
    }
  }

  const Problem& problem_;
  const Dealing& dealing_;
  bool of_quota_;
  std::vector<ResourceIndex> others_;
  Indexed<QueueIndex, Amounts> bounds_;  // kUnlimited
  Indexed<QueueIndex, ByCell> used_, granted_, asked_, parts_;
  Indexed<QueueIndex, Amounts> left_;
};

void divide_disruptions(const Problem& problem, const Dealing& dealing, Budgets& budgets) {
  const DisruptionBudgets& all = problem.disruption_budgets;
  budgets.disruptions.assign(dealing.size(), Indexed<DisruptionBudgetIndex, std::int64_t>(all.all().size()));
  if (all.empty()) return;
  std::vector<std::vector<double>> selected(all.all().size(), std::vector<double>(dealing.size(), 0.0));
  for (const PodIndex pod : problem.pods.indices())
    for (const DisruptionBudgetIndex budget : all.of(pod))
      ++selected[budget.value()][dealing.cell_of_node[problem.pods[pod].node].value()];
  for (const DisruptionBudgetIndex budget : all.all().indices()) {
    const std::vector<Amount> parts = proportional(all.all()[budget].allowed, selected[budget.value()]);
    for (std::size_t cell = 0; cell < dealing.size(); ++cell) budgets.disruptions[cell][budget] = parts[cell];
  }
}

}  // namespace

Budgets divide(const Problem& problem, const Dealing& dealing) {
  Budgets budgets;
  const QueueDivision limits(problem, dealing, false), quotas(problem, dealing, true);
  budgets.queues.assign(dealing.size(), Indexed<QueueIndex, Budgets::OfQueue>(problem.queues.size()));
  for (std::size_t cell = 0; cell < dealing.size(); ++cell)
    for (const QueueIndex queue : problem.queues.indices()) {
      budgets.queues[cell][queue].other_resources = limits.other_parts_of(queue, cell);
      for (std::size_t r = 0; r < kQueueResources; ++r) {
        budgets.queues[cell][queue].limit[r] = limits.part_of(queue, cell, r);
        budgets.queues[cell][queue].quota[r] = quotas.part_of(queue, cell, r);
      }
    }
  divide_disruptions(problem, dealing, budgets);
  if (const auto& most = problem.snapshot->policy.max_moves)
    budgets.moves = proportional(*most, std::vector<double>(dealing.size(), 1.0));
  return budgets;
}

}  // namespace muster::cells
