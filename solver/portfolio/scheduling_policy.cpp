#include "solver/portfolio/scheduling_policy.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "heuristics/policies/baselines.h"
#include "heuristics/policies/online_placing.h"
#include "model/referee/referee.h"

namespace muster::portfolio {

const std::vector<std::string_view>& policy_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all = {"greedy", "auto", "milp", "fifo", "backfill", "easy", "kai", "clairvoyant"};
    for (const policies::OnlinePolicyKind kind : policies::online_policies())
      all.push_back(policies::online_policy_name(kind));
    return all;
  }();
  return names;
}

KnownDurations known_durations(std::string_view policy) {
  if (policy == "greedy" || policy == "auto" || policy == "milp") return KnownDurations::kByRules;
  if (policy == "easy") return KnownDurations::kExpected;
  return policy == "clairvoyant" ? KnownDurations::kExact : KnownDurations::kNone;
}

SchedulingPolicy::SchedulingPolicy(PolicyOptions options, std::string worker_program)
    : options_(std::move(options)), portfolio_(std::move(worker_program)) {}

Plan SchedulingPolicy::propose(const Snapshot& snapshot, const Problem& problem, const FairShares& shares,
                               std::vector<std::string>& defects) {
  if (options_.name == "fifo") return policies::solve_fifo(problem, shares, policies::FifoRule::kStrict);
  if (options_.name == "backfill") return policies::solve_fifo(problem, shares, policies::FifoRule::kBackfill);
  if (options_.name == "easy") return policies::solve_easy(problem, shares);
  if (options_.name == "clairvoyant") return policies::solve_shortest_first(problem, shares);
  if (options_.name == "kai") return policies::solve_in_kai_order(problem, shares);
  if (const auto kind = policies::online_policy_of(options_.name))
    return policies::solve_one_by_one(problem, {*kind, {}, {}});
  SolveOptions solve;
  solve.engine = options_.name == "greedy" ? Engine::kGreedy : options_.name == "milp" ? Engine::kMilp : Engine::kAuto;
  solve.threads = options_.threads;
  solve.seed = options_.seed;
  solve.deterministic = options_.budget == 0;
  if (options_.budget > 0) solve.deadline = Clock::now() + std::chrono::nanoseconds(options_.budget);
  Solution solution = portfolio_.solve(snapshot, problem, solve);
  for (std::string& defect : solution.defects) defects.push_back(std::move(defect));
  return std::move(solution.plan);
}

Plan SchedulingPolicy::decide(const Snapshot& snapshot, const Problem& problem, const FairShares& shares,
                              std::vector<std::string>& defects) {
  Plan plan = propose(snapshot, problem, shares, defects);
  const std::vector<referee::Violation> violations = referee::check_plan(snapshot, problem, shares, plan);
  if (violations.empty()) return plan;
  const referee::Violation& first = violations.front();
  defects.push_back(fmt::format("{}: the plan breaks {}: {}: {}", options_.name, referee::rule_name(first.rule),
                                first.subject, first.message));
  return {};
}

}  // namespace muster::portfolio
