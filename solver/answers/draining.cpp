#include "solver/answers/draining.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/build/build_problem.h"
#include "model/change/hold_back.h"
#include "model/explain/remaining_capacity.h"
#include "model/problem/eviction_loss.h"
#include "model/problem/gang_tree.h"
#include "model/problem/next_snapshot.h"
#include "solver/answers/loss.h"

namespace muster::answers {
namespace {

using portfolio::Engine;
using Failure = std::optional<InputError>;
using NodeNames = std::set<std::string, std::less<>>;

// By metadata.name, as the controller of DaemonSets does it.
bool is_tied(const PodSpec& spec) {
  if (!spec.node_affinity.required) return false;
  const auto names_node = [](const SelectorRequirement& field) { return field.op == SelectorOperator::kIn; };
  return std::ranges::any_of(*spec.node_affinity.required, [&](const NodeSelectorTerm& term) {
    return std::ranges::any_of(term.match_fields, names_node);
  });
}

// What is there of the drained pods before they leave: the problem of the cluster, and these pods.
struct Before {
  std::unique_ptr<Snapshot> snapshot;
  Problem problem;
  std::vector<PodIndex> pods;  // ascending
  std::int64_t tied = 0;
};

class Planner {
 public:
  Planner(const Snapshot& original, portfolio::Portfolio& portfolio, const ExperimentOptions& options,
          const DrainQuestion& question)
      : original_(original), portfolio_(portfolio), time_(options), question_(question), nodes_(question.nodes) {}

  Result<Draining> run() {
    Snapshot cordoned(original_);
    for (const std::string& node : nodes_) {
      if (Failure failure = change::apply(change::Cordon{node}, cordoned)) return *std::move(failure);
    }
    if (!question_.competes) change::hold_back_waiting(cordoned);
    if (Failure failure = drain_at_once(cordoned)) return *std::move(failure);
    if (nodes_.size() > 1) {
      if (Failure failure = drain_in_turn(std::move(cordoned))) return *std::move(failure);
    }
    return std::move(draining_);
  }

 private:
  Result<Before> before(const Snapshot& snapshot, const NodeNames& nodes) const {
    Before before;
    before.snapshot = std::make_unique<Snapshot>(snapshot);
    Result<Problem> problem = build_problem(*before.snapshot, time_.threads());
    if (!problem) return problem.error();
    before.problem = *std::move(problem);
    for (const PodIndex index : before.problem.pods.indices()) {
      const SnapshotPod& pod = before.snapshot->pods[index.value()];
      if (pod.status != PodStatus::kRunning || !nodes.contains(pod.node)) continue;
      if (is_tied(before.snapshot->pod_specs[pod.spec])) {
        ++before.tied;
      } else {
        before.pods.push_back(index);
      }
    }
    return before;
  }

  // The cluster in which these pods are pending again and count in no disruption budget any more.
  static Snapshot drained(const Before& before) {
    Snapshot snapshot(*before.snapshot);
    std::map<std::pair<std::string_view, std::string_view>, std::int64_t> gone;
    for (const PodIndex pod : before.pods) {
      make_pending_again(snapshot.pods[pod.value()], snapshot.time);
      for (const DisruptionBudgetIndex index : before.problem.disruption_budgets.of(pod)) {
        const DisruptionBudget& budget = before.problem.disruption_budgets.all()[index];
        ++gone[{budget.namespace_name, budget.name}];
      }
    }
    for (SnapshotDisruptionBudget& budget : snapshot.disruption_budgets) {
      const auto found = gone.find({budget.namespace_name, budget.name});
      if (found != gone.end()) budget.allowed = std::max<std::int64_t>(0, budget.allowed - found->second);
    }
    return snapshot;
  }

  // Gangs with drained pods, in their order.
  static std::vector<DrainedGang> gangs_of(const Before& before, std::map<GangIndex, std::size_t>& position) {
    std::vector<DrainedGang> gangs;
    const Problem& problem = before.problem;
    std::map<GangIndex, std::int64_t> pods;
    for (const PodIndex pod : before.pods) ++pods[problem.pods[pod].gang];
    for (const auto& [index, count] : pods) {
      const Gang& gang = problem.gangs[index];
      const auto leaves = [&](PodIndex pod) { return std::ranges::binary_search(before.pods, pod); };
      const auto runs = [&](PodIndex pod) { return problem.pods[pod].status == PodStatus::kRunning; };
      const auto has_succeeded = [&](PodIndex pod) { return problem.pods[pod].status == PodStatus::kSucceeded; };
      DrainedGang drained;
      drained.name = gang.name;
      drained.pods = count;
      const bool was_whole =
          meets_minimum(problem, gang, [&](PodIndex pod) { return runs(pod) || has_succeeded(pod); });
      const bool stays_whole =
          meets_minimum(problem, gang, [&](PodIndex pod) { return (runs(pod) && !leaves(pod)) || has_succeeded(pod); });
      drained.is_broken = was_whole && !stays_whole;
      for (const PodIndex pod : gang.pods) {
        if (runs(pod) && (drained.is_broken || leaves(pod)))
          drained.lost_work = saturating_add(drained.lost_work, muster::loss_of(problem, pod));
      }
      position[index] = gangs.size();
      gangs.push_back(std::move(drained));
    }
    return gangs;
  }

  struct Outcome {
    DrainOutcome sums;
    std::vector<DrainedGang> gangs;
    std::unique_ptr<Run> run;
  };

  Result<Outcome> solve(const Before& before, Engine engine, double share) {
    Experiment experiment(original_, portfolio_, time_.for_plan(engine, share));
    Result<std::unique_ptr<Run>> run = experiment.solve(drained(before), {});
    if (!run) return run.error();
    ++draining_.runs;
    Outcome outcome;
    outcome.run = *std::move(run);
    std::map<GangIndex, std::size_t> position;
    outcome.gangs = gangs_of(before, position);
    count(before, position, outcome);
    return outcome;
  }

