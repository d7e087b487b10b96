#include "test/brute_force/grounds.h"

#include <algorithm>

namespace muster::brute_force {
namespace {

enum class Matter : std::uint8_t { kPlace, kOutcome, kGrounds };

// What a rule depends on: the places of pods, which pods come and leave, or the reasons and claimants of evictions.
Matter matter_of(referee::Rule rule) {
  switch (rule) {
    case referee::Rule::kNode:
    case referee::Rule::kAffinity:
    case referee::Rule::kSpread:
    case referee::Rule::kHostPorts:
    case referee::Rule::kCapacity:
    case referee::Rule::kDevices:
    case referee::Rule::kAfter:
    case referee::Rule::kMinResources:
    case referee::Rule::kTopology:
    case referee::Rule::kNotInVain:
      return Matter::kPlace;
    case referee::Rule::kAction:
    case referee::Rule::kWho:
    case referee::Rule::kPreempt:
    case referee::Rule::kReclaim:
    case referee::Rule::kStale:
    case referee::Rule::kPrice:
      return Matter::kGrounds;
    default:
      return Matter::kOutcome;
  }
}

}  // namespace

GroundsSearch::GroundsSearch(const Problem& problem, const FairShares& shares, const Cast& cast)
    : problem_(problem), shares_(shares), cast_(cast) {
  usage_depends_on_node_ = std::ranges::any_of(
      cast.actors, [&](const Actor& actor) { return problem.class_of(actor.pod).gpu.kind == GpuRequestKind::kMemory; });
  has_price_ = problem.snapshot->policy.over_time.eviction_price.has_value();
  for (const Actor& actor : cast.actors) least_used_on_.push_back(least_used_on(actor.pod));
}

// On the largest devices of the nodes that it may use; on any node if it may use none.
NodeIndex GroundsSearch::least_used_on(PodIndex pod) const {
  NodeIndex best(0);
  std::int64_t largest = -1;
  for (const NodeIndex node : problem_.nodes.indices()) {
    const bool is_allowed = problem_.class_of(pod).allowed[problem_.nodes[node].node_class.value()];
    if (!is_allowed || problem_.class_of(node).device_memory_mib <= largest) continue;
    best = node;
    largest = problem_.class_of(node).device_memory_mib;
  }
  return best;
}

// Only the properties of the two gangs themselves; the referee checks all else.
std::vector<GroundsSearch::Reason> GroundsSearch::reasons_for(GangIndex victim, ActorSet placed, ActorSet moved) const {
  std::vector<Reason> reasons;
  const Gang& going = problem_.gangs[victim];
  const Actions& actions = problem_.snapshot->policy.actions;
  for (const GangIndex index : problem_.gangs.indices()) {
    const Gang& claimant = problem_.gangs[index];
    const ActorSet all = cast_.of_gang[index];
    if (index == victim || (all & (placed | moved)) == 0 || claimant.preemption_policy == PreemptionPolicy::kNever)
      continue;
    if (actions.preempt && claimant.queue == going.queue && claimant.priority > going.priority)
      reasons.push_back({EvictionReason::kPreempt, index});
    if (actions.reclaim && claimant.queue != going.queue && (all & placed) != 0)
      reasons.push_back({EvictionReason::kReclaim, index});
  }
  return reasons;
}

// Without a price it makes no difference for which gang a pod moves.
std::vector<GroundsSearch::Reason> GroundsSearch::reasons_to_move(ActorSet claimants) const {
  std::vector<Reason> reasons;
  for_each_actor(claimants, [&](std::size_t actor) {
    const Reason reason{EvictionReason::kConsolidate, cast_.actors[actor].gang};
    const bool is_known =
        std::ranges::any_of(reasons, [&](const Reason& other) { return other.claimant == reason.claimant; });
    if (reasons.empty() || (has_price_ && !is_known)) reasons.push_back(reason);
  });
  return reasons;
}

// Devices are left open, so what is said of rooms means nothing.
std::vector<referee::Violation> GroundsSearch::violations_of(const std::vector<NodeIndex>& node_of, ActorSet come,
                                                             const Grounds& grounds) {
  Plan plan;
  for_each_actor(come, [&](std::size_t actor) {
    plan.placements.push_back({cast_.actors[actor].pod, node_of[actor], {}, {}});
  });
  plan.evictions = grounds;
  normalise(plan);
  return referee::check_plan(*problem_.snapshot, problem_, shares_, plan);
}

// Limits and quotas are judged as if every pod used its minimum; with a reclaim more is not always worse.
GroundsSearch::Verdict GroundsSearch::verdict_on(const Outcome& outcome, ActorSet moved, const Grounds& grounds) {
  Verdict verdict = Verdict::kPasses;
  for (const referee::Violation& violation : violations_of(least_used_on_, outcome.placed | moved, grounds)) {
    if (usage_depends_on_node_ && violation.rule == referee::Rule::kReclaim) continue;
    if (matter_of(violation.rule) == Matter::kOutcome) return Verdict::kHopeless;
    if (matter_of(violation.rule) == Matter::kGrounds) verdict = Verdict::kOtherGrounds;
  }
  return verdict;
}

bool GroundsSearch::hold_on(const std::vector<NodeIndex>& node_of, const Outcome& outcome, ActorSet moved,
                            const Grounds& grounds) {
  const std::vector<referee::Violation> violations = violations_of(node_of, outcome.placed | moved, grounds);
  return std::ranges::none_of(violations,
                              [](const referee::Violation& v) { return matter_of(v.rule) != Matter::kPlace; });
}

std::vector<Grounds> GroundsSearch::of(const Outcome& outcome, ActorSet moved) {
  Grounds start;
  for_each_actor(outcome.stale, [&](std::size_t actor) {
    start.push_back({cast_.actors[actor].pod, EvictionReason::kStale, GangIndex::none()});
  });
  std::vector<std::size_t> lost;
  std::vector<std::vector<Reason>> reasons;
  for_each_actor(moved, [&](std::size_t actor) {
    lost.push_back(actor);
    reasons.push_back(reasons_to_move(outcome.placed != 0 ? outcome.placed : moved));
  });
  for_each_actor(outcome.lost & ~outcome.stale, [&](std::size_t actor) {
    lost.push_back(actor);
    reasons.push_back(reasons_for(cast_.actors[actor].gang, outcome.placed, moved));
  });
  if (std::ranges::any_of(reasons, [](const auto& list) { return list.empty(); })) return {};

  std::vector<Grounds> uniform, mixed;
  std::vector<std::size_t> chosen(lost.size(), 0);
  while (true) {
    Grounds grounds = start;
    bool is_uniform = true;
    for (std::size_t i = 0; i < lost.size(); ++i) {
      const Actor& actor = cast_.actors[lost[i]];
      grounds.push_back({actor.pod, reasons[i][chosen[i]].reason, reasons[i][chosen[i]].claimant});
      for (std::size_t j = 0; j < i; ++j)
        is_uniform = is_uniform && (cast_.actors[lost[j]].gang != actor.gang || chosen[j] == chosen[i]);
    }
    const Verdict verdict = verdict_on(outcome, moved, grounds);
    if (verdict == Verdict::kHopeless) return {};
    if (verdict == Verdict::kPasses) (is_uniform ? uniform : mixed).push_back(std::move(grounds));
    std::size_t digit = 0;
    while (digit < lost.size() && ++chosen[digit] == reasons[digit].size()) chosen[digit++] = 0;
    if (digit == lost.size()) break;
  }
  uniform.insert(uniform.end(), mixed.begin(), mixed.end());
  return uniform;
}

}  // namespace muster::brute_force
