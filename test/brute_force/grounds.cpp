#include "test/brute_force/grounds.h"

#include <algorithm>

#include "model/referee.h"

namespace muster::brute_force {
namespace {

enum class Matter : std::uint8_t { kPlace, kOutcome, kGrounds };

// What a rule looks at: where pods are put, who comes and goes, or why and for whom they go.
Matter matter_of(Rule rule) {
  switch (rule) {
    case Rule::kNode:
    case Rule::kCapacity:
    case Rule::kDevices:
    case Rule::kAfter:
    case Rule::kMinResources:
    case Rule::kTopology:
    case Rule::kNotInVain:
      return Matter::kPlace;
    case Rule::kAction:
    case Rule::kWho:
    case Rule::kPreempt:
    case Rule::kReclaim:
    case Rule::kStale:
      return Matter::kGrounds;
    default:
      return Matter::kOutcome;
  }
}

bool depends_on_usage(Rule rule) { return rule == Rule::kLimit || rule == Rule::kQuota || rule == Rule::kReclaim; }

}  // namespace

GroundsSearch::GroundsSearch(const Problem& problem, const FairShares& shares, const Cast& cast)
    : problem_(problem), shares_(shares), cast_(cast) {
  usage_depends_on_node_ = std::ranges::any_of(
      cast.actors, [&](const Actor& actor) { return problem.class_of(actor.pod).gpu.kind == GpuRequestKind::kMemory; });
}

// Only what the two gangs say of themselves; all else is for the referee.
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

GroundsSearch::Verdict GroundsSearch::verdict_on(const Outcome& outcome, ActorSet moved, const Grounds& grounds) {
  Plan plan;
  for_each_actor(outcome.placed | moved, [&](std::size_t actor) {
    plan.placements.push_back({cast_.actors[actor].pod, NodeIndex(0), {}, {}});
  });
  plan.evictions = grounds;
  normalise(plan);
  ++checks_;
  Verdict verdict = Verdict::kPasses;
  for (const Violation& violation : check_plan(*problem_.snapshot, problem_, shares_, plan)) {
    if (usage_depends_on_node_ && depends_on_usage(violation.rule)) continue;
    if (matter_of(violation.rule) == Matter::kOutcome) return Verdict::kHopeless;
    if (matter_of(violation.rule) == Matter::kGrounds) verdict = Verdict::kOtherGrounds;
  }
  return verdict;
}

std::vector<Grounds> GroundsSearch::of(const Outcome& outcome, ActorSet moved) {
  Grounds start;
  const ActorSet claimants = outcome.placed != 0 ? outcome.placed : moved;
  const GangIndex mover =
      claimants == 0 ? GangIndex::none() : cast_.actors[static_cast<std::size_t>(std::countr_zero(claimants))].gang;
  for_each_actor(moved, [&](std::size_t actor) {
    start.push_back({cast_.actors[actor].pod, EvictionReason::kConsolidate, mover});
  });
  for_each_actor(outcome.stale, [&](std::size_t actor) {
    start.push_back({cast_.actors[actor].pod, EvictionReason::kStale, GangIndex::none()});
  });
  std::vector<std::size_t> lost;
  std::vector<std::vector<Reason>> reasons;
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
