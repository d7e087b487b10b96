// Whether what a gang needs can be put into what is free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/explain/reasons_need.h"
#include "model/explain/remaining_capacity.h"
#include "model/problem/problem.h"

namespace muster::explain {

struct PackingRules {
  bool filters = true;   // those of PodClass::allowed
  bool holds = true;     // of the filters, that nodes are held
  bool topology = true;  // required levels
  bool anti_affinity = true;
};

// How much of a need was placed, and in which domains. `put[i]` pods of item i.
struct Packing {
  std::int64_t left = 0;
  std::vector<std::int64_t> put;
  std::vector<std::pair<GroupIndex, DomainIndex>>
      domains;  // chosen for groups with a required level; none: there was none
};

// Places as many pods of the need as it can: the largest first, node by node, each group with a required level in the
// domain that takes most of it (or in the domain of its present pods). Exact if all pods are of one class and no group
// except the root requires a level; else a lower bound of what fits. The caller rolls the changes back. Cost: O(classes
// of the need x nodes), once more for each nested required level.
class Packer {
 public:
  Packer(const Problem& problem, const AfterPlan* end, RemainingCapacity& remaining, PackingRules rules);
  Packing pack(const GangNeed& need, GroupIndex root);
  std::int64_t visits() const { return visits_; }  // nodes examined: the cost so far

 private:
  static constexpr std::size_t kMostDepth = 200;  // of subgroups; beyond, required levels are not examined
  std::size_t depth_of(GroupIndex root) const;
  void pack_group(GroupIndex group, std::span<const NodeIndex> nodes, Packing& packing);
  void pack_items(GroupIndex group, std::span<const NodeIndex> nodes, Packing& packing);
  void pack_in_best_domain(GroupIndex group, std::span<const NodeIndex> nodes, Packing& packing);
  void pack_within(GroupIndex group, std::span<const NodeIndex> nodes, Packing& packing);
  std::vector<NodeIndex> common_nodes(std::span<const NodeIndex> nodes, DomainIndex domain) const;
  std::vector<DomainIndex> candidates(GroupIndex group, std::span<const NodeIndex> nodes) const;
  bool is_below(GroupIndex group, GroupIndex ancestor) const;
  bool has_own_level(GroupIndex leaf, GroupIndex below) const;

  const Problem& problem_;
  const AfterPlan* end_;  // null: nothing is there
  RemainingCapacity& remaining_;
  PackingRules rules_;
  const GangNeed* need_ = nullptr;
  std::int64_t visits_ = 0;
};

enum class Fits : std::uint8_t { kYes, kNo, kUnknown };

// Whether the need fits by any choice of nodes and devices: depth-first search, which gives up after `steps`. kNo is a
// proof. `end`: the present pods bind groups to their domains; null: no pods are present. Leaves the capacities as they
// were.
Fits search_fit(const Problem& problem, const GangNeed& need, const AfterPlan* end, RemainingCapacity& remaining,
                PackingRules rules, std::int64_t steps);

// How many more nodes the searches for reasons may examine: a limit of work that is the same on every machine.
class VisitBudget {
 public:
  explicit VisitBudget(std::int64_t most) : left_(most) {}
  void spend(std::int64_t visits) { left_ -= visits; }
  // Time has run out: nothing is left, whatever was spent.
  void close() { is_closed_ = true; }
  bool is_closed() const { return is_closed_; }
  bool is_spent() const { return is_closed_ || left_ <= 0; }

 private:
  std::int64_t left_;
  bool is_closed_ = false;
};

// Tries whether needs fit into a room, and charges the nodes that it examines to a budget. It tries even if the budget
// is spent. Leaves the room as it was.
class FitTrial {
 public:
  // All outlive the object. `end`: as of Packer.
  FitTrial(const Problem& problem, const AfterPlan* end, RemainingCapacity& remaining, VisitBudget& budget)
      : problem_(problem), end_(end), remaining_(remaining), budget_(budget) {}

  // By packing: true is a proof.
  bool packs(const GangNeed& need, GroupIndex root, PackingRules rules);
  // By packing; if that fails and the pods are few, by a bounded search.
  Fits fits(const GangNeed& need, GroupIndex root, PackingRules rules);

 private:
  static constexpr std::int64_t kSearchPods = 16, kSearchSteps = 20'000;

  const Problem& problem_;
  const AfterPlan* end_;
  RemainingCapacity& remaining_;
  VisitBudget& budget_;
};

}  // namespace muster::explain
