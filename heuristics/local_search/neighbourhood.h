// The nodes of one trial, and what is free on them while pods are destroyed and repaired.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/local_search/plan_value.h"
#include "heuristics/local_search/scope.h"
#include "heuristics/local_search/search_part.h"
#include "heuristics/local_search/trial.h"
#include "model/base/require.h"
#include "model/problem/problem.h"

namespace muster::local_search {

// The pods that wait in one part of the search, each of which may be placed by itself: in groups of equal value.
class WaitingPods {
 public:
  // Pods of one class, and of gangs that count equally.
  struct Group {
    PodClassIndex pod_class;
    CoarseAmounts request;
    std::int64_t worth = 0;      // of each, see SearchScope::worth
    std::vector<PodIndex> pods;  // the pod that has waited longest is last
  };

  // The pods wait, in any order. `scope` must outlive this. Cost: O(pods x log(pods)).
  explicit WaitingPods(const SearchScope& scope, std::span<const PodIndex> pods = {});

  // In the order in which their first pods came; a group may be empty.
  const std::vector<Group>& groups() const { return groups_; }
  void insert(PodIndex pod);    // cost: O(pods of the group)
  void withdraw(PodIndex pod);  // the same
  // The pod of the group that has waited longest no longer waits. Requires a group that is not empty.
  void pop(std::size_t group) {
    MUSTER_REQUIRE_SLOW(!groups_[group].pods.empty());
    groups_[group].pods.pop_back();
  }

 private:
  Group& group_of(PodIndex pod);
  bool waits_less(PodIndex a, PodIndex b) const;

  const SearchScope& scope_;
  const Problem& problem_;
  std::vector<Group> groups_;
  std::map<std::pair<PodClassIndex, std::int64_t>, std::size_t> positions_;  // by class and worth
};

// Which of the nodes that fit a pod is repaired on.
enum class RepairRule : std::uint8_t {
  kFullest,   // the one with the fewest idle devices
  kBalanced,  // the one that then has about the same part of the cpu left as of the devices
  kAny
};
inline constexpr std::size_t kRepairRules = 3;

class Neighbourhood {
 public:
  // All must outlive it. Requires at least one node.
  Neighbourhood(const SearchScope& scope, const PartNodes& nodes, RandomSource& random)
      : scope_(scope), problem_(scope.problem()), nodes_(nodes), random_(random) {
    MUSTER_REQUIRE(nodes.size() > 0);
  }

  void clear() { positions_.clear(); }
  // Adds a node as it is, unless it is among them. `position`: of PartNodes.
  void add(std::size_t position);

  // Each draws the nodes of a trial, most of them with idle devices, for a neighbourhood that is empty. Cost: O(nodes
  // that are added, squared).
  void draw();
  // Nodes that pass the filters of the first pod of a waiting gang: one more than it has pods, if there are as many.
  void draw_for(GangIndex gang);
  // All nodes of a gang that is whole in this part, and perhaps others. None: they are too many.
  void draw_of(GangIndex gang, const PartGangs& gangs);

  bool is_empty() const { return positions_.empty(); }
  std::size_t size() const { return positions_.size(); }
  std::size_t position(std::size_t at) const { return positions_[at]; }
  const PartNode& node(std::size_t at) const { return nodes_[positions_[at]]; }  // before the trial
  const NodeContents& contents(std::size_t at) const { return contents_[at]; }   // now

  // Destroys: the pod leaves the node `at`.
  void take(std::size_t at, const PartNode::Occupant& occupant);
  // Repairs: puts the pod on the node that is best by the rule, where it fits and its gang stays within its domains.
  // False: there is none. Cost: O(nodes).
  bool put(TrialPod& pod, RepairRule rule);
  // The same of a running pod, on the place that it has in the snapshot. False: it does not run, or has no room there.
  bool put_home(TrialPod& pod);
  // Undoes put().
  void take_back(const TrialPod& pod);

  bool fits_anywhere(const PodClass& pod_class) const;
  CoarseAmounts most_free() const;  // on any one of them

 private:
  std::size_t draw_any() { return random_.below(nodes_.size()); }
  std::size_t draw_idle();
  bool fits(const PodClass& pod_class, std::size_t at) const;
  void put_on(std::size_t at, TrialPod& pod, DeviceList devices);
  double score(const PodClass& pod_class, std::size_t at, RepairRule rule);

  const SearchScope& scope_;
  const Problem& problem_;
  const PartNodes& nodes_;
  RandomSource& random_;
  std::vector<std::size_t> positions_;
  std::vector<NodeContents> contents_;  // of the positions; more are memory for later trials
};

}  // namespace muster::local_search
