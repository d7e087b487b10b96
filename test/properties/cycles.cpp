#include "test/properties/cycles.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/plan_of.h"
#include "model/objective/evaluation.h"

namespace muster::properties {
namespace {

struct Spot {
  std::string node;
  std::vector<std::int32_t> devices;
  friend bool operator==(const Spot&, const Spot&) = default;
};
using Spots = std::map<std::string, Spot>;  // by name of the pods that run

Spots spots_of(const Case& cluster) {
  Spots spots;
  for (const SnapshotPod& pod : cluster.snapshot().pods)
    if (pod.status == PodStatus::kRunning) spots[std::string(pod.name)] = {std::string(pod.node), pod.devices};
  return spots;
}

struct Decided {
  Plan plan;
  std::string proof;
  std::string text;  // placements and evictions, by name
  std::set<std::string> placed, evicted;
};

Decided decided_of(const Case& cluster, const EngineAnswer& solution) {
  Decided decided{solution.plan, solution.proof, {}, {}, {}};
  const auto pod_name = [&](PodIndex pod) { return std::string(cluster.snapshot().pods[pod.value()].name); };
  for (const Placement& placement : solution.plan.placements) {
    decided.placed.insert(pod_name(placement.pod));
    decided.text += " +" + pod_name(placement.pod) + "@";
    decided.text += cluster.snapshot().nodes[placement.node.value()].name;
  }
  for (const Eviction& eviction : solution.plan.evictions) {
    decided.evicted.insert(pod_name(eviction.pod));
    decided.text += " -" + pod_name(eviction.pod) + "(" + std::string(eviction_reason_name(eviction.reason));
    if (!eviction.for_gang.is_none())
      decided.text += " for " + std::string(cluster.problem().gangs[eviction.for_gang].name);
    decided.text += ")";
  }
  return decided;
}

// From the cluster straight to where pods are after both plans. The claimants of evictions are left open.
Plan both_in_one(const Case& cluster, const Spots& end) {
  std::map<std::string_view, NodeIndex> nodes;
  for (const NodeIndex node : cluster.problem().nodes.indices())
    nodes[cluster.snapshot().nodes[node.value()].name] = node;
  ClusterState state(cluster.problem(), ClusterState::Releasing::kFreed);
  std::vector<PlannedEviction> evictions;
  std::vector<std::pair<PodIndex, const Spot*>> arrivals;
  for (const PodIndex pod : cluster.problem().pods.indices()) {
    const SnapshotPod& source = cluster.snapshot().pods[pod.value()];
    const auto found = end.find(std::string(source.name));
    const bool ran = source.status == PodStatus::kRunning, runs = found != end.end();
    if (ran && runs && found->second == Spot{std::string(source.node), source.devices}) continue;
    if (ran) state.take(pod);
    if (ran) evictions.push_back({pod, EvictionReason::kReclaim, {}});
    if (runs) arrivals.emplace_back(pod, &found->second);
  }
  for (const auto& [pod, spot] : arrivals) state.put(pod, nodes.at(spot->node), spot->devices);
  return plan_of(cluster.problem(), state, evictions);
}

// Gangs of which a pod that waited is placed: those that evictions can be for.
std::vector<GangIndex> claimants_of(const Case& cluster, const Plan& plan) {
  std::set<GangIndex> gangs;
  for (const Placement& placement : plan.placements) {
    const Pod& pod = cluster.problem().pods[placement.pod];
    if (pod.status == PodStatus::kPending) gangs.insert(pod.gang);
  }
  return {gangs.begin(), gangs.end()};
}

// Finds a claimant for each eviction, gang by gang, so that the fewest rules are broken; returns what is still broken.
std::vector<referee::Violation> attribute(const Case& cluster, Plan& plan) {
  const auto broken = [&] { return cluster.check(plan); };
  const std::vector<GangIndex> claimants = claimants_of(cluster, plan);
  if (claimants.empty()) return broken();
  for (Eviction& eviction : plan.evictions) eviction.for_gang = claimants.front();
  std::size_t fewest = broken().size();
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t at = 0; at < plan.evictions.size() && fewest > 0; ++at) {
      const Eviction before = plan.evictions[at];
      Eviction best = before;
      for (const GangIndex claimant : claimants) {
        for (const EvictionReason reason : {EvictionReason::kPreempt, EvictionReason::kReclaim}) {
          const bool is_move = before.reason == EvictionReason::kConsolidate;
          plan.evictions[at] = {before.pod, is_move ? before.reason : reason, claimant};
          const std::size_t count = broken().size();
          if (count < fewest) {
            fewest = count;
            best = plan.evictions[at];
          }
        }
      }
      plan.evictions[at] = best;
    }
  }
  return broken();
}

// Replays the plans up to, not including, the one of `cycle`.
std::optional<Case> case_of(const std::string& line, const std::vector<Decided>& decided, int cycle,
                            Nanoseconds later) {
  std::optional<Case> cluster = Case::if_valid(line);
  for (int i = 0; i < cycle && cluster; ++i)
    cluster = Case::if_valid(cluster->next(decided[static_cast<std::size_t>(i)].plan, later));
  return cluster;
}

bool is_of_staleness(const Decided& decided) {
  return std::ranges::any_of(decided.plan.evictions,
                             [](const Eviction& eviction) { return eviction.reason == EvictionReason::kStale; });
}

