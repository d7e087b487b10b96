#include "test/scenarios/judge.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <unordered_map>

#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/objective/evaluation.h"
#include "model/referee/referee.h"
#include "model/snapshot/unread.h"

namespace muster::scenarios {
namespace {

// The plan's effect on one gang, counted from its placements and evictions alone.
struct Counts {
  std::int64_t running = 0, evicted = 0, moved = 0, pending = 0;
  std::set<std::string> nodes;
};

class Judge {
 public:
  Judge(const Scenario& scenario, const Snapshot& snapshot, const Problem& problem)
      : scenario_(scenario), snapshot_(snapshot), problem_(problem), ids_(level_ids(problem)) {}

  Judgement judge(const portfolio::Solution& solution) const {
    Judgement judgement;
    judgement.origin = origin_name(solution.origin);
    judgement.proof = proof_name(solution.proof);
    judgement.defects = solution.defects;
    const FairShares shares = compute_fair_shares(problem_);
    check_rules(solution, shares, judgement);
    if (!judgement.remarks.empty()) return judgement;
    judgement.levels = evaluate(problem_, shares, solution.plan);
    bool counts_are_right = true;
    for (const auto& [name, expected] : scenario_.gangs) {
      counts_are_right = check_counts(name, expected, solution.plan, judgement) && counts_are_right;
      check_words(name, expected, solution.report, judgement);
    }
    judgement.outcome = judgement.remarks.empty() ? Outcome::kExact : Outcome::kWorse;
    if (!counts_are_right && scenario_.pods) judge_by_levels(shares, judgement);
    return judgement;
  }

 private:
  void check_rules(const portfolio::Solution& solution, const FairShares& shares, Judgement& judgement) const {
    for (const referee::Violation& violation : referee::check_plan(snapshot_, problem_, shares, solution.plan)) {
      judgement.remarks.push_back("breaks " + std::string(referee::rule_name(violation.rule)) + ": " +
                                  violation.subject + ": " + violation.message);
    }
    if (!judgement.remarks.empty()) return;
    const Levels levels = evaluate(problem_, shares, solution.plan);
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const explain::LevelReport& told = solution.report.objective.at(i);
      const std::string level = std::string(level_name(ids_[i].kind)) + " " + std::to_string(ids_[i].priority);
      if (told.value != levels.values[i])
        judgement.remarks.push_back("claims " + std::to_string(told.value) + " of " + level + ", is " +
                                    std::to_string(levels.values[i]));
      const bool beyond =
          told.bound && (is_maximised(ids_[i].kind) ? *told.bound < told.value : *told.bound > told.value);
      if (beyond) judgement.remarks.push_back("is beyond its bound " + std::to_string(*told.bound) + " of " + level);
    }
  }

  const Gang* gang_named(const std::string& name) const {
    const auto at = std::ranges::find(problem_.gangs, std::string_view(name), &Gang::name);
    return at == problem_.gangs.end() ? nullptr : &*at;
  }

  Counts count(const Gang& gang, const Plan& plan) const {
    Counts counts;
    for (const PodIndex pod : gang.pods) {
      const auto placed = std::ranges::find(plan.placements, pod, &Placement::pod);
      const bool is_placed = placed != plan.placements.end();
      const bool is_evicted = std::ranges::find(plan.evictions, pod, &Eviction::pod) != plan.evictions.end();
      const PodStatus status = problem_.pods[pod].status;
      const bool ran = status == PodStatus::kRunning;
      if (is_placed || (ran && !is_evicted)) {
        ++counts.running;
        const NodeIndex node = is_placed ? placed->node : problem_.pods[pod].node;
        counts.nodes.insert(std::string(snapshot_.nodes[node.value()].name));
      } else if (status == PodStatus::kPending || status == PodStatus::kGated) {
        ++counts.pending;
      }
      if (ran && is_evicted) ++(is_placed ? counts.moved : counts.evicted);
    }
    return counts;
  }

