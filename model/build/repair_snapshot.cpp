#include "model/build/repair_snapshot.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/base/require.h"
#include "model/build/stages.h"
#include "model/snapshot/subgroup_names.h"

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

namespace muster::repair {

// Inconsistent gangs: a gang with impossible terms is held, and its running pods are left alone.

namespace {

// What is wrong with a gang's tree; empty: nothing.
std::string wrong_tree(const SnapshotGang& gang) {
  if (gang.subgroups.empty())
    return gang.min_subgroups ? "minSubgroups is set, but there are no subgroups" : std::string();
  if (gang.min_member) return "both minMember and subgroups are set";
  if (gang.disruption == Disruption::kWhole) return "disruption whole and subgroups are set";
  std::unordered_map<std::string_view, std::vector<const SnapshotSubgroup*>> children;
  std::unordered_set<std::string_view> names;
  for (const SnapshotSubgroup& subgroup : gang.subgroups) {
    if (!names.insert(subgroup.name).second) return "duplicate subgroup " + quoted(subgroup.name);
    children[subgroup.parent].push_back(&subgroup);
  }
  for (const SnapshotSubgroup& subgroup : gang.subgroups) {
    if (!subgroup.parent.empty() && !names.contains(subgroup.parent))
      return "unknown subgroup " + quoted(subgroup.parent);
    const bool is_leaf = !children.contains(subgroup.name);
    if (is_leaf ? subgroup.min_subgroups.has_value() : subgroup.min_member.has_value())
      return "subgroup " + quoted(subgroup.name) +
             (is_leaf ? " has no subgroups: set minMember" : " has subgroups: set minSubgroups");
  }
  std::vector<const SnapshotSubgroup*> reached = children[{}];
  std::size_t depth = 1;
  for (std::size_t at = 0, level_end = reached.size(); at < reached.size(); ++at) {
    if (at == level_end) {
      level_end = reached.size();
      ++depth;
    }
    const auto below = children.find(reached[at]->name);
    if (below != children.end()) reached.insert(reached.end(), below->second.begin(), below->second.end());
  }
  if (depth > kMostSubgroupDepth) return "subgroups are nested deeper than " + std::to_string(kMostSubgroupDepth);
  return reached.size() < gang.subgroups.size() ? "a subgroup is its own ancestor" : std::string();
}

bool knows_level(const Snapshot& snapshot, std::string_view level, std::string_view topology) {
  return level.empty() || !places_of_level(snapshot.definitions, level, topology).empty();
}

// A missing required level cannot be kept to; a missing preferred one is ignored.
std::string unknown_level(const Snapshot& snapshot, TopologyRequest& topology) {
  if (!knows_level(snapshot, topology.preferred, topology.topology)) topology.preferred = {};
  if (knows_level(snapshot, topology.required, topology.topology)) return {};
  const std::string of = topology.topology.empty() ? "" : "of topology " + quoted(topology.topology) + " ";
  return "unknown topology level " + of + quoted(topology.required);
}

std::string unknown_level(const Snapshot& snapshot, SnapshotGang& gang) {
  std::string wrong = unknown_level(snapshot, gang.topology);
  for (SnapshotSubgroup& subgroup : gang.subgroups) {
    std::string found = unknown_level(snapshot, subgroup.topology);
    if (wrong.empty()) wrong = std::move(found);
  }
  return wrong;
}

}  // namespace

// Its own minimum and tree no longer matter: nothing of it starts, and none of its running pods has to leave.
void hold_gang(Snapshot& snapshot, SnapshotGang& gang) {
  gang.terms.preemptible = false;
  gang.min_member.reset();
  gang.min_subgroups.reset();
  gang.subgroups.clear();
  gang.topology = {};
  gang.min_resources.clear();
  gang.min_resources_gpu = 0;
  gang.has_min_resources = false;
  gang.staleness_grace_period = kNever;
  snapshot.anomalies.held_gangs.push_back(gang.name);
}

void repair_gangs(Snapshot& snapshot) {
  keep_first(snapshot, snapshot.gangs, "gang");
  for (SnapshotGang& gang : snapshot.gangs) {
    const std::string tree = wrong_tree(gang), level = unknown_level(snapshot, gang);
    if (tree.empty() && level.empty()) continue;
    warn(snapshot, {tree.empty() ? ErrorCode::kUnknownTopologyLevel : ErrorCode::kInvalidValue, "gang",
                    std::string(gang.name), (tree.empty() ? level : tree) + "; it is held"});
    hold_gang(snapshot, gang);
  }
}

}  // namespace muster::repair

