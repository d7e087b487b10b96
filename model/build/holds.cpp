#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/build/stages.h"

namespace muster {

// Held nodes (docs/semantics.md, "Reservations"): nothing that asks for GPUs starts there, but the gang for which they
// are held, and gangs that are expected to end before the nodes are empty.
//
// Held nodes get classes of their own. Pods that may not go to all of them get copies of their classes, so that all
// else that refers to a class, such as the expected workload, is as it was.

namespace {

class Closing {
 public:
  Closing(ProblemDraft& draft, const std::vector<NodeHold>& holds) : problem_(draft.problem), holds_(holds) {}

  void run() {
    for (const NodeHold& hold : holds_) split(hold);
    for (const GangIndex gang : problem_.gangs.indices()) close(gang);
  }

 private:
  // The classes of nodes that are closed to a gang, ascending.
  using ClosedClasses = std::vector<NodeClassIndex>;

  void split(const NodeHold& hold) {
    std::map<NodeClassIndex, NodeClassIndex> new_classes;
    for (const NodeIndex node : hold.nodes) {
      const NodeClassIndex old = problem_.nodes[node].node_class;
      MUSTER_REQUIRE(problem_.node_classes[old].held_for.is_none());
      const auto [at, is_new] = new_classes.try_emplace(old, problem_.node_classes.size());
      if (is_new) add_class(old, hold.gang);
      problem_.nodes[node].node_class = at->second;
      problem_.node_classes[at->second].nodes.push_back(node);
    }
    ClosedClasses& added = classes_of_hold_.emplace_back();
    for (const auto& [old, held] : new_classes) {
      std::ranges::sort(problem_.node_classes[held].nodes);
      std::erase_if(problem_.node_classes[old].nodes,
                    [&](NodeIndex node) { return problem_.nodes[node].node_class != old; });
      added.push_back(held);
    }
  }

  void add_class(NodeClassIndex original, GangIndex holder) {
    NodeClass held = problem_.node_classes[original];
    held.nodes.clear();
    held.held_for = holder;
    problem_.node_classes.push_back(std::move(held));
    const auto at = original.value();
    for (PodClass& pod_class : problem_.pod_classes) {
      pod_class.allowed.push_back(pod_class.allowed[at]);
      pod_class.preferences.preferred_weight.push_back(pod_class.preferences.preferred_weight[at]);
      pod_class.preferences.untolerated_soft_taints.push_back(pod_class.preferences.untolerated_soft_taints[at]);
    }
  }

  void close(GangIndex index) {
    const Gang& gang = problem_.gangs[index];
    const Nanoseconds end = saturating_add(problem_.snapshot->time, gang.times.expected_duration);
    ClosedClasses closed;
    for (std::size_t h = 0; h < holds_.size(); ++h) {
      if (holds_[h].gang == index || end <= holds_[h].until) continue;
      closed.insert(closed.end(), classes_of_hold_[h].begin(), classes_of_hold_[h].end());
    }
    if (closed.empty()) return;
    for (const PodIndex pod : gang.pods) {
      PodClassIndex& pod_class = problem_.pods[pod].pod_class;
      pod_class = closed_to(pod_class, closed);
    }
  }

  // The class itself if no held node lets it in anyway.
  PodClassIndex closed_to(PodClassIndex index, const ClosedClasses& closed) {
    const PodClass& open = problem_.pod_classes[index];
    const auto lets_in = [&](NodeClassIndex held) { return open.allowed[held.value()]; };
    if (!open.counts_as_gpu || std::ranges::none_of(closed, lets_in)) return index;
    const auto [at, is_new] = copies_.try_emplace({index, closed}, problem_.pod_classes.size());
    if (is_new) {
      PodClass copy = open;
      for (const NodeClassIndex held : closed) copy.allowed[held.value()] = false;
      problem_.pod_classes.push_back(std::move(copy));
    }
    return at->second;
  }