  // False if the pods that run are not as many as expected.
  bool check_counts(const std::string& name, const ExpectedGang& expected, const Plan& plan,
                    Judgement& judgement) const {
    const Gang* gang = gang_named(name);
    if (gang == nullptr) {
      judgement.remarks.push_back("there is no gang " + name);
      return true;
    }
    const Counts counts = count(*gang, plan);
    const auto compare_count = [&](const char* what, const std::optional<std::int64_t>& wanted, std::int64_t is) {
      if (wanted && *wanted != is)
        judgement.remarks.push_back(name + " " + what + " " + std::to_string(is) + ", expected " +
                                    std::to_string(*wanted));
      return !wanted || *wanted == is;
    };
    const bool running = compare_count("running", expected.running, counts.running);
    compare_count("evicted", expected.evicted, counts.evicted);
    compare_count("moved", expected.moved, counts.moved);
    compare_count("pending", expected.pending, counts.pending);
    for (const std::string& node : counts.nodes) {
      if (!expected.nodes.empty() && std::ranges::find(expected.nodes, node) == expected.nodes.end())
        judgement.remarks.push_back(name + " is on " + node);
    }
    for (const std::string& node : expected.nodes) {
      if (scenario_.every_node_is_used && counts.nodes.count(node) == 0)
        judgement.remarks.push_back(name + " is not on " + node);
    }
    return running;
  }

  void check_words(const std::string& name, const ExpectedGang& expected, const explain::Report& report,
                   Judgement& judgement) const {
    const auto at = std::ranges::find_if(
        report.gangs, [&](const explain::GangReport& entry) { return problem_.gangs[entry.gang].name == name; });
    const explain::GangReport* entry = at == report.gangs.end() ? nullptr : &*at;
    const auto differ = [&](const char* what, const std::string& is, const std::string& wanted) {
      judgement.remarks.push_back(name + " " + what + " '" + is + "', expected '" + wanted + "'");
    };
    if (expected.phase) {
      const std::string phase = entry == nullptr ? "none" : std::string(explain::phase_name(entry->phase));
      if (phase != *expected.phase) differ("phase", phase, *expected.phase);
    }
    const std::string reason = entry == nullptr ? "" : explain::reason_text(entry->reason);
    if (!expected.reasons.empty() && std::ranges::find(expected.reasons, reason) == expected.reasons.end())
      differ("reason", reason, expected.reasons.front());
    const std::string make_room(entry == nullptr ? "" : explain::make_room_text(entry->make_room));
    if (expected.make_room && make_room != *expected.make_room) differ("makeRoom", make_room, *expected.make_room);
    const std::string message = entry == nullptr ? "" : entry->message;
    for (const std::string& part : expected.message_parts) {
      if (message.find(part) == std::string::npos) differ("message", message, part);
    }
  }

  // Levels up to `evicted` do not depend on nodes, so the expected outcome may use any nodes.
  void judge_by_levels(const FairShares& shares, Judgement& judgement) const {
    std::unordered_map<std::string_view, PodIndex> by_name;
    for (const PodIndex pod : problem_.pods.indices()) by_name[snapshot_.pods[pod.value()].name] = pod;
    Plan expected;
    for (const std::string& name : scenario_.pods->evicted)
      expected.evictions.push_back({by_name.at(name), EvictionReason::kPreempt, GangIndex(0)});
    for (const std::string& name : scenario_.pods->running) {
      const PodIndex pod = by_name.at(name);
      if (problem_.pods[pod].status == PodStatus::kPending) expected.placements.push_back({pod, home_of(pod), {}, {}});
    }
    normalise(expected);
    const Levels levels = evaluate(problem_, shares, expected);
    const int order = compare_up_to_evicted(judgement.levels, levels, ids_);
    if (order >= 0) judgement.outcome = Outcome::kAsGood;
    judgement.remarks.push_back(order > 0 ? "better by the levels"
                                          : (order == 0 ? "equal by the levels" : "worse by the levels"));
  }

  NodeIndex home_of(PodIndex pod) const {
    for (const NodeIndex node : problem_.nodes.indices()) {
      if (problem_.class_of(pod).allowed[problem_.nodes[node].node_class.value()]) return node;
    }
    return NodeIndex(0);
  }