// Whether the last plan evicts or moves a pod that one before it has placed.
bool undoes_earlier(const std::vector<Decided>& decided) {
  return std::ranges::any_of(decided.back().evicted, [&](const std::string& pod) {
    return std::any_of(decided.begin(), decided.end() - 1,
                       [&](const Decided& earlier) { return earlier.placed.contains(pod); });
  });
}

// A rule that lets one plan do only so much, and the next one more: budgets, the number of moves, and spread, which
// counts pods until they are gone.
bool is_rationed(const referee::Violation& violation) {
  return violation.rule == referee::Rule::kDisruptionBudget || violation.rule == referee::Rule::kSpread ||
         (violation.rule == referee::Rule::kConsolidate && violation.subject == "maxMoves");
}

Finding classify(const std::string& line, const std::vector<Decided>& decided, int cycle, Nanoseconds later,
                 const Spots& end) {
  const Decided &second = decided[static_cast<std::size_t>(cycle)],
                &first = decided[static_cast<std::size_t>(cycle - 1)];
  Finding finding{Disturbance::kStale, cycle, "", first.text + " |" + second.text, false, false};
  if (std::ranges::any_of(decided, is_of_staleness)) return finding;
  const std::optional<Case> cluster = case_of(line, decided, cycle - 1, later);
  Plan plan = both_in_one(*cluster, end);
  const auto violations = attribute(*cluster, plan);
  if (!violations.empty()) {
    finding.kind = first.plan == Plan{}              ? Disturbance::kTime
                   : is_rationed(violations.front()) ? Disturbance::kRationed
                                                     : Disturbance::kTwoSteps;
    finding.why = std::string(referee::rule_name(violations[0].rule)) + ": " + violations[0].subject + ": " +
                  violations[0].message;
    return finding;
  }
  const std::vector<LevelId> ids = level_ids(cluster->problem());
  const Levels one = evaluate(cluster->problem(), cluster->shares(), plan);
  const Levels before = evaluate(cluster->problem(), cluster->shares(), first.plan);
  const bool is_better = compare(one, before, ids) > 0;
  finding.kind = !is_better                 ? (first.plan == Plan{} ? Disturbance::kTime : Disturbance::kTurned)
                 : first.proof == "optimal" ? Disturbance::kUnprovable
                                            : Disturbance::kMissed;
  for (std::size_t i = 0; i < ids.size() && finding.why.empty(); ++i) {
    if (one.values[i] == before.values[i]) continue;
    finding.why = std::string(level_name(ids[i].kind)) + " " + std::to_string(before.values[i]) + " -> " +
                  std::to_string(one.values[i]) + " (" + first.proof + ")";
  }
  return finding;
}

}  // namespace

bool is_proven_up_to(LevelKind last, const portfolio::Solution& solution) {
  return std::ranges::all_of(solution.report.objective, [&](const explain::LevelReport& level) {
    return level.id.kind > last || level.bound == level.value;
  });
}

std::string_view disturbance_name(Disturbance kind) {
  switch (kind) {
    case Disturbance::kTime:
      return "time";
    case Disturbance::kStale:
      return "stale";
    case Disturbance::kMissed:
      return "missed";
    case Disturbance::kUnprovable:
      return "unprovable";
    case Disturbance::kTurned:
      return "turned";
    case Disturbance::kRationed:
      return "rationed";
    case Disturbance::kTwoSteps:
      break;
  }
  return "two steps";
}

Answering answers_of(portfolio::Portfolio& portfolio, portfolio::Engine engine) {
  return [&portfolio, engine](const Case& cluster) -> std::optional<EngineAnswer> {
    portfolio::SolveOptions options;
    options.engine = engine;
    options.deterministic = true;
    portfolio::Solution solution = portfolio.solve(cluster.snapshot(), cluster.problem(), options);
    return EngineAnswer{std::move(solution.plan), std::string(proof_name(solution.proof)),
                        is_proven_up_to(LevelKind::kSeniority, solution), std::move(solution.defects)};
  };
}

Carried carry_on(const std::string& line, const Answering& answer, const CycleOptions& options) {
  Carried carried;
  std::vector<Decided> decided;
  std::vector<Spots> ends;
  std::optional<Case> cluster = Case::if_valid(line);
  for (int cycle = 0; cycle < options.cycles && cluster; ++cycle) {
    const std::optional<EngineAnswer> solution = answer(*cluster);
    if (!solution) break;
    ++carried.plans;
    carried.proven += solution->is_proven ? 1 : 0;
    carried.rejected.insert(carried.rejected.end(), solution->defects.begin(), solution->defects.end());
    for (const referee::Violation& v : cluster->check(solution->plan))
      carried.faults.push_back(std::string(referee::rule_name(v.rule)) + ": " + v.subject + ": " + v.message);
    decided.push_back(decided_of(*cluster, *solution));
    cluster = Case::if_valid(cluster->next(solution->plan, options.later));
    if (!cluster) {
      carried.faults.push_back("the snapshot after cycle " + std::to_string(cycle) + " cannot be built");
      break;
    }
    ends.push_back(spots_of(*cluster));
    if (cycle == 0) carried.first_evicts = !solution->plan.evictions.empty();
    if (cycle == 0 || solution->plan.evictions.empty()) continue;
    carried.findings.push_back(classify(line, decided, cycle, options.later, ends.back()));
    carried.findings.back().undoes = undoes_earlier(decided);
    carried.findings.back().returns = std::ranges::find(ends.begin(), ends.end() - 1, ends.back()) != ends.end() - 1;
  }
  return carried;
}

}  // namespace muster::properties
