#include "model/build/repair_snapshot.h"

#include <unordered_map>
#include <vector>

#include "model/base/require.h"
#include "model/build/repair_parts.h"
#include "model/build/stages.h"

namespace muster {
namespace {

// Queues that are not connected to a root by a chain of parents: an unknown parent, a cycle, a chain that is too long,
// or below such a queue. Gangs that name them have no queue, and wait.
void repair_queues(Snapshot& snapshot) {
  std::vector<SnapshotQueue>& queues = snapshot.queues;
  if (queues.empty()) return;
  repair::keep_first(snapshot, queues, "queue");
  std::unordered_map<std::string_view, std::vector<std::size_t>> children;
  std::vector<std::size_t> reached, depth(queues.size(), 1);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    if (queues[i].parent.empty()) reached.push_back(i);
    children[queues[i].parent].push_back(i);
  }
  std::vector<bool> is_reached(queues.size(), false);
  for (std::size_t at = 0; at < reached.size(); ++at) {
    is_reached[reached[at]] = true;
    const auto below = children.find(queues[reached[at]].name);
    if (below == children.end() || depth[reached[at]] == kMostQueueDepth) continue;
    for (const std::size_t child : below->second) depth[child] = depth[reached[at]] + 1;
    reached.insert(reached.end(), below->second.begin(), below->second.end());
  }
  const bool has_any = !reached.empty();
  std::size_t at = 0;
  std::erase_if(queues, [&](SnapshotQueue& queue) {
    if (is_reached[at++]) return false;
    repair::warn(snapshot,
                 {ErrorCode::kUnknownQueue, "queue", std::string(queue.name),
                  "its parent " + repair::quoted(queue.parent) + " does not lead to a top-level queue within " +
                      std::to_string(kMostQueueDepth) + " steps; it is ignored, and its gangs wait"});
    return has_any || at > 1;
  });
  if (has_any) return;
  // No queue at all would mean one that has everything.
  queues.front().parent = {};
  queues.front().gpu.limit = queues.front().cpu.limit = queues.front().memory.limit = 0;
}

// Own terms that name a missing class: the pod is treated like a gang with such a class.
void repair_own_terms(Snapshot& snapshot, const std::unordered_set<std::string_view>& classes) {
  std::vector<bool> is_wrong;
  for (const GangTerms& terms : snapshot.own_gang_terms)
    is_wrong.push_back(terms.priority_class && !classes.contains(*terms.priority_class));
  for (const SnapshotPod& pod : snapshot.pods) {
    if (pod.own_gang < 0 || !is_wrong[static_cast<std::size_t>(pod.own_gang)]) continue;
    const GangTerms& terms = snapshot.own_gang_terms[static_cast<std::size_t>(pod.own_gang)];
    repair::warn(snapshot, {ErrorCode::kUnknownPriorityClass, "pod", std::string(pod.name),
                            "unknown priority class " + repair::quoted(*terms.priority_class) +
                                "; it has priority 0, is not preemptible and preempts nothing"});
  }
  for (std::size_t i = 0; i < is_wrong.size(); ++i) {
    GangTerms& terms = snapshot.own_gang_terms[i];
    if (!is_wrong[i]) continue;
    terms.priority_class.reset();
    terms.preemptible = false;
    terms.preemption_policy = PreemptionPolicy::kNever;
  }
}

void repair_priority_classes(Snapshot& snapshot) {
  repair::keep_first(snapshot, snapshot.definitions.priority_classes, "priorityClass");
  std::unordered_set<std::string_view> classes;
  for (const SnapshotPriorityClass& known : snapshot.definitions.priority_classes) classes.insert(known.name);
  repair_own_terms(snapshot, classes);
  for (SnapshotGang& gang : snapshot.gangs) {
    GangTerms& terms = gang.terms;
    if (!terms.priority_class || classes.contains(*terms.priority_class)) continue;
    repair::warn(snapshot, {ErrorCode::kUnknownPriorityClass, "gang", std::string(gang.name),
                            "unknown priority class " + repair::quoted(*terms.priority_class) +
                                "; it has priority 0 unless it sets its own, is not preemptible and preempts nothing"});
    terms.priority_class.reset();
    terms.preemptible = false;
    terms.preemption_policy = PreemptionPolicy::kNever;
  }
}

}  // namespace

void repair_snapshot(Snapshot& snapshot) {
  MUSTER_REQUIRE(!snapshot.anomalies.strict);
  repair::keep_first(snapshot, snapshot.nodes, "node");
  repair_queues(snapshot);
  repair_priority_classes(snapshot);
  repair::repair_gangs(snapshot);
  repair::repair_pods(snapshot);
}

}  // namespace muster