  Problem& problem_;
  const std::vector<NodeHold>& holds_;
  std::vector<ClosedClasses> classes_of_hold_;
  std::map<std::pair<PodClassIndex, ClosedClasses>, PodClassIndex> copies_;
};

}  // namespace

void close_held(ProblemDraft& draft, const std::vector<NodeHold>& holds) {
  if (!holds.empty()) Closing(draft, holds).run();
}

// Pods of schedulers that the policy does not name.
//
// A waiting one is no part of the plan. If its scheduler has nominated it for a node, its resources there are taken: it
// counts as a running pod, matches no terms of other pods, and stays, as all pods of other schedulers do.

namespace {

class Reservation {
 public:
  explicit Reservation(Snapshot& snapshot) : snapshot_(snapshot) {}

  // False if the pod is nominated for no node of the snapshot, or its gang is not there.
  bool reserve(SnapshotPod& pod) {
    if (pod.nominated_node.empty()) return false;
    list_names();
    if (!nodes_.contains(pod.nominated_node) || (!pod.gang.empty() && !leave_gang(pod))) return false;
    pod.status = PodStatus::kRunning;
    pod.node = pod.nominated_node;
    pod.labels.clear();
    return true;
  }

 private:
  void list_names() {
    if (!nodes_.empty()) return;
    for (const SnapshotNode& node : snapshot_.nodes) nodes_.insert(node.name);
    for (std::size_t i = 0; i < snapshot_.gangs.size(); ++i) gangs_.emplace(snapshot_.gangs[i].name, i);
  }

  // It does not count towards the minimum of its gang: it joins an auxiliary gang, which has no minimum.
  bool leave_gang(SnapshotPod& pod) {
    const auto own = gangs_.find(pod.gang);
    if (own == gangs_.end()) return false;
    std::string_view& beside = beside_[pod.gang];
    if (beside.empty()) {
      std::string name = std::string(pod.gang) + "@nominated";
      while (gangs_.contains(name)) name += '+';
      beside = snapshot_.text.store(name);
      SnapshotGang gang;
      gang.name = beside;
      gang.terms = snapshot_.gangs[own->second].terms;
      gang.min_member = 0;
      snapshot_.gangs.push_back(std::move(gang));
    }
    pod.gang = beside;
    pod.subgroup = {};
    return true;
  }

  Snapshot& snapshot_;
  std::unordered_set<std::string_view> nodes_;
  std::unordered_map<std::string_view, std::size_t> gangs_;        // positions
  std::unordered_map<std::string_view, std::string_view> beside_;  // the gang for nominated pods of each gang
};

}  // namespace

bool plans(const Policy& policy, const SnapshotPod& pod) {
  const std::vector<std::string_view>& ours = policy.schedulers;
  return ours.empty() || std::ranges::find(ours, scheduler_of(pod)) != ours.end();
}

void leave_out_foreign_pods(Snapshot& snapshot) {
  if (snapshot.policy.schedulers.empty()) return;
  Reservation reservation(snapshot);
  for (SnapshotPod& pod : snapshot.pods) {
    const bool waits = pod.status == PodStatus::kPending || pod.status == PodStatus::kGated;
    if (waits && !plans(snapshot.policy, pod) && !reservation.reserve(pod)) pod.status = PodStatus::kFailed;
  }
}

// Which classes of the expected workload may go to which classes of nodes.
void build_expected_there(ProblemDraft& draft) {
  Problem& problem = draft.problem;
  ObjectiveTerms& objective = problem.objective;
  SequenceTable known;
  std::vector<std::uint64_t> classes;
  objective.expected_there_of.resize(problem.node_classes.size());
  for (const NodeClassIndex node_class : problem.node_classes.indices()) {
    classes.clear();
    std::int64_t others = 0;
    for (std::size_t i = 0; i < objective.expected_workload.size(); ++i) {
      const ExpectedClass& expected = objective.expected_workload[i];
      if (expected.gpu.devices > 0 && problem.pod_classes[expected.pod_class].allowed[node_class.value()])
        classes.push_back(i);
      else
        others = saturating_add(others, expected.weight_millionths);
    }
    const auto [number, is_new] = known.intern(classes);
    if (is_new) objective.expected_there.push_back({{classes.begin(), classes.end()}, others});
    objective.expected_there_of[node_class] = number;
  }
}

}  // namespace muster
