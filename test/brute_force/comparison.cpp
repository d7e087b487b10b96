#include "test/brute_force/comparison.h"

#include <algorithm>
#include <exception>

#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/objective/evaluation.h"
#include "model/problem/next_snapshot.h"
#include "model/referee/referee.h"
#include "test/brute_force/brute_force.h"
#include "test/brute_force/outcomes.h"
#include "test/brute_force/policy_search.h"

namespace muster::brute_force {
namespace {

class Comparer {
 public:
  // `ids`: the levels that are compared, a beginning of all.
  Comparer(const Snapshot& snapshot, const Problem& problem, const Best& best, std::vector<LevelId> ids)
      : snapshot_(snapshot),
        problem_(problem),
        shares_(compute_fair_shares(problem)),
        best_(best),
        ids_(std::move(ids)) {
    result.states = best.states;
    for (const Eviction& eviction : best.plan.evictions) {
      (is_placed(best.plan, eviction.pod) ? result.moves : result.evicts) = true;
    }
  }

  void check_best() {
    for (const referee::Violation& violation : referee::check_plan(snapshot_, problem_, shares_, best_.plan)) {
      find(Finding::kBruteForce, "its plan breaks " + std::string(referee::rule_name(violation.rule)) + ": " +
                                     violation.subject + ": " + violation.message);
    }
    if (!result.remarks.empty()) return;
    const Levels levels = evaluate(problem_, shares_, best_.plan);
    if (levels != best_.levels)
      find(Finding::kBruteForce, "its levels are " + words(levels) + ", it says " + words(best_.levels));
  }

  void check_engine(const std::string& name, const portfolio::Solution& solution) {
    for (const std::string& defect : solution.defects) find(Finding::kRule, name + " defect: " + defect);
    for (const referee::Violation& violation : referee::check_plan(snapshot_, problem_, shares_, solution.plan)) {
      find(Finding::kRule, name + " breaks " + std::string(referee::rule_name(violation.rule)) + ": " +
                               violation.subject + ": " + violation.message);
    }
    const Levels levels = evaluate(problem_, shares_, solution.plan);
    const auto order = compare(levels, best_.levels, ids_);
    if (order > 0) find(Finding::kBeyond, name + " " + words(levels) + " is beyond the best " + words(best_.levels));
    check_bounds(name, solution, levels);
    if (name == "greedy") result.greedy_is_best = order == 0;
    if (name != "milp") return;
    result.is_proven = is_proven(solution);
    if (order < 0)
      result.is_relaxed =
          problem_.has_ordered_rules() || problem_.snapshot->policy.over_time.eviction_price.has_value();
    if (order < 0 && (result.is_proven || !(result.is_relaxed || is_beyond_the_formulation(levels))))
      find(result.is_proven ? Finding::kFalseProof : Finding::kShort,
           name + " " + words(levels) + ", the best is " + words(best_.levels));
    if (order < 0) result.first_level = first_difference(levels);
    if (compare(levels, greedy_, ids_) < 0) find(Finding::kShort, "milp is worse than greedy");
  }
  void remember_greedy(const portfolio::Solution& solution) { greedy_ = evaluate(problem_, shares_, solution.plan); }

  Comparison result;
  void find(Finding finding, std::string remark) {
    if (result.finding == Finding::kAgrees || finding < result.finding) result.finding = finding;
    result.remarks.push_back(std::move(remark));
  }

 private:
  // In the levels that are compared.
  bool is_proven(const portfolio::Solution& solution) const {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const explain::LevelReport& level = solution.report.objective.at(i);
      if (level.bound != level.value) return false;
    }
    return true;
  }
  // A bound holds given the values of the levels before it: it bounds the best only while these are equal.
  void check_bounds(const std::string& name, const portfolio::Solution& solution, const Levels& levels) {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const std::optional<std::int64_t>& bound = solution.report.objective.at(i).bound;
      const bool is_exceeded =
          bound && (is_maximised(ids_[i].kind) ? best_.levels.values[i] > *bound : best_.levels.values[i] < *bound);
      if (is_exceeded)
        find(Finding::kFalseProof, name + " claims that " + level(i) + " cannot pass " + std::to_string(*bound) +
                                       ": it is " + std::to_string(best_.levels.values[i]));
      if (levels.values[i] != best_.levels.values[i]) return;
    }
  }