// Inconsistent pods. One that may hold resources keeps them, or keeps the node from accepting new pods; a waiting one
// is held.

namespace muster::repair {
namespace {

bool holds_room(const SnapshotPod& pod) {
  return pod.status == PodStatus::kRunning || pod.status == PodStatus::kReleasing;
}

template <class List>
bool have_names_of_their_own(const List& list) {
  std::unordered_set<std::string_view> names;
  return std::ranges::all_of(list, [&](const auto& object) { return names.insert(object.name).second; });
}

class PodRepair {
 public:
  explicit PodRepair(Snapshot& snapshot) : snapshot_(snapshot) {
    for (std::size_t i = 0; i < snapshot.nodes.size(); ++i) nodes_.emplace(snapshot.nodes[i].name, i);
    for (std::size_t i = 0; i < snapshot.gangs.size(); ++i) gangs_.emplace(snapshot.gangs[i].name, i);
  }

  void run() {
    merge_repeated();
    for (SnapshotPod& pod : snapshot_.pods) {
      settle_place(pod);
      settle_gang(pod);
    }
    for (const std::size_t gang : wrong_gangs_) hold_gang(snapshot_, snapshot_.gangs[gang]);
    for (SnapshotPod& pod : snapshot_.pods) forget_subgroup(pod);
  }

 private:
  void tell(const SnapshotPod& pod, ErrorCode code, std::string message) {
    warn(snapshot_, {code, "pod", std::string(pod.name), std::move(message)});
  }

  // No new pod may be placed on a node with a pod of unknown requests.
  void close_node(std::string_view node) {
    const auto at = nodes_.find(node);
    if (at != nodes_.end()) snapshot_.nodes[at->second].unschedulable = true;
  }

  // The first entry counts, unless only the other holds resources. If both do, on two nodes, the other's node accepts
  // nothing new.
  void merge_repeated() {
    std::unordered_map<std::string_view, std::size_t> first;
    std::vector<bool> is_repeated(snapshot_.pods.size(), false);
    for (std::size_t i = 0; i < is_repeated.size(); ++i) {
      const auto [at, is_new] = first.emplace(snapshot_.pods[i].name, i);
      if (is_new) continue;
      is_repeated[i] = true;
      merge(snapshot_.pods[at->second], snapshot_.pods[i]);
    }
    std::size_t at = 0;
    snapshot_.pods.erase_if([&](const SnapshotPod&) { return is_repeated[at++]; });
  }

  void merge(SnapshotPod& kept, SnapshotPod& other) {
    if (holds_room(other) && !holds_room(kept)) {
      std::swap(kept, other);
      return tell(kept, ErrorCode::kDuplicateName, "duplicate name; Muster uses the pod on a node");
    }
    const bool is_elsewhere = holds_room(other) && other.node != kept.node;
    if (is_elsewhere) close_node(other.node);
    tell(kept, ErrorCode::kDuplicateName,
         is_elsewhere ? "duplicate name, on two nodes; Muster places nothing new on node " + quoted(other.node)
                      : "duplicate name; Muster uses the first one");
  }

