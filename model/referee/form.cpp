// Rules Plan, Action and QueueExists: whether the plan can be read at all, and does only what it may.
#include <algorithm>
#include <functional>
#include <utility>

#include "model/base/words.h"
#include "model/referee/case.h"

namespace muster::referee {
namespace {

template <class I>
bool ascends_within(const std::vector<I>& list, std::size_t size) {
  const bool ascends = std::ranges::adjacent_find(list, std::greater_equal{}) == list.end();
  return ascends && (list.empty() || list.back().value() < size);
}

std::string position_text(PodIndex pod) { return "pod at position " + std::to_string(pod.value()); }

// Devices exist, differ, and stand in ascending order.
void check_device_list(const Snapshot& snapshot, const Placement& placement, std::vector<Violation>& broken) {
  const SnapshotNode& node = snapshot.nodes[placement.node.value()];
  const bool ascends = std::ranges::adjacent_find(placement.devices, std::greater_equal{}) == placement.devices.end();
  if (ascends &&
      (placement.devices.empty() || (placement.devices.front() >= 0 && placement.devices.back() < node.gpu_count)))
    return;
  const std::string subject(snapshot.pods[placement.pod.value()].name);
  for (const std::int32_t device : placement.devices) {
    if (device >= 0 && device < node.gpu_count) continue;
    broken.push_back({Rule::kDevices, subject,
                      "device " + std::to_string(device) + " does not exist on node \"" + std::string(node.name) +
                          "\": it has " + std::to_string(node.gpu_count)});
  }
  std::vector<std::int32_t> sorted = placement.devices;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) {
    broken.push_back({Rule::kDevices, subject, "its devices are not distinct"});
  } else if (sorted != placement.devices) {
    broken.push_back({Rule::kPlan, subject, "its devices are not in ascending order"});
  }
}

void check_placement_form(const Snapshot& snapshot, const Placement& placement, std::vector<Violation>& broken) {
  const auto object = [&](Rule rule, std::string message) {
    broken.push_back({rule, std::string(snapshot.pods[placement.pod.value()].name), std::move(message)});
  };
  if (!ascends_within(placement.after, snapshot.pods.size())) {
    object(Rule::kPlan, "its list `after` must contain existing pods in ascending order without duplicates");
  }
  if (placement.node.value() >= snapshot.nodes.size()) {
    object(Rule::kNode, "its node does not exist");
  } else {
    check_device_list(snapshot, placement, broken);
  }
}

template <class Entry>
void check_order(const std::vector<Entry>& entries, std::string_view list, std::size_t pods,
                 std::vector<Violation>& broken) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].pod.value() >= pods) {
      broken.push_back({Rule::kPlan, position_text(entries[i].pod), std::string(list) + ": the pod does not exist"});
    } else if (i > 0 && entries[i - 1].pod >= entries[i].pod) {
      broken.push_back({Rule::kPlan, position_text(entries[i].pod),
                        std::string(list) + ": pods must be in ascending order without duplicates"});
    }
  }
}

}  // namespace

std::vector<Violation> broken_form(const Snapshot& snapshot, const Problem& problem, const Plan& plan) {
  std::vector<Violation> broken;
  check_order(plan.placements, "placements", snapshot.pods.size(), broken);
  check_order(plan.evictions, "evictions", snapshot.pods.size(), broken);
  if (!broken.empty()) return broken;
  for (const Placement& placement : plan.placements) check_placement_form(snapshot, placement, broken);
  for (const Eviction& eviction : plan.evictions) {
    if (eviction.for_gang.is_none() || eviction.for_gang.value() < problem.gangs.size()) continue;
    broken.push_back(
        {Rule::kPlan, std::string(snapshot.pods[eviction.pod.value()].name), "the gang in its `for` does not exist"});
  }
  return broken;
}

void check_plan_form(Case& c) {
  for (const Placement& placement : c.plan.placements) {
    if (c.is_new(placement.pod) || c.is_moved(placement.pod)) continue;
    const bool gated = c.pod(placement.pod).status == PodStatus::kGated;
    c.object(
        Rule::kPlan, c.pod(placement.pod).name,
        gated ? "it is gated and must not be placed" : "it is placed, but is neither pending nor moved in this plan");
  }
}

std::string pods_are(std::int64_t count) { return counted(count, "pod") + (count == 1 ? " is" : " are"); }

void check_actions(Case& c) {
  const Actions& actions = c.snapshot.policy.actions;
  if (!actions.place && !c.plan.placements.empty()) {
    c.object(Rule::kAction, "place",
             "the policy does not allow it, but " + pods_are(std::ssize(c.plan.placements)) + " placed");
  }
  const auto check = [&c](EvictionReason reason, bool allowed, std::string_view name) {
    const auto count = std::ranges::count(c.plan.evictions, reason, &Eviction::reason);
    if (allowed || count == 0) return;
    c.object(Rule::kAction, name, "the policy does not allow it, but " + pods_are(count) + " evicted for this reason");
  };
  check(EvictionReason::kPreempt, actions.preempt, "preempt");
  check(EvictionReason::kReclaim, actions.reclaim, "reclaim");
  check(EvictionReason::kConsolidate, actions.consolidate, "consolidate");
  check(EvictionReason::kStale, actions.stale, "stale");
}

void check_queue_exists(Case& c) {
  for (const GangIndex index : c.placed_gangs) {
    const Gang& gang = c.problem.gangs[index];
    if (gang.queue.is_none()) {
      c.object(Rule::kQueueExists, gang.name, "it is placed, but its queue does not exist");
    } else if (!c.problem.queues[gang.queue].is_leaf()) {
      c.object(
          Rule::kQueueExists, gang.name,
          "it is placed, but its queue \"" + std::string(c.problem.queues[gang.queue].name) + "\" has queues below it");
    }
  }
}

}  // namespace muster::referee
