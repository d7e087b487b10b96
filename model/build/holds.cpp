// Held nodes (docs/semantics.md, "Reservations"): nothing that asks for GPUs starts there, but the gang for which they
// are held, and gangs that are expected to end before the nodes are empty.
//
// Held nodes get classes of their own. Pods that may not go to all of them get copies of their classes, so that all
// else that refers to a class, such as the expected workload, is as it was.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/build/stages.h"

namespace muster {
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

}  // namespace muster
