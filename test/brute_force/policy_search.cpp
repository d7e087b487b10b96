#include "test/brute_force/policy_search.h"

#include <algorithm>
#include <span>

#include "model/referee.h"
#include "test/brute_force/actors.h"
#include "test/brute_force/grounds.h"
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
        grounds_search_(problem, shares, cast_) {
    for (const PodIndex pod : problem.pods.indices()) {
      if (problem.pods[pod].status == PodStatus::kReleasing) releasing_.push_back(pod);
    }
    const auto& most_moves = problem.snapshot->policy.max_moves;
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

  // Outcomes of one value down to `evicted`: the one that moves least comes first.
  bool look_at_equals(std::span<const Outcome> equals) {
    std::vector<MovingOutcome> all;
    for (const Outcome& outcome : equals) {
      if (!could_fit(outcome)) continue;
      for (ActorSet moved = outcome.movable;; moved = (moved - 1) & outcome.movable) {
        if (std::popcount(moved) <= most_moves_)
          all.push_back({&outcome, moved, weighted_work(problem_, cast_, moved)});
        if (moved == 0) break;
      }
    }
    std::ranges::stable_sort(all, {}, &MovingOutcome::work);
    return std::ranges::any_of(all, [this](const MovingOutcome& candidate) { return look_at(candidate); });
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
    return assign_rest(candidate.outcome->placed | candidate.moved,
                       [&] {
                         if (!topology_is_kept()) return false;
                         if (!has_grounds_) grounds_ = grounds_search_.of(*candidate.outcome, candidate.moved);
                         has_grounds_ = true;
                         if (grounds_.empty()) return true;  // no use to go on; `best_` stays without a plan
                         return arrange(candidate, NodeIndex(0), {});
                       }) &&
           !grounds_.empty();
  }

  // Calls visit() for every way to give the rest of those who come a node that has room, until it returns true.
  template <class Visit>
  bool assign_rest(ActorSet rest, const Visit& visit) {
    if (rest == 0) return visit();
    const auto actor = static_cast<std::size_t>(std::countr_zero(rest));
    for (const NodeIndex node : problem_.nodes.indices()) {
      if (!may_come(actor, node) || !room_.fits(node, stay_[node], come_[node] | only(actor))) continue;
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
    if (!pod_class.allowed[problem_.nodes[node].node_class.value()]) return false;
    // Pods that are alike come to their nodes in order.
    for (std::size_t before = 0; before < actor; ++before) {
      if (!are_alike(problem_, cast_, before, actor)) continue;
      for (const NodeIndex later : problem_.nodes.indices()) {
        if (later > node && has(come_[later], before)) return false;
      }
    }
    return true;
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

  // Every way to give those who come devices, node by node.
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
      ++states_;
      if (passes(plan)) {
        best_.levels = evaluate(problem_, shares_, plan);
        best_.plan = plan;
        return true;
      }
    }
    return false;
  }

  bool passes(Plan& plan) const { return check_plan(*problem_.snapshot, problem_, shares_, plan).empty(); }

  const Problem& problem_;
  const FairShares& shares_;
  std::int64_t most_states_, states_ = 0;
  Cast cast_;
  NodeRoom room_;
  GroundsSearch grounds_search_;
  std::vector<PodIndex> releasing_;
  int most_moves_ = 0;
  // Of the outcome that is looked at.
  Indexed<NodeIndex, ActorSet> stay_, come_;
  bool is_sieve_ = false, has_grounds_ = false;
  std::vector<Grounds> grounds_;
  Best best_;
};

}  // namespace

std::optional<Best> solve_with_evictions(const Problem& problem, const FairShares& shares, std::int64_t most_states) {
  return Search(problem, shares, most_states).run();
}

}  // namespace muster::brute_force