  std::string level(std::size_t i) const {
    return std::string(level_name(ids_[i].kind)) + "/" + std::to_string(ids_[i].priority);
  }
  // The integer program does not distinguish which of equal gangs is where, nor the domains that no gang asks for: of
  // plans that are equal down to `wholeNodes` it need not find the best, but must not claim that it has.
  bool is_beyond_the_formulation(const Levels& levels) const {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (levels.values[i] != best_.levels.values[i]) return ids_[i].kind > LevelKind::kWholeNodes;
    }
    return false;
  }
  std::string first_difference(const Levels& levels) const {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (levels.values[i] != best_.levels.values[i]) return std::string(level_name(ids_[i].kind));
    }
    return "";
  }
  std::string words(const Levels& levels) const {
    std::string text;
    for (std::size_t i = 0; i < ids_.size(); ++i)
      text += (i == 0 ? "" : " ") + level(i) + "=" + std::to_string(levels.values[i]);
    return text;
  }

  const Snapshot& snapshot_;
  const Problem& problem_;
  FairShares shares_;
  const Best& best_;
  std::vector<LevelId> ids_;
  Levels greedy_;
};

Comparison refused(Finding finding, std::string remark) {
  Comparison comparison;
  comparison.finding = finding;
  comparison.remarks.push_back(std::move(remark));
  return comparison;
}

}  // namespace

std::string_view finding_name(Finding finding) {
  switch (finding) {
    case Finding::kAgrees:
      return "agrees";
    case Finding::kTooLarge:
      return "too large";
    case Finding::kUnreadable:
      return "unreadable";
    case Finding::kBruteForce:
      return "brute force is wrong";
    case Finding::kThrows:
      return "throws";
    case Finding::kRule:
      return "breaks a rule";
    case Finding::kBeyond:
      return "beyond the best";
    case Finding::kFalseProof:
      return "false proof";
    case Finding::kShort:
      break;
  }
  return "short";
}

Comparison compare_engines(const std::string& line, portfolio::Portfolio& portfolio, const ComparisonOptions& options) {
  Result<Snapshot> read = muster_v1::SnapshotReader({.strict = false}).read(line);
  if (!read) return refused(Finding::kUnreadable, read.error().path + ": " + read.error().message);
  Snapshot snapshot = std::move(*read);
  const Result<Problem> problem = build_problem(snapshot);
  if (!problem) return refused(Finding::kUnreadable, problem.error().path + ": " + problem.error().message);
  const FairShares shares = compute_fair_shares(*problem);
  const std::optional<Best> best = options.with_evictions ? solve_with_evictions(*problem, shares, options.most_states)
                                                          : solve(*problem, shares, options.most_states);
  if (!best) return refused(Finding::kTooLarge, "");
  std::vector<LevelId> ids = level_ids(*problem);
  if (options.with_evictions) ids.resize(leading_levels(ids));
  Comparer comparer(snapshot, *problem, *best, std::move(ids));
  comparer.check_best();
  try {
    portfolio::SolveOptions solve_options;
    solve_options.deterministic = true;
    solve_options.engine = portfolio::Engine::kGreedy;
    const portfolio::Solution greedy = portfolio.solve(snapshot, *problem, solve_options);
    comparer.remember_greedy(greedy);
    comparer.check_engine("greedy", greedy);
    if (options.with_milp) {
      solve_options.engine = portfolio::Engine::kMilp;
      comparer.check_engine("milp", portfolio.solve(snapshot, *problem, solve_options));
    }
  } catch (const std::exception& error) {
    comparer.find(Finding::kThrows, error.what());
  }
  return comparer.result;
}

}  // namespace muster::brute_force