  // The pods and gangs of the drained cluster have the indices that they had before.
  static void count(const Before& before, const std::map<GangIndex, std::size_t>& position, Outcome& outcome) {
    const Run& run = *outcome.run;
    const Plan& plan = run.solution.plan;
    const auto is_placed = [&](PodIndex pod) {
      return std::ranges::binary_search(plan.placements, pod, {}, &Placement::pod);
    };
    DrainOutcome& sums = outcome.sums;
    sums.pods = static_cast<std::int64_t>(before.pods.size());
    for (const PodIndex pod : before.pods) {
      if (!is_placed(pod)) continue;
      ++sums.placed;
      ++outcome.gangs[position.at(before.problem.pods[pod].gang)].placed;
    }
    for (const auto& [gang, at] : position) {
      DrainedGang& drained = outcome.gangs[at];
      drained.is_whole = run.admits(gang);
      sums.lost_work = saturating_add(sums.lost_work, drained.lost_work);
      const explain::GangReport* report = run.report_on(gang);
      if (!report || drained.placed == drained.pods) continue;
      drained.reason = explain::reason_text(report->reason);
      drained.message = report->message;
    }
    sums.loss = loss_of(run);
    const explain::AfterPlan end = explain::after_plan(run.problem, plan);
    for (const PodIndex pod : run.problem.pods.indices()) {
      const PodClass& pod_class = run.problem.class_of(pod);
      if (end.is_present(pod) && pod_class.counts_as_gpu)
        sums.running_work = saturating_add(sums.running_work, pod_class.work);
    }
  }

  Failure drain_at_once(const Snapshot& cordoned) {
    const Result<Before> all = before(cordoned, NodeNames(nodes_.begin(), nodes_.end()));
    if (!all) return all.error();
    draining_.tied_pods = all->tied;
    const DisruptionBudgets& budgets = all->problem.disruption_budgets;
    std::map<DisruptionBudgetIndex, std::int64_t> needed;
    for (const PodIndex pod : all->pods) {
      for (const DisruptionBudgetIndex budget : budgets.of(pod)) ++needed[budget];
    }
    for (const auto& [budget, pods] : needed) {
      const DisruptionBudget& known = budgets.all()[budget];
      if (pods > known.allowed && !known.is_of_gang) draining_.budgets.push_back({known.title(), known.allowed, pods});
    }
    Result<Outcome> outcome = solve(*all, time_.engine(), nodes_.size() > 1 ? kTuning.answers.base : 1);
    if (!outcome) return outcome.error();
    draining_.at_once = outcome->sums;
    draining_.gangs = std::move(outcome->gangs);
    draining_.others = leaving_pods(*outcome->run);
    return {};
  }

  // The less the better: what finds no room, what others lose, what is interrupted.
  static auto cost_of(const DrainOutcome& outcome) {
    return std::tuple(-outcome.running_work, outcome.loss.evicted_work, outcome.lost_work, outcome.loss.moved_work);
  }

  Failure drain_in_turn(Snapshot snapshot) {
    std::vector<std::string> left = nodes_;
    if (Failure failure = sort_by_loss(snapshot, left)) return failure;
    while (!left.empty()) {
      std::optional<std::size_t> best;
      Outcome best_outcome;
      for (std::size_t i = 0; i < std::min(left.size(), kTuning.answers.drained); ++i) {
        if (time_.is_over() && best) {
          draining_.is_greedy = false;
          break;
        }
        const Result<Before> one = before(snapshot, NodeNames{left[i]});
        if (!one) return one.error();
        Result<Outcome> outcome = solve(*one, Engine::kGreedy, 1);
        if (!outcome) return outcome.error();
        if (best && cost_of(best_outcome.sums) <= cost_of(outcome->sums)) continue;
        best = i;
        best_outcome = *std::move(outcome);
      }
      draining_.is_greedy = draining_.is_greedy && left.size() <= kTuning.answers.drained;
      draining_.steps.push_back({left[*best], best_outcome.sums});
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(*best));
      Run& run = *best_outcome.run;
      snapshot = next_snapshot(std::move(*run.snapshot), run.problem, run.solution.plan, 0);
      if (!left.empty() && time_.is_over()) {
        draining_.is_complete = false;
        return {};
      }
    }
    return {};
  }

  // Nodes with the least lost work first, so that these are tried if not all can be.
  Failure sort_by_loss(const Snapshot& snapshot, std::vector<std::string>& nodes) const {
    std::map<std::string, std::int64_t, std::less<>> loss;
    const Result<Before> all = before(snapshot, NodeNames(nodes.begin(), nodes.end()));
    if (!all) return all.error();
    for (const PodIndex pod : all->pods) {
      std::int64_t& of_node = loss[std::string(all->snapshot->pods[pod.value()].node)];
      of_node = saturating_add(of_node, muster::loss_of(all->problem, pod));
    }
    std::ranges::stable_sort(nodes, {}, [&](const std::string& node) { return loss[node]; });
    return {};
  }

  const Snapshot& original_;
  portfolio::Portfolio& portfolio_;
  AnswerTime time_;
  const DrainQuestion& question_;
  const std::vector<std::string>& nodes_;
  Draining draining_;
};

}  // namespace

Result<Draining> drain_nodes(const Snapshot& original, portfolio::Portfolio& portfolio,
                             const ExperimentOptions& options, const DrainQuestion& question) {
  MUSTER_REQUIRE(!question.nodes.empty());
  return Planner(original, portfolio, options, question).run();
}

}  // namespace muster::answers
