// Rules Affinity and Spread once more, by the snapshot's words and as kube-scheduler looks at a pod that it binds: is
// there an order in which all that is placed can be bound?
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "model/problem/problem.h"

namespace muster::brute_force {

class InterPod {
 public:
  // A pod and the node that it is on, or that it is bound to.
  struct Place {
    PodIndex pod;
    NodeIndex node;
  };
  // Positions among what is placed, in the order of binding.
  using Order = std::vector<std::size_t>;

  explicit InterPod(const Problem& problem);

  // No pod of the snapshot has such a rule.
  bool empty() const { return has_no_rules_; }
  // Whether where the pod goes may matter to a rule of any pod, its own included.
  bool concerns(PodIndex pod) const { return concerned_[pod.value()]; }

  // Calls visit(order) for orders in which all can be bound next to what stays, until it returns true; returns whether
  // it did. Of orders that differ only in equivalent pods on one node it visits one. What leaves is gone. Requires at
  // most 32 pods that concern a rule.
  bool any_order(std::vector<Place> present, const std::vector<Place>& placed,
                 const std::function<bool(const Order&)>& visit) const;

 private:
  bool matches(const PodTerm& term, PodIndex owner, PodIndex other) const;
  bool in_namespaces(const PodTerm& term, PodIndex owner, PodIndex other) const;
  bool counts(const SpreadConstraint& constraint, PodIndex owner, PodIndex other) const;
  bool may_be_bound(const Place& place, const std::vector<Place>& present) const;
  bool meets_affinity(const Place& place, const std::vector<Place>& present) const;
  bool meets_spread(const Place& place, const SpreadConstraint& constraint, const std::vector<Place>& present) const;
  bool is_eligible(PodIndex pod, const SpreadConstraint& constraint, const SnapshotNode& node) const;

  const SnapshotPod& pod(PodIndex index) const { return problem_.snapshot->pods[index.value()]; }
  const PodSpec& spec(PodIndex index) const { return problem_.snapshot->pod_specs[pod(index).spec]; }
  const SnapshotNode& node(NodeIndex index) const { return problem_.snapshot->nodes[index.value()]; }

  const Problem& problem_;
  bool has_no_rules_ = true;
  std::vector<bool> concerned_;  // by PodIndex
};

}  // namespace muster::brute_force
