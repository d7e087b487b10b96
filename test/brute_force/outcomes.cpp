#include "test/brute_force/outcomes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/objective/evaluation.h"

namespace muster::brute_force {
namespace {

struct GangChoice {
  ActorSet lost = 0, stale = 0, placed = 0;
};

class Enumeration {
 public:
  Enumeration(const Problem& problem, const FairShares& shares, const Cast& cast)
      : problem_(problem), shares_(shares), cast_(cast), ids_(level_ids(problem)) {
    const Policy& policy = problem.snapshot->policy;
    may_move_ = policy.actions.place && policy.actions.consolidate && policy.max_moves.value_or(1) > 0;
  }

  std::vector<Outcome> run() {
    std::vector<std::vector<GangChoice>> choices;
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (cast_.of_gang[gang] != 0) choices.push_back(choices_of(gang));
    }
    combine(choices, 0, {});
    std::ranges::stable_sort(outcomes_, [this](const Outcome& a, const Outcome& b) { return is_better(a, b); });
    return std::move(outcomes_);
  }

 private:
  std::vector<GangChoice> choices_of(GangIndex gang) const {
    std::vector<GangChoice> choices;
    for (const ActorSet placed : subsets(cast_.of_gang[gang] & cast_.pending)) {
      if (!takes_the_first(placed)) continue;
      for (const ActorSet lost : subsets(cast_.of_gang[gang] & cast_.running)) add_choice(gang, lost, placed, choices);
    }
    return choices;
  }

  void add_choice(GangIndex index, ActorSet lost, ActorSet placed, std::vector<GangChoice>& choices) const {
    const Gang& gang = problem_.gangs[index];
    const Actions& actions = problem_.snapshot->policy.actions;
    const ActorSet kept = cast_.of_gang[index] & cast_.running & ~lost;
    const bool is_whole = minimum_is_met(problem_, cast_, index, kept | placed);
    if (placed != 0 && (!actions.place || gang.queue.is_none() || !is_whole)) return;
    if (lost != 0 && kept != 0 && !is_whole) return;
    if (gang.stale && actions.stale && !is_whole && kept != 0) return;
    const bool is_taken = gang.preemptible && (actions.preempt || actions.reclaim);
    if (lost == 0 || is_taken) choices.push_back({lost, 0, placed});
    if (lost == 0 || !gang.stale || !actions.stale || is_whole) return;
    for (const ActorSet stale : subsets(lost))
      if (stale == lost || (stale != 0 && is_taken)) choices.push_back({lost, stale, placed});
  }

  // No pod is placed while one that is alike and stands before it is not.
  bool takes_the_first(ActorSet placed) const {
    bool result = true;
    for_each_actor(placed, [&](std::size_t actor) {
      for (std::size_t before = 0; before < actor; ++before) {
        result = result && (has(placed, before) || !are_alike(problem_, cast_, before, actor));
      }
    });
    return result;
  }

  static std::vector<ActorSet> subsets(ActorSet set) {
    std::vector<ActorSet> all{0};
    for (ActorSet subset = set; subset != 0; subset = (subset - 1) & set) all.push_back(subset);
    return all;
  }

  void combine(const std::vector<std::vector<GangChoice>>& choices, std::size_t at, Outcome outcome) {
    if (at == choices.size()) return add(std::move(outcome));
    for (const GangChoice& choice : choices[at]) {
      Outcome next = outcome;
      next.lost |= choice.lost;
      next.stale |= choice.stale;
      next.placed |= choice.placed;
      combine(choices, at + 1, std::move(next));
    }
  }

  void add(Outcome outcome) {
    const ActorSet kept = cast_.running & ~outcome.lost;
    for_each_actor(kept, [&](std::size_t actor) {
      if (may_move_ && problem_.gangs[cast_.actors[actor].gang].preemptible) outcome.movable |= only(actor);
    });
    outcome.values = values_of_presence(outcome);
    std::int64_t evicted = 0;
    for_each_actor(outcome.lost & ~outcome.stale, [&](std::size_t actor) {
      const Pod& pod = problem_.pods[cast_.actors[actor].pod];
      evicted += pod.weighted_work * pod.run_seconds;
    });
    outcome.values.push_back(evicted);
    outcomes_.push_back(std::move(outcome));
  }

  // The levels before `evicted` depend only on which pods are present, and which are lost as stale: their values are
  // those of a plan that puts them anywhere.
  const std::vector<std::int64_t>& values_of_presence(const Outcome& outcome) {
    const ActorSet present = (cast_.running & ~outcome.lost) | outcome.placed;
    const auto [at, is_new] = of_presence_.try_emplace({present, outcome.stale});
    if (!is_new) return at->second;
    Plan plan;
    for_each_actor(outcome.placed, [&](std::size_t actor) {
      plan.placements.push_back({cast_.actors[actor].pod, NodeIndex(0), {}, {}});
    });
    for_each_actor(outcome.lost, [&](std::size_t actor) {
      const auto reason = has(outcome.stale, actor) ? EvictionReason::kStale : EvictionReason::kPreempt;
      plan.evictions.push_back({cast_.actors[actor].pod, reason, GangIndex::none()});
    });
    normalise(plan);
    at->second = evaluate(problem_, shares_, plan).values;
    at->second.resize(leading_levels(ids_) - 2);
    return at->second;
  }

  bool is_better(const Outcome& a, const Outcome& b) const {
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      if (a.values[i] != b.values[i]) return (a.values[i] > b.values[i]) == is_maximised(ids_[i].kind);
    }
    return false;
  }

  const Problem& problem_;
  const FairShares& shares_;
  const Cast& cast_;
  std::vector<LevelId> ids_;
  bool may_move_ = false;
  std::map<std::pair<ActorSet, ActorSet>, std::vector<std::int64_t>> of_presence_;
  std::vector<Outcome> outcomes_;
};

}  // namespace

std::size_t leading_levels(const std::vector<LevelId>& ids) {
  const auto moved = std::ranges::find(ids, LevelKind::kMoved, &LevelId::kind);
  return static_cast<std::size_t>(moved - ids.begin()) + 1;
}

std::vector<Outcome> outcomes_of(const Problem& problem, const FairShares& shares, const Cast& cast) {
  return Enumeration(problem, shares, cast).run();
}

std::int64_t weighted_work(const Problem& problem, const Cast& cast, ActorSet set) {
  std::int64_t sum = 0;
  for_each_actor(set, [&](std::size_t actor) { sum += problem.pods[cast.actors[actor].pod].weighted_work; });
  return sum;
}

bool are_alike(const Problem& problem, const Cast& cast, std::size_t a, std::size_t b) {
  const Pod &first = problem.pods[cast.actors[a].pod], &second = problem.pods[cast.actors[b].pod];
  return first.status == PodStatus::kPending && second.status == PodStatus::kPending &&
         first.pod_class == second.pod_class && first.group == second.group;
}

}  // namespace muster::brute_force