  // Takes no resources anywhere. A running pod counts for its gang like a succeeded one, so that the others are not
  // affected.
  void leave_out(SnapshotPod& pod) {
    pod.status = pod.status == PodStatus::kReleasing ? PodStatus::kFailed : PodStatus::kSucceeded;
    pod.node = {};
    pod.devices.clear();
  }

  void settle_place(SnapshotPod& pod) {
    const bool waits = pod.status == PodStatus::kPending || pod.status == PodStatus::kGated;
    if (waits && !pod.node.empty()) {
      tell(pod, ErrorCode::kInvalidValue, "it is pending or gated but has a node; Muster treats it as running there");
      pod.status = PodStatus::kRunning;
    }
    if (!holds_room(pod)) return;
    if (pod.node.empty()) {
      tell(pod, ErrorCode::kMissingKey, "it runs but names no node; it is ignored");
      leave_out(pod);
    } else if (!nodes_.contains(pod.node)) {
      tell(pod, ErrorCode::kUnknownNode, "it runs on unknown node " + quoted(pod.node) + "; it is ignored");
      leave_out(pod);
    } else if (!adds_up(pod)) {
      tell(pod, ErrorCode::kTooLarge,
           "with it, the requests on node " + quoted(pod.node) +
               " exceed 64 bits; it is ignored, and nothing new is placed there");
      close_node(pod.node);
      leave_out(pod);
    }
  }

  bool adds_up(const SnapshotPod& pod) {
    const auto sum_of = [&](const ResourceAmount& asked) -> Amount& {
      return sums_[{nodes_.at(pod.node), asked.resource.value()}];
    };
    const PodSpec& spec = snapshot_.pod_specs[pod.spec];
    Amount sum = 0;
    for (const ResourceAmount& asked : spec.resources) {
      if (__builtin_add_overflow(sum_of(asked), asked.amount, &sum)) return false;
    }
    for (const ResourceAmount& asked : spec.resources) sum_of(asked) += asked.amount;
    return true;
  }

  void settle_gang(SnapshotPod& pod) {
    if (pod.gang.empty()) {
      if (gangs_.contains(pod.name)) name_own_gang(pod);
      return;
    }
    const auto at = gangs_.find(pod.gang);
    if (at == gangs_.end()) return add_held_gang(pod);
    const std::string wrong = wrong_subgroup(at->second, pod);
    if (wrong.empty()) return;
    tell(pod, ErrorCode::kUnknownSubgroup, wrong + "; gang " + quoted(pod.gang) + " is held");
    wrong_gangs_.push_back(at->second);
  }

  std::string wrong_subgroup(std::size_t position, const SnapshotPod& pod) {
    const SnapshotGang& gang = snapshot_.gangs[position];
    if (gang.subgroups.empty() && pod.subgroup.empty()) return {};
    if (pod.subgroup.empty()) return "it names no subgroup of its gang";
    const auto [at, is_new] = subgroups_.try_emplace(position);
    if (is_new) at->second = SubgroupNames(gang.subgroups);
    if (!at->second.has(pod.subgroup)) return "its gang has no subgroup " + quoted(pod.subgroup);
    return at->second.is_inner(pod.subgroup) ? "subgroup " + quoted(pod.subgroup) + " has subgroups" : std::string();
  }

  // If a pod without a gang has the same name as a gang, its own gang gets another name.
  void name_own_gang(SnapshotPod& pod) {
    std::string name(pod.name);
    do name += "@pod";
    while (gangs_.contains(name));
    tell(pod, ErrorCode::kDuplicateName, "a gang has the same name; its own gang is named " + quoted(name));
    SnapshotGang gang;
    gang.name = snapshot_.text.store(name);
    if (pod.own_gang >= 0) gang.terms = snapshot_.own_gang_terms[static_cast<std::size_t>(pod.own_gang)];
    if (!gang.terms.created) gang.terms.created = pod.created;
    pod.gang = gang.name;
    pod.own_gang = -1;
    add(std::move(gang));
  }

