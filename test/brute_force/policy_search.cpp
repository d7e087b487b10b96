#include "test/brute_force/policy_search.h"

#include <algorithm>
#include <span>

#include "model/objective/evaluation.h"
#include "model/problem/exceeded.h"
#include "model/referee/referee.h"
#include "test/brute_force/actors.h"
#include "test/brute_force/grounds.h"
#include "test/brute_force/inter_pod.h"
#include "test/brute_force/node_room.h"
#include "test/brute_force/outcomes.h"

namespace muster::brute_force {
namespace {

class Search {
 public:
  Search(const Problem& problem, const FairShares& shares, std::int64_t most_states)
      : problem_(problem),
        shares_(shares),
        most_states_(most_states),
        cast_(problem),
        room_(problem, cast_),
        grounds_search_(problem, shares, cast_),
        inter_pod_(problem) {
    for (const PodIndex pod : problem.pods.indices()) {
      if (problem.pods[pod].status == PodStatus::kReleasing) releasing_.push_back(pod);
    }
    for (const Gang& gang : problem.gangs) asks_min_resources_ = asks_min_resources_ || gang.asks_for_min_resources();
    const auto& most_moves = problem.snapshot->policy.max_moves;
    count_in_budgets();
    most_moves_ = most_moves ? static_cast<int>(std::min<std::int64_t>(*most_moves, 16)) : 16;
  }

  std::optional<Best> run() {
    if (!cast_.is_small()) return std::nullopt;
    const std::vector<Outcome> outcomes = outcomes_of(problem_, shares_, cast_);
    states_ = std::ssize(outcomes);
    best_.outcomes = std::ssize(outcomes);
    for (auto first = outcomes.begin(); first != outcomes.end();) {
      const auto end = std::find_if(first, outcomes.end(), [&](const Outcome& o) { return o.values != first->values; });
      if (look_at_equals(std::span(first, end))) {
        best_.states = states_;
        return best_;
      }
      if (states_ > most_states_) return std::nullopt;
      first = end;
    }
    return std::nullopt;
  }

 private:
  struct MovingOutcome {
    const Outcome* outcome = nullptr;
    ActorSet moved = 0;
    std::int64_t work = 0;
  };

  // Outcomes of one value down to `evicted`: the one that moves least work comes first, and of these the one that
  // moves fewest pods.
  bool look_at_equals(std::span<const Outcome> equals) {
    std::vector<MovingOutcome> all;
    for (const Outcome& outcome : equals) {
      if (!could_fit(outcome)) continue;
      for (ActorSet moved = outcome.movable;; moved = (moved - 1) & outcome.movable) {
        if (std::popcount(moved) <= most_moves_ && budgets_allow(outcome.lost | moved))
          all.push_back({&outcome, moved, weighted_work(problem_, cast_, moved)});
        if (moved == 0) break;
      }
    }
    std::ranges::stable_sort(all, {}, [](const MovingOutcome& candidate) {
      return std::pair(candidate.work, std::popcount(candidate.moved));
    });
    return std::ranges::any_of(all, [this](const MovingOutcome& candidate) { return look_at(candidate); });
  }

  struct Budget {
    ActorSet selected = 0;
    std::int64_t allowed = 0;
  };