  const Scenario& scenario_;
  const Snapshot& snapshot_;
  const Problem& problem_;
  std::vector<LevelId> ids_;
};

Judgement judge_refusal(const Scenario& scenario, const InputError& error) {
  Judgement judgement;
  judgement.outcome = Outcome::kExact;
  for (const std::string& part : scenario.errors) {
    if (error.message.find(part) != std::string::npos) continue;
    judgement.outcome = Outcome::kWorse;
    judgement.remarks.push_back("error '" + error.message + "' lacks '" + part + "'");
  }
  if (scenario.errors.empty()) {
    judgement.outcome = Outcome::kInvalid;
    judgement.remarks.push_back("refused: " + error.path + ": " + error.message);
  }
  return judgement;
}

Judgement judge_strictly(const Scenario& scenario) {
  Result<Snapshot> read = muster_v1::SnapshotReader().read(scenario.line);
  if (!read) return judge_refusal(scenario, read.error());
  const Result<Problem> built = build_problem(*read);
  if (!built) return judge_refusal(scenario, built.error());
  Judgement accepted;
  accepted.remarks.push_back("the line is accepted, expected an error: " + scenario.errors.front());
  return accepted;
}

void check_warnings(const Scenario& scenario, const Anomalies& anomalies, Judgement& judgement) {
  std::set<std::string> told;
  for (const Warning& warning : anomalies.warnings) {
    if (is_remark(warning)) continue;  // of the list as a whole, or of a key that is not read
    told.insert(std::string(error_code_text(warning.code)) + " " + warning.object + " " + warning.name);
  }
  for (const std::string& expected : scenario.warnings) {
    if (told.contains(expected)) continue;
    judgement.outcome = Outcome::kInvalid;
    judgement.remarks.push_back("no warning " + expected);
  }
  if (told.empty() || !scenario.warnings.empty()) return;
  judgement.outcome = Outcome::kInvalid;
  judgement.remarks.push_back("unexpected warning " + *told.begin());
}

}  // namespace

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kExact:
      return "exact";
    case Outcome::kAsGood:
      return "as good";
    case Outcome::kWorse:
      return "worse";
    case Outcome::kInvalid:
      break;
  }
  return "invalid";
}

int compare_up_to_evicted(const Levels& a, const Levels& b, const std::vector<LevelId>& ids) {
  for (std::size_t i = 0; i < ids.size() && ids[i].kind <= LevelKind::kEvicted; ++i) {
    if (a.values[i] == b.values[i]) continue;
    return (a.values[i] > b.values[i]) == is_maximised(ids[i].kind) ? 1 : -1;
  }
  return 0;
}

Judgement judge(const Scenario& scenario, portfolio::Portfolio& portfolio, const JudgeOptions& options) {
  const bool is_refused = !scenario.errors.empty();
  if (is_refused) {
    Judgement refusal = judge_strictly(scenario);
    if (refusal.outcome != Outcome::kExact || scenario.gangs.empty()) return refusal;
  }
  Result<Snapshot> read = muster_v1::SnapshotReader({.strict = !is_refused}).read(scenario.line);
  if (!read) return judge_refusal(scenario, read.error());
  Snapshot snapshot = std::move(*read);
  const Result<Problem> built = build_problem(snapshot);
  if (!built) return judge_refusal(scenario, built.error());
  portfolio::SolveOptions solve;
  solve.engine = options.engine;
  solve.deterministic = options.deterministic;
  const portfolio::Clock::time_point start = portfolio::Clock::now();
  solve.deadline = start + std::chrono::duration_cast<portfolio::Clock::duration>(
                               std::chrono::duration<double, std::milli>(options.budget_ms));
  const portfolio::Solution solution = portfolio.solve(snapshot, *built, solve);
  Judgement judgement = Judge(scenario, snapshot, *built).judge(solution);
  check_warnings(scenario, snapshot.anomalies, judgement);
  judgement.milliseconds = std::chrono::duration<double, std::milli>(portfolio::Clock::now() - start).count();
  return judgement;
}

}  // namespace muster::scenarios
