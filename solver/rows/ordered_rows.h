// Rows of the formulation for required pod affinity and topology spread: conditions on the end state of every plan that
// can be bound in some order.
//
// n: pods that are placed; S: pods that stay; both in a domain D and matched by the rule. own: those of n that have the
// rule themselves.
// Spread    own + S - maxSkew <= least if own > 0, and least <= n' + S' for every eligible domain.
//           The last of own is bound when the others are there and the emptiest domain is no fuller than in the end. A
//           matching pod without the rule can be bound last if it is in the way, and first if it is not.
// Affinity  for each term: pods with the affinity in D <= M y;  y <= S + (n - own) + sum of first in D.
//           The first matching pod in D does not have the affinity itself, or is the first anywhere:
//           first <= own that may be it; sum of first <= 1, and 0 if any matching pod stays.
//           Two affinities whose firsts match each other's have one between them.
//           If affinities wait for each other in a cycle, w <= n are the pods that y relies on, whose own domains have
//           a lower rank (Miller, Tucker, Zemlin 1960).
// Every plan obeys these rows. The combined requirements of several rules on one order are not included; decoding
// checks them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "solver/demand/ordered_rules.h"
#include "solver/lp/model_builder.h"
#include "solver/supply/residual_class.h"

namespace muster::formulation {

struct OrderedRowsInput {
  const Problem& problem;
  const Demand& demand;
  const Supply& supply;                                            // with parts
  const ClusterState& base;                                        // without those that may leave
  const Indexed<DemandIndex, std::vector<std::int32_t>>& columns;  // pods that are placed, by part; -1: none may be
  std::function<lp::LinearExpression(RunningCellIndex)> staying;
};

class OrderedRows {
 public:
  OrderedRows(OrderedRowsInput input, lp::ModelBuilder& model);

  // Cost: O(rules x domains + roles of demand classes x parts).
  void add();

 private:
  // Pods, and their maximum number.
  struct Pods {
    lp::LinearExpression expression;
    std::int64_t most = 0;
    void add(const Pods& more) {
      expression.add(more.expression);
      most += more.most;
    }
    bool any() const { return !expression.terms.empty(); }
  };
  // The pods that are placed in one part, or stay there.
  struct Group {
    const PodClass& pod_class;
    NodeIndex node;
    Pods pods;
  };
  // Demand classes and running cells that a rule is about.
  struct Concerned {
    std::vector<DemandIndex> arriving;
    std::vector<RunningCellIndex> leaving;
  };
  struct SpreadDomain {
    std::int64_t surely = 0;  // of the matching pods: those that may not leave,
    Pods staying, arriving;   // all that stay, those that arrive,
    Pods own, has_rule;       // of these, those that also have the constraint; and all that have it, matching or not
  };
  struct AffinityDomain {
    Pods staying, own, seeds;
    std::vector<Group> dependent;  // seeds that wait in a circle
  };
  struct Firsts {
    std::map<std::vector<DomainIndex>, Pods> pods;  // that may be the first, by their domains
    std::map<std::vector<DomainIndex>, std::int32_t> columns;
    std::vector<AffinityIndex> matched;  // by all of them, ascending
  };

  void index_rules();
  void find_circles();
  template <class Visit>
  void for_each_arriving(const Concerned& concerned, const Visit& visit) const;
  template <class Visit>
  void for_each_staying(const Concerned& concerned, const Visit& visit) const;

  void add_spread(SpreadIndex index);
  std::int32_t add_least(const Spread& spread, const std::vector<SpreadDomain>& domains);
  void add_spread_domain(const Spread& spread, const SpreadDomain& domain, std::int32_t least);

  void add_affinity(AffinityIndex index);
  void find_firsts(AffinityIndex index);
  void add_first_pairs();
  void add_affinity_domain(AffinityIndex index, std::size_t term, DomainIndex at, const AffinityDomain& domain);
  bool is_sure(AffinityIndex index, NodeIndex node) const;
  std::int32_t rank(AffinityIndex index, std::size_t term, DomainIndex domain);

  OrderedRowsInput in_;
  lp::ModelBuilder& model_;
  OrderedRules rules_;
  std::map<AffinityIndex, Concerned> by_affinity_;
  std::map<SpreadIndex, Concerned> by_spread_;
  std::set<std::pair<AffinityIndex, AffinityIndex>> circular_;  // the second may wait for the first
  std::map<AffinityIndex, Firsts> firsts_;
  std::map<std::tuple<AffinityIndex, std::size_t, DomainIndex>, std::int32_t> ranks_;
  std::int64_t most_rank_ = 1;
};

}  // namespace muster::formulation