  // Rule DisruptionBudget, once more by the snapshot's words: those that run of what each budget selects.
  void count_in_budgets() {
    const Snapshot& snapshot = *problem_.snapshot;
    const auto add = [&](const auto& is_selected, std::int64_t allowed) {
      Budget budget{0, allowed};
      for (std::size_t actor = 0; actor < cast_.actors.size(); ++actor) {
        const SnapshotPod& pod = snapshot.pods[cast_.actors[actor].pod.value()];
        if (pod.status == PodStatus::kRunning && is_selected(pod)) budget.selected |= only(actor);
      }
      budgets_.push_back(budget);
    };
    for (const SnapshotDisruptionBudget& budget : snapshot.disruption_budgets) {
      const auto is_selected = [&](const SnapshotPod& pod) {
        return budget.selector && pod.namespace_name == budget.namespace_name && is_of(*budget.selector, pod.labels);
      };
      add(is_selected, budget.allowed);
    }
    add(
        [&](const SnapshotPod& pod) {
          std::int64_t selecting = 0, exclusive = 0;
          for (const SnapshotDisruptionBudget& budget : snapshot.disruption_budgets) {
            if (!budget.selector || pod.namespace_name != budget.namespace_name || !is_of(*budget.selector, pod.labels))
              continue;
            ++selecting;
            exclusive += budget.exclusive ? 1 : 0;
          }
          return selecting > 1 && exclusive > 0;
        },
        0);
    for (const LabelSelector& protect : snapshot.policy.protect)
      add([&](const SnapshotPod& pod) { return is_of(protect, pod.labels); }, 0);
  }
  static bool is_of(const LabelSelector& selector, const Labels& labels) {
    return std::ranges::all_of(selector.requirements, [&](const SelectorRequirement& asked) {
      const bool has_value = std::ranges::any_of(labels, [&](const auto& label) {
        return label.first == asked.key && std::ranges::find(asked.values, label.second) != asked.values.end();
      });
      return has_value == (asked.op == SelectorOperator::kIn);  // the instances have In and NotIn alone
    });
  }
  bool budgets_allow(ActorSet gone) const {
    return std::ranges::all_of(
        budgets_, [&](const Budget& budget) { return std::popcount(gone & budget.selected) <= budget.allowed; });
  }

  // Whether there is room were everything that may be moved nowhere yet: a sieve.
  bool could_fit(const Outcome& outcome) {
    come_.assign(problem_.nodes.size(), 0);
    stay_.assign(problem_.nodes.size(), 0);
    for (const NodeIndex node : problem_.nodes.indices())
      stay_[node] = cast_.at_home[node] & ~outcome.lost & ~outcome.movable;
    is_sieve_ = true;
    return assign_rest(outcome.placed | outcome.movable, [] { return true; });
  }

  bool look_at(const MovingOutcome& candidate) {
    if (++states_ > most_states_) return false;
    come_.assign(problem_.nodes.size(), 0);
    stay_.assign(problem_.nodes.size(), 0);
    for (const NodeIndex node : problem_.nodes.indices())
      stay_[node] = cast_.at_home[node] & ~candidate.outcome->lost & ~candidate.moved;
    is_sieve_ = false;
    has_grounds_ = false;
    all_grounds_.clear();
    const bool done =
        assign_rest(candidate.outcome->placed | candidate.moved, [&] { return look_at_nodes(candidate); });
    return done && !all_grounds_.empty();
  }

  // True: no use to go on, as there is a plan, or there are no grounds at all.
  bool look_at_nodes(const MovingOutcome& candidate) {
    if (!topology_is_kept() || moves_in_vain(candidate.moved)) return false;
    if (!has_grounds_) all_grounds_ = grounds_search_.of(*candidate.outcome, candidate.moved);
    has_grounds_ = true;
    if (all_grounds_.empty()) return true;
    grounds_ = all_grounds_;
    if (grounds_search_.depend_on_nodes()) {
      std::vector<NodeIndex> nodes;
      for (std::size_t actor = 0; actor < cast_.actors.size(); ++actor) nodes.push_back(node_of(actor));
      states_ += std::ssize(grounds_);
      std::erase_if(grounds_, [&](const Grounds& grounds) {
        return !grounds_search_.hold_on(nodes, *candidate.outcome, candidate.moved, grounds);
      });
    }
    return !grounds_.empty() && arrange(candidate, NodeIndex(0), {});
  }

  // Rule NotInVain, a sieve: no pod comes to where a pod is moved from, and only capacity could have moved it.
  bool moves_in_vain(ActorSet moved) const {
    bool result = false;
    for_each_actor(moved, [&](std::size_t actor) {
      const NodeIndex home = cast_.actors[actor].home;
      result = result || (only_room_moves(actor) && (come_[home] & ~only(actor)) == 0);
    });
    return result;
  }

