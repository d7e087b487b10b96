// Remedies that concern queues: limits and quotas of the gang's queue and of those above it.
#include <algorithm>
#include <array>

#include "model/base/saturating.h"
#include "model/explain/alike_victims.h"
#include "solver/remedies/remedy_search.h"

namespace muster::answers {
namespace {

using change::QueueAmountKind;
using change::QueueResourceKind;

constexpr std::array kResources = {QueueResourceKind::kGpu, QueueResourceKind::kCpu, QueueResourceKind::kMemory};
// What quotas and limits are raised by: GPUs, cores, GiB. Parts of a GPU, where some pod asks for a part.
constexpr QueueAmounts kWholeUnits = {1'000'000, 1'000, Amount{1} << 30};
constexpr Amount kPartOfGpu = 10'000;

// One amount that may be in the way.
struct Bound {
  std::string queue;
  QueueResourceKind resource = QueueResourceKind::kGpu;
  std::string other;                       // the name of another resource
  Amount amount = 0, used = 0, asked = 0;  // used as the plan leaves the cluster, asked for by the gang
};

void add_other_limits(const WaitingGang& gang, std::vector<Bound>& bounds) {
  const Problem& problem = gang.problem();
  for (const OtherLimitIndex index : problem.queues[gang.gang().queue].other_limits) {
    const OtherLimit& limit = problem.lists.other_limits[index];
    bounds.push_back({std::string(problem.queues[limit.queue].name), QueueResourceKind::kOther,
                      std::string(problem.resource_name(limit.resource)), limit.limit, gang.end().limited[index],
                      explain::asked_of(problem, gang.need(), limit.resource)});
  }
}

std::vector<Bound> bounds_of(const WaitingGang& gang, QueueAmountKind kind) {
  std::vector<Bound> bounds;
  if (gang.gang().queue.is_none()) return bounds;
  const QueueAmounts demand = explain::least_usage(gang.problem(), gang.need());
  for (const QueueIndex index : gang.problem().queues[gang.gang().queue].ancestors) {
    const Queue& queue = gang.problem().queues[index];
    for (std::size_t resource = 0; resource < kQueueResources; ++resource) {
      const Amount amount = kind == QueueAmountKind::kQuota ? queue.quota[resource] : queue.limit[resource];
      if (amount != kUnlimited)
        bounds.push_back({std::string(queue.name),
                          kResources[resource],
                          {},
                          amount,
                          gang.end().usage[index][resource],
                          demand[resource]});
    }
  }
  if (kind == QueueAmountKind::kLimit) add_other_limits(gang, bounds);
  return bounds;
}

Amount whole_unit_of(QueueResourceKind resource) {
  return resource == QueueResourceKind::kOther ? 1 : kWholeUnits[static_cast<std::size_t>(resource)];
}

Amount unit_of(const WaitingGang& gang, QueueResourceKind resource) {
  const bool has_parts = std::ranges::any_of(gang.snapshot().pod_specs, [](const PodSpec& spec) {
    return spec.gpu.kind == GpuRequestKind::kFraction || spec.gpu.kind == GpuRequestKind::kMemory;
  });
  return resource == QueueResourceKind::kGpu && has_parts ? kPartOfGpu : whole_unit_of(resource);
}

change::Change set_to(const Bound& bound, QueueAmountKind kind, Amount amount) {
  return change::SetQueue{bound.queue, bound.resource, kind, amount, bound.other};
}

// First which of them must rise at all; then each of these as little as the others, raised without end, allow; then all
// of them at once.
Remedies raise(RemedyKind remedy, const WaitingGang& gang, Admission& admission, QueueAmountKind kind) {
  const std::vector<Bound> bounds = bounds_of(gang, kind);
  if (bounds.empty()) return {};
  const auto unlimited = [&](const std::vector<std::size_t>& chosen) {
    Changes changes;
    for (const std::size_t item : chosen) changes.push_back(set_to(bounds[item], kind, kUnlimited));
    return changes;
  };
  const auto needed = smallest_set(
      std::vector<std::int64_t>(bounds.size(), 1), bounds.size(),
      [&](const auto& chosen) { return admission.test(unlimited(chosen)); }, Depth::kThorough);
  if (!needed) return {};
  Changes changes = unlimited(needed->items);
  Remedy found{remedy, {}, 0, needed->is_smallest && admission.refusal_proven(), needed->with};
  for (std::size_t i = 0; i < needed->items.size(); ++i) {
    const Bound& bound = bounds[needed->items[i]];
    const Amount unit = unit_of(gang, bound.resource);
    const Amount missing = saturating_subtract(saturating_add(bound.used, bound.asked), bound.amount);
    const std::int64_t guess = std::max<std::int64_t>(1, (missing + unit - 1) / unit);
    const auto with = [&](std::int64_t units) {
      Changes all = changes;
      all[i] = set_to(bound, kind, saturating_add(bound.amount, saturating_multiply(units, unit)));
      return all;
    };
    constexpr std::int64_t kMost = std::int64_t{1} << 24;  // units: more than any cluster has
    const auto least = least_count(remedy, {1, std::min(guess, kMost), kMost}, admission, with);
    found.is_smallest = found.is_smallest && least && least->is_smallest;
    if (!least) continue;
    changes = least->changes;
    found.with = least->with;
    found.size += std::max<std::int64_t>(1, saturating_multiply(least->size, unit) / whole_unit_of(bound.resource));
  }
  found.changes = std::move(changes);
  found.size = std::max<std::int64_t>(1, found.size);
  return {found};
}

}  // namespace

Remedies raise_limits(const WaitingGang& gang, Admission& admission) {
  return raise(RemedyKind::kRaiseLimit, gang, admission, QueueAmountKind::kLimit);
}

Remedies raise_quotas(const WaitingGang& gang, Admission& admission) {
  return raise(RemedyKind::kRaiseQuota, gang, admission, QueueAmountKind::kQuota);
}

}  // namespace muster::answers
