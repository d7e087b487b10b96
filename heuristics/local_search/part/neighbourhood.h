// The nodes of one trial, and what is free on them while pods are destroyed and repaired.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/local_search/part/coarse_amounts.h"
#include "heuristics/local_search/part/nodes.h"
#include "heuristics/local_search/part/trial.h"
#include "heuristics/local_search/random_source.h"
#include "heuristics/local_search/scope.h"
#include "model/problem/problem.h"

namespace muster::local_search {

// Which of the nodes that fit a pod is repaired on.
enum class RepairRule : std::uint8_t {
  kFullest,   // the one with the fewest idle devices
  kBalanced,  // the one that then has about the same part of the cpu left as of the devices
  kAny
};
inline constexpr std::size_t kRepairRules = 3;

class Neighbourhood {
 public:
  // All must outlive it.
  Neighbourhood(const SearchScope& scope, const PartNodes& nodes, RandomSource& random)
      : scope_(scope), problem_(scope.problem()), nodes_(nodes), random_(random) {}

  void clear() { positions_.clear(); }
  // Adds a node as it is, unless it is among them. `position`: of PartNodes.
  void add(std::size_t position);

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
  // Undoes put().
  void take_back(const TrialPod& pod);

  bool fits_anywhere(const PodClass& pod_class) const;
  CoarseAmounts most_free() const;  // on any one of them

 private:
  bool fits(const PodClass& pod_class, std::size_t at) const;
  double score(const PodClass& pod_class, std::size_t at, RepairRule rule);

  const SearchScope& scope_;
  const Problem& problem_;
  const PartNodes& nodes_;
  RandomSource& random_;
  std::vector<std::size_t> positions_;
  std::vector<NodeContents> contents_;  // of the positions; more are memory for later trials
};

}  // namespace muster::local_search