  bool only_room_moves(std::size_t actor) const {
    const PodIndex pod = cast_.actors[actor].pod;
    const PodClass& pod_class = problem_.class_of(pod);
    if (!inter_pod_.empty() || asks_min_resources_ || pod_class.gpu.kind == GpuRequestKind::kMemory) return false;
    if (!pod_class.anti_affinity_owned.empty() || !pod_class.anti_affinity_matched.empty()) return false;
    GroupIndex group = problem_.pods[pod].group;
    while (!group.is_none() && problem_.groups[group].required_level.is_none()) group = problem_.groups[group].parent;
    return group.is_none();
  }

  // Calls visit() for every way to give the remaining arriving pods a node with enough capacity, until it returns true.
  template <class Visit>
  bool assign_rest(ActorSet rest, const Visit& visit) {
    if (rest == 0) return visit();
    const auto actor = static_cast<std::size_t>(std::countr_zero(rest));
    for (const NodeIndex node : problem_.nodes.indices()) {
      if (!may_come(actor, node)) continue;
      // In the sieve pods at home count as arriving; there may be more of them than the node reports capacity for, or
      // has host ports.
      const bool is_open = is_sieve_ && (is_exceeded(problem_.class_of(node)) || problem_.host_port_count() > 0);
      if (!is_open && !room_.fits(node, stay_[node], come_[node] | only(actor))) continue;
      come_[node] |= only(actor);
      const bool done = assign_rest(rest & (rest - 1), visit);
      come_[node] &= ~only(actor);
      if (done) return true;
      if (states_ > most_states_) return false;
    }
    return false;
  }

  bool may_come(std::size_t actor, NodeIndex node) const {
    const PodClass& pod_class = problem_.class_of(cast_.actors[actor].pod);
    if (is_sieve_ && cast_.actors[actor].home == node) return true;
    if (!pod_class.allowed[problem_.nodes[node].node_class.value()] || clashes(actor, node)) return false;
    // Equal pods come to their nodes in order.
    for (std::size_t before = 0; before < actor; ++before) {
      if (!are_alike(problem_, cast_, before, actor)) continue;
      for (const NodeIndex later : problem_.nodes.indices()) {
        if (later > node && has(come_[later], before)) return false;
      }
    }
    return true;
  }

  // Rule Node, anti-affinity: some pod in the domain keeps it out, or is kept out by it. In the sieve only pairs with a
  // pod that was pending: others may all have been there.
  bool clashes(std::size_t actor, NodeIndex node) const {
    for (const NodeIndex other : problem_.nodes.indices()) {
      bool found = false;
      for_each_actor((stay_[other] | come_[other]) & ~only(actor), [&](std::size_t there) {
        const bool is_charged = !is_sieve_ || has(cast_.pending, actor) || has(cast_.pending, there);
        found = found || (is_charged && (keeps_out(actor, node, there, other) || keeps_out(there, other, actor, node)));
      });
      if (found) return true;
    }
    return false;
  }
  bool keeps_out(std::size_t owner, NodeIndex at, std::size_t other, NodeIndex where) const {
    const std::vector<AntiAffinityIndex>& matched = problem_.class_of(cast_.actors[other].pod).anti_affinity_matched;
    return std::ranges::any_of(problem_.class_of(cast_.actors[owner].pod).anti_affinity_owned,
                               [&](AntiAffinityIndex term) {
                                 const DomainMap& domain_of = problem_.inter_pod.anti_affinities[term].domain_of;
                                 return !domain_of[at].is_none() && domain_of[at] == domain_of[where] &&
                                        std::ranges::find(matched, term) != matched.end();
                               });
  }

  NodeIndex node_of(std::size_t actor) const {
    for (const NodeIndex node : problem_.nodes.indices()) {
      if (has(stay_[node] | come_[node], actor)) return node;
    }
    return NodeIndex::none();
  }

  bool is_below(GroupIndex group, GroupIndex ancestor) const {
    while (!group.is_none() && group != ancestor) group = problem_.groups[group].parent;
    return !group.is_none();
  }