  void add_held_gang(const SnapshotPod& pod) {
    SnapshotGang gang;
    gang.name = pod.gang;
    gang.terms.queue = {};
    warn(snapshot_,
         {ErrorCode::kUnknownGang, "gang", std::string(gang.name), "unknown gang; the pods that name it are held"});
    hold_gang(snapshot_, gang);
    add(std::move(gang));
  }

  void add(SnapshotGang gang) {
    gangs_.emplace(gang.name, snapshot_.gangs.size());
    snapshot_.gangs.push_back(std::move(gang));
  }

  void forget_subgroup(SnapshotPod& pod) {
    if (pod.gang.empty() || pod.subgroup.empty()) return;
    const auto at = gangs_.find(pod.gang);
    if (snapshot_.gangs[at->second].subgroups.empty()) pod.subgroup = {};
  }

  Snapshot& snapshot_;
  std::unordered_map<std::string_view, std::size_t> nodes_, gangs_;
  std::vector<std::size_t> wrong_gangs_;
  std::unordered_map<std::size_t, SubgroupNames> subgroups_;      // of gangs, once a pod names one
  std::map<std::pair<std::size_t, std::uint32_t>, Amount> sums_;  // by node and resource
};

}  // namespace

void repair_pods(Snapshot& snapshot) {
  MUSTER_REQUIRE_SLOW(have_names_of_their_own(snapshot.nodes) && have_names_of_their_own(snapshot.queues) &&
                      have_names_of_their_own(snapshot.definitions.priority_classes) &&
                      have_names_of_their_own(snapshot.gangs));
  PodRepair(snapshot).run();
  hold_gangs(snapshot);
}

}  // namespace muster::repair

namespace muster {

namespace {

// What is wrong, without what was done about it.
std::string_view reason_of(Snapshot& snapshot, const Warning& warning) {
  const std::string pod = warning.object == "pod" ? "pod " + warning.name + ": " : "";
  const std::string what = warning.message.substr(0, warning.message.rfind("; "));
  return snapshot.text.store("it is not understood: " + pod + what);
}

// By the warnings: why each gang is held, for its own keys or for those of a pod.
std::unordered_map<std::string_view, std::string_view> wrong_gangs(Snapshot& snapshot) {
  std::unordered_map<std::string_view, std::string_view> gangs, pods;
  for (const Warning& warning : snapshot.anomalies.warnings) {
    const bool is_pod = warning.object == "pod" && warning.message.find("gang is held") != std::string::npos;
    if (is_pod) pods.emplace(warning.name, reason_of(snapshot, warning));
    if (warning.object == "gang") gangs.emplace(warning.name, reason_of(snapshot, warning));
  }
  if (pods.empty()) return gangs;
  for (const SnapshotPod& pod : snapshot.pods) {
    const auto wrong = pods.find(pod.name);
    if (wrong != pods.end() && !pod.gang.empty()) gangs.emplace(pod.gang, wrong->second);
  }
  return gangs;
}

}  // namespace

void hold_gangs(Snapshot& snapshot) {
  const std::vector<std::string_view>& held = snapshot.anomalies.held_gangs;
  const std::unordered_set<std::string_view> names(held.begin(), held.end());
  if (held.empty()) return;
  for (SnapshotGang& gang : snapshot.gangs) {
    if (!names.contains(gang.name)) continue;
    gang.terms.preemptible = false;
    gang.staleness_grace_period = kNever;
  }
  const auto wrong = wrong_gangs(snapshot);
  for (SnapshotPod& pod : snapshot.pods) {
    if (!names.contains(pod.gang)) continue;
    if (pod.status == PodStatus::kPending) pod.status = PodStatus::kGated;
    const auto why = wrong.find(pod.gang);
    const bool needs_reason = pod.status == PodStatus::kGated && pod.notes.held.empty() && why != wrong.end();
    if (needs_reason) pod.notes.held = why->second;
  }
}

}  // namespace muster
