#include "solver/answers/shadow_prices.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "model/base/saturating.h"
#include "solver/answers/node_kind.h"

namespace muster::answers {
namespace {

constexpr MicroGpu kOneGpu = 1'000'000;

struct Totals {
  std::int64_t gangs = 0;
  MicroGpu gpus = 0;
};

Totals totals_of(const Run& run) {
  Totals totals;
  std::int64_t waiting = 0;
  for (const explain::GangReport& report : run.solution.report.gangs) {
    if (!run.admits(report.gang)) ++waiting;
  }
  totals.gangs = -waiting;
  for (const explain::QueueReport& queue : run.solution.report.queues) {
    if (run.problem.queues[queue.queue].parent.is_none()) totals.gpus += queue.allocated[kQueueGpu];
  }
  return totals;
}

std::vector<change::Change> node_changes(const Run& run) {
  std::map<std::string, std::pair<std::int64_t, std::string>> kinds;  // -> how many, the first
  for (const SnapshotNode& node : run.snapshot->nodes) {
    auto& kind = kinds.try_emplace(node_kind(node), 0, std::string(node.name)).first->second;
    ++kind.first;
  }
  std::vector<std::pair<std::int64_t, std::string>> ordered;
  for (auto& [key, kind] : kinds) ordered.push_back(std::move(kind));
  std::ranges::stable_sort(ordered, std::greater<>(), [](const auto& kind) { return kind.first; });
  std::vector<change::Change> changes;
  for (const auto& [count, like] : ordered) changes.emplace_back(change::AddNodes{like, 1});
  return changes;
}

std::vector<change::Change> queue_changes(const Run& run) {
  std::map<QueueIndex, std::int64_t> waiting;
  for (const explain::GangReport& report : run.solution.report.gangs) {
    const QueueIndex leaf = run.problem.gangs[report.gang].queue;
    if (run.admits(report.gang) || leaf.is_none()) continue;
    for (const QueueIndex queue : run.problem.queues[leaf].ancestors) ++waiting[queue];
  }
  std::vector<std::pair<std::int64_t, QueueIndex>> ordered;
  for (const auto& [queue, gangs] : waiting) ordered.emplace_back(gangs, queue);
  std::ranges::stable_sort(ordered, std::greater<>(), [](const auto& entry) { return entry.first; });
  std::vector<change::Change> changes;
  for (const auto& [gangs, index] : ordered) {
    const Queue& queue = run.problem.queues[index];
    const auto raise = [&](Amount amount, change::QueueAmountKind kind) {
      if (amount == kUnlimited) return;
      changes.emplace_back(change::SetQueue{std::string(queue.name), change::QueueResourceKind::kGpu, kind,
                                            saturating_add(amount, kOneGpu)});
    };
    raise(queue.limit[kQueueGpu], change::QueueAmountKind::kLimit);
    raise(queue.quota[kQueueGpu], change::QueueAmountKind::kQuota);
  }
  return changes;
}

}  // namespace

ShadowPrices shadow_prices(Experiment& experiment, const Run& base, std::int64_t most_tests) {
  ShadowPrices found;
  // A plan that had less time than the others cannot be compared with them.
  const auto is_over = [&] {
    const portfolio::Clock::time_point end = experiment.options().end;
    return end != portfolio::Clock::time_point::max() && portfolio::Clock::now() + experiment.options().budget > end;
  };
  Totals before = totals_of(base);
  bool is_proven = base.is_choice_proven();
  if (!is_proven && !is_over()) {
    if (const auto again = experiment.solve({})) {
      before = totals_of(**again);
      is_proven = (*again)->is_choice_proven();
    }
  }
  std::vector<change::Change> changes = node_changes(base);
  for (change::Change& change : queue_changes(base)) changes.push_back(std::move(change));
  for (change::Change& change : changes) {
    if (is_over() || std::ssize(found.prices) >= most_tests) {
      found.left_out.push_back(std::move(change));
      continue;
    }
    const auto run = experiment.solve(std::span(&change, 1));
    if (!run) continue;
    const Totals after = totals_of(**run);
    const bool is_better = std::pair(after.gpus, after.gangs) > std::pair(before.gpus, before.gangs);
    found.prices.push_back({std::move(change), is_better ? after.gangs - before.gangs : 0,
                            is_better ? after.gpus - before.gpus : 0, is_proven && (*run)->is_choice_proven()});
  }
  std::ranges::stable_sort(found.prices, std::greater<>(),
                           [](const ShadowPrice& price) { return std::pair(price.gpus, price.gangs); });
  return found;
}

}  // namespace muster::answers