  // Rule Topology: a sieve, so as not to look at devices in vain.
  bool topology_is_kept() const {
    for (const GroupIndex group : problem_.groups.indices()) {
      if (!topology_is_kept(group)) return false;
    }
    return true;
  }
  bool topology_is_kept(GroupIndex group) const {
    const TopologyLevelIndex level = problem_.groups[group].required_level;
    if (level.is_none()) return true;
    bool is_placed = false, is_one = true;
    DomainIndex domain;
    std::size_t count = 0;
    for (std::size_t actor = 0; actor < cast_.actors.size(); ++actor) {
      const NodeIndex node = node_of(actor);
      if (node.is_none() || !is_below(problem_.pods[cast_.actors[actor].pod].group, group)) continue;
      const DomainIndex here = problem_.nodes[node].domains[level.value()];
      is_placed = is_placed || has(come_[node], actor);
      is_one = is_one && !here.is_none() && (count++ == 0 || here == domain);
      domain = here;
    }
    return !is_placed || is_one;
  }

  // Every way to give the arriving pods devices, node by node.
  bool arrange(const MovingOutcome& candidate, NodeIndex node, const std::vector<Placement>& placements) {
    if (node.value() == problem_.nodes.size()) return judge(candidate, placements);
    for (const Arrangement& arrangement : room_.arrangements(node, stay_[node], come_[node])) {
      std::vector<Placement> more = placements;
      for (const Put& put : arrangement) more.push_back({cast_.actors[put.actor].pod, node, put.devices, {}});
      if (arrange(candidate, NodeIndex(node.value() + 1), more)) return true;
      if (states_ > most_states_) return false;
    }
    return false;
  }

  bool judge(const MovingOutcome& candidate, const std::vector<Placement>& placements) {
    Plan plan{placements, {}};
    std::vector<PodIndex> leaving = releasing_;
    for_each_actor(candidate.outcome->lost | candidate.moved,
                   [&](std::size_t actor) { leaving.push_back(cast_.actors[actor].pod); });
    std::ranges::sort(leaving);
    for (Placement& placement : plan.placements) {
      placement.after = leaving;
      if (leaving.size() > 1) std::erase(placement.after, placement.pod);
    }
    for (const Grounds& grounds : grounds_) {
      plan.evictions = grounds;
      normalise(plan);
      if (!passes_in_any_order(plan)) continue;
      best_.levels = evaluate(problem_, shares_, plan);
      best_.plan = plan;
      return true;
    }
    return false;
  }

  // Whether a pod has gone in vain may depend on the order, too.
  bool passes_in_any_order(Plan& plan) {
    if (inter_pod_.empty()) return ++states_, passes(plan);
    std::vector<InterPod::Place> staying, placed;
    for (std::size_t actor = 0; actor < cast_.actors.size(); ++actor) {
      const NodeIndex home = cast_.actors[actor].home;
      if (!home.is_none() && has(stay_[home], actor)) staying.push_back({cast_.actors[actor].pod, home});
    }
    for (const Placement& placement : plan.placements) placed.push_back({placement.pod, placement.node});
    return inter_pod_.any_order(std::move(staying), placed, [&](const InterPod::Order& order) {
      for (std::size_t i = 0; i < order.size(); ++i) plan.placements[order[i]].step = static_cast<std::int32_t>(i);
      return states_ <= most_states_ && (++states_, passes(plan));
    });
  }

  bool passes(Plan& plan) const { return referee::check_plan(*problem_.snapshot, problem_, shares_, plan).empty(); }

  const Problem& problem_;
  const FairShares& shares_;
  std::int64_t most_states_, states_ = 0;
  Cast cast_;
  NodeResidual room_;
  GroundsSearch grounds_search_;
  InterPod inter_pod_;
  std::vector<PodIndex> releasing_;
  int most_moves_ = 0;
  std::vector<Budget> budgets_;
  bool asks_min_resources_ = false;
  // Of the outcome that is examined.
  Indexed<NodeIndex, ActorSet> stay_, come_;
  bool is_sieve_ = false, has_grounds_ = false;
  std::vector<Grounds> all_grounds_, grounds_;  // wherever pods are put; with the nodes that they are given
  Best best_;
};

}  // namespace

std::optional<Best> solve_with_evictions(const Problem& problem, const FairShares& shares, std::int64_t most_states) {
  return Search(problem, shares, most_states).run();
}

}  // namespace muster::brute_force
