// The 10 s plan against the true optimum: random clusters of 20 to 60 nodes, each put into one whole model
// (bench/support/whole_model.h) that the `cbc` command solves to the end.
//
// Level by level, each given the plan's values of those before it, until a level is short of its optimum or all down to
// `--last` are compared. A level that reaches the bound by sums alone needs no model. The shortfall of an instance is
// (optimum - value) / max(1, |optimum|) of that first level, 0 if there is none. The model relaxes a little (see
// there), so a shortfall is an upper limit; if cbc's solution, converted to a plan, passes the referee, `reached` is
// that plan's value of the level, and the shortfall is at least that much. If cbc does not finish, the instance is
// counted separately, with cbc's bound in place of the optimum. Reported as a fault: a plan that the referee rejects,
// values that differ from the plan's, a plan below greedy's, and a bound that Muster claims to have proven below the
// value of such a plan. A bound below the model's optimum for which there is no plan is reported as doubtful.
//
// Usage: bench_midsize [--seeds FIRST-LAST] [--budget MS] [--threads N] [--cbc-seconds S] [--last LEVEL] [--keep DIR]
// `--cbc-seconds` is the limit for all levels of an instance together. `--keep` is the folder for snapshots and models
// of faults and of shortfalls above 0.2 %. One JSON line an instance, then the summary.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "bench/support/arguments.h"
#include "bench/support/cbc_command.h"
#include "bench/support/judge.h"
#include "bench/support/machine.h"
#include "bench/support/midsize_cases.h"
#include "bench/support/program.h"
#include "bench/support/whole_model.h"
#include "model/objective/evaluation.h"
#include "model/objective/level_bounds.h"
#include "model/objective/levels.h"

namespace muster::bench::midsize_bench {
namespace {

namespace fs = std::filesystem;

constexpr double kWeak = 0.002;  // a shortfall above it is kept, and is what the mean is to stay below

struct Arguments {
  std::uint64_t first = 1, last = 300;
  std::string budget_ms = "10000", threads = "1", last_level = "moved", keep;
  double cbc_seconds = 120;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--seeds",
                   [&](const std::string& value) {
                     const std::size_t dash = value.find('-');
                     arguments.first = std::stoull(value);
                     arguments.last = dash == std::string::npos ? arguments.first : std::stoull(value.substr(dash + 1));
                   }},
                  {"--budget", [&](const std::string& value) { arguments.budget_ms = value; }},
                  {"--threads", [&](const std::string& value) { arguments.threads = value; }},
                  {"--cbc-seconds", [&](const std::string& value) { arguments.cbc_seconds = std::stod(value); }},
                  {"--last", [&](const std::string& value) { arguments.last_level = value; }},
                  {"--keep", [&](const std::string& value) { arguments.keep = value; }},
              });
  return arguments;
}

// How far the comparison came.
enum class Outcome : std::uint8_t { kOptimal, kShort, kUnfinished, kFault };

struct Run {
  std::uint64_t seed = 0;
  Outcome outcome = Outcome::kOptimal;
  std::vector<std::string> faults;
  std::string level;     // the first that is short, or that cbc did not finish; empty: none
  double shortfall = 0;  // against the optimum, or against cbc's bound if it did not finish
  std::int64_t value = 0, optimum = 0;
  std::optional<std::int64_t> reached;  // by a plan made of cbc's solution
  std::string refusal;                  // why there is no such plan
  std::vector<std::string> doubts;
  std::int64_t greedy = 0;  // greedy's value of the first level in which it differs from the plan; else 0
  std::string greedy_level;
  std::size_t nodes = 0, pods = 0, solved_levels = 0, evicted = 0;
  std::string origin, proof;
  double told_ms = 0, cbc_seconds = 0, load = 0;
  std::int32_t columns = 0, rows = 0;
};

std::string name_of(const LevelId& id) {
  return has_priority(id.kind) ? fmt::format("{}:{}", level_name(id.kind), id.priority)
                               : std::string(level_name(id.kind));
}

// One instance: its plans, and the walk down the levels.
class Comparison {
 public:
  Comparison(std::uint64_t seed, const Arguments& arguments, const CbcCommand& cbc)
      : arguments_(arguments),
        cbc_(cbc),
        line_(midsize_snapshot(seed)),
        judge_(line_),
        ids_(level_ids(judge_.problem)),
        trivial_(trivial_bounds(judge_.problem, judge_.shares)) {
    run_.seed = seed;
    run_.nodes = judge_.problem.nodes.size();
    run_.pods = judge_.problem.pods.size();
  }

  Run run() {
    try {
      solve();
      compare_with_greedy();
      compare_with_cbc();
    } catch (const std::exception& fault) {
      run_.faults.emplace_back(fault.what());
    }
    if (!run_.faults.empty()) run_.outcome = Outcome::kFault;
    const bool is_weak = run_.outcome == Outcome::kShort && run_.shortfall > kWeak;
    if (!arguments_.keep.empty() && (is_weak || run_.outcome == Outcome::kFault || !run_.doubts.empty())) keep();
    return std::move(run_);
  }

 private:
  muster_v1::ReadPlan plan_of(const std::string& engine, Levels& levels, double& told_ms) const {
    const Answered answered = answer_of(
        {"--budget", arguments_.budget_ms + "ms", "--threads", arguments_.threads, "--engine", engine, "--quiet"},
        line_);
    told_ms = answered.told_ms;
    muster_v1::ReadPlan plan = judge_.passed(answered.line);
    levels = evaluate(judge_.problem, judge_.shares, plan.plan);
    return plan;
  }

  void solve() {
    plan_ = plan_of("auto", levels_, run_.told_ms);
    run_.origin = origin_name(plan_.solver.origin);
    run_.proof = proof_name(plan_.solver.proof);
    run_.load = load_average();
    for (std::size_t i = 0; i < ids_.size(); ++i)
      if (is_bound_passed(i, levels_.values[i]))
        run_.faults.push_back(name_of(ids_[i]) + ": a bound is claimed below the plan's own value");
    run_.evicted = plan_.plan.evictions.size();
  }

  void compare_with_greedy() {
    double told_ms = 0;
    Levels greedy;
    plan_of("greedy", greedy, told_ms);
    if (compare(levels_, greedy, ids_) < 0) run_.faults.emplace_back("the plan is below greedy's");
    const auto [mine, others] = std::ranges::mismatch(levels_.values, greedy.values);
    if (mine == levels_.values.end()) return;
    run_.greedy = *others;
    run_.greedy_level = name_of(ids_[static_cast<std::size_t>(mine - levels_.values.begin())]);
  }

  void compare_with_cbc() {
    WholeModel model(judge_.problem, judge_.shares);
    if (!model.is_complete()) throw std::runtime_error("the model holds some pods where they are");
    for (std::size_t i = 0; i < ids_.size() && run_.outcome == Outcome::kOptimal; ++i) {
      compare_level(model, i);
      if (level_name(ids_[i].kind) == arguments_.last_level &&
          (i + 1 == ids_.size() || ids_[i + 1].kind != ids_[i].kind))
        break;
    }
  }

  // One solution is as good as another for a level without terms, and for one that differs from an earlier one by a
  // constant.
  void compare_level(WholeModel& model, std::size_t i) {
    formulation::Formulation& formulation = model.formulation();
    const std::optional<lp::LinearExpression> expression = formulation.level(ids_[i]);
    if (!expression) throw std::runtime_error(name_of(ids_[i]) + " is not told by the model");
    std::map<std::int32_t, std::int64_t> terms;
    for (const auto& [column, coefficient] : expression->terms)
      if ((terms[column] += coefficient) == 0) terms.erase(column);
    const auto held = held_.find(terms);
    if (terms.empty() || held != held_.end()) {
      const std::int64_t only = expression->constant + (terms.empty() ? 0 : held->second);
      judge_level(i, only, true);
      return;
    }
    if (levels_.values[i] != trivial_[i]) solve_level(model, i, *expression);
    formulation.hold(ids_[i], *expression, levels_.values[i]);
    held_.emplace(std::move(terms), levels_.values[i] - expression->constant);
  }

  void solve_level(WholeModel& model, std::size_t i, lp::LinearExpression expression) {
    const int sign = is_maximised(ids_[i].kind) ? 1 : -1;
    std::int64_t divisor = 0;
    for (const auto& [column, coefficient] : expression.terms) divisor = std::gcd(divisor, coefficient);
    for (auto& [column, coefficient] : expression.terms) coefficient /= divisor;
    const lp::Milp milp = model.formulation().model().build(expression, sign);
    run_.columns = milp.columns();
    run_.rows = milp.rows();
    const auto start = std::chrono::steady_clock::now();
    const CbcAnswer answer = cbc_.solve(milp, std::max(1.0, arguments_.cbc_seconds - run_.cbc_seconds));
    run_.cbc_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ++run_.solved_levels;
    // In the level's sense and scale; an unfinished value is rounded to the limit that the level may still reach.
    const auto told = [&](double number) {
      return expression.constant + sign * divisor * static_cast<std::int64_t>(std::floor(number + 1e-4));
    };
    if (answer.is_infeasible) throw std::runtime_error(name_of(ids_[i]) + ": cbc calls the model infeasible");
    if (answer.value && told(*answer.value) != levels_.values[i]) check_plan_of(model, answer.x, i);
    if (answer.is_optimal && answer.value)
      judge_level(i, told(*answer.value), true);
    else if (answer.bound && std::abs(*answer.bound) < 1e15)
      judge_level(i, told(*answer.bound), false);
    else
      judge_level(i, trivial_[i], false);
  }

  // `best`: the optimum if it is `proven`, else cbc's bound of it.
  void judge_level(std::size_t i, std::int64_t best, bool proven) {
    const std::int64_t sign = is_maximised(ids_[i].kind) ? 1 : -1, value = levels_.values[i];
    if (proven && is_bound_passed(i, best))
      run_.doubts.push_back(fmt::format("{}: a bound is claimed below cbc's {}", name_of(ids_[i]), best));
    if (sign * value > sign * best) {
      run_.faults.push_back(fmt::format("{} is {}, beyond cbc's {}", name_of(ids_[i]), value, best));
      return;
    }
    if (value == best) return;
    run_.outcome = proven ? Outcome::kShort : Outcome::kUnfinished;
    run_.level = name_of(ids_[i]);
    run_.value = value;
    run_.optimum = best;
    run_.shortfall = static_cast<double>(std::abs(best - value)) / std::max(1.0, std::abs(static_cast<double>(best)));
  }

  // A solution of cbc's converted to a plan: its value of the level, if it has the values of the levels before.
  void check_plan_of(const WholeModel& model, const std::vector<double>& x, std::size_t i) {
    const Plan plan = model.plan_of(x);
    const auto violations = referee::check_plan(judge_.snapshot, judge_.problem, judge_.shares, plan);
    if (!violations.empty()) {
      run_.refusal = violations[0].subject + ": " + violations[0].message;
      return;
    }
    const Levels levels = evaluate(judge_.problem, judge_.shares, plan);
    for (std::size_t before = 0; before < i; ++before)
      if (levels.values[before] != levels_.values[before]) {
        run_.refusal = fmt::format("{} is {}", name_of(ids_[before]), levels.values[before]);
        return;
      }
    run_.reached = levels.values[i];
    if (is_bound_passed(i, *run_.reached))
      run_.faults.push_back(
          fmt::format("{}: a bound is claimed below the {} of a plan", name_of(ids_[i]), *run_.reached));
  }

  // Given the plan's values of the levels before.
  bool is_bound_passed(std::size_t i, std::int64_t reached) const {
    if (!plan_.objective[i].bound) return false;
    const auto scale = static_cast<double>(level_scale(ids_[i].kind, judge_.snapshot.policy.placement));
    const auto bound = static_cast<std::int64_t>(std::llround(std::stod(*plan_.objective[i].bound) * scale));
    return is_maximised(ids_[i].kind) ? bound < reached : bound > reached;
  }

  void keep() const {
    fs::create_directories(arguments_.keep);
    const fs::path path = fs::path(arguments_.keep) / fmt::format("midsize-{}", run_.seed);
    std::ofstream(path.string() + ".jsonl") << line_ << "\n";
    if (run_.solved_levels > 0)
      fs::copy_file(cbc_.model_path(), path.string() + ".mps", fs::copy_options::overwrite_existing);
  }

  const Arguments& arguments_;
  const CbcCommand& cbc_;
  std::string line_;
  Judge judge_;
  std::vector<LevelId> ids_;
  std::vector<std::int64_t> trivial_;
  muster_v1::ReadPlan plan_;
  Levels levels_;
  std::map<std::map<std::int32_t, std::int64_t>, std::int64_t> held_;  // terms -> their sum
  Run run_;
};

std::string_view name_of(Outcome outcome) {
  constexpr std::string_view kNames[] = {"optimal", "short", "unfinished", "fault"};
  return kNames[static_cast<std::size_t>(outcome)];
}

// For JSON: messages quote names here and there.
std::string unquoted(std::string text) {
  std::ranges::replace(text, '"', '\'');
  return text;
}

std::string listed(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += fmt::format(R"({}"{}")", list.empty() ? "" : ",", unquoted(text));
  return list;
}

void print(const Run& run) {
  fmt::print(
      R"({{"seed":{},"outcome":"{}","level":"{}","shortfall":{:.6f},"value":{},"optimum":{},"reached":{},)"
      R"("refusal":"{}","greedyLevel":"{}",)"
      R"("greedy":{},"nodes":{},"pods":{},"evictions":{},"origin":"{}","proof":"{}","elapsedMs":{:.0f},"load":{:.1f},)"
      R"("cbcLevels":{},"cbcSeconds":{:.1f},"columns":{},"rows":{},"doubts":[{}],"faults":[{}]}})"
      "\n",
      run.seed, name_of(run.outcome), run.level, run.shortfall, run.value, run.optimum,
      run.reached ? std::to_string(*run.reached) : "null", unquoted(run.refusal), run.greedy_level, run.greedy,
      run.nodes, run.pods, run.evicted, run.origin, run.proof, run.told_ms, run.load, run.solved_levels,
      run.cbc_seconds, run.columns, run.rows, listed(run.doubts), listed(run.faults));
  std::fflush(stdout);
}

void print_shortfalls(const std::string& label, const std::vector<double>& shortfalls) {
  if (shortfalls.empty()) return;
  const double sum = std::accumulate(shortfalls.begin(), shortfalls.end(), 0.0);
  fmt::print("{}: {} instances, mean {:.4f} %, most {:.3f} %\n", label, shortfalls.size(),
             100 * sum / static_cast<double>(shortfalls.size()), 100 * std::ranges::max(shortfalls));
}

// What runs (share, quota, work) and what it costs (evicted, moved) apart: the least cost is often 0 or near it, so
// that little more of it is many percent.
void print_summary(const std::vector<Run>& runs) {
  std::map<Outcome, std::vector<std::string>> seeds;
  std::map<std::string, std::vector<double>> by_level;
  std::vector<double> running, sure, unfinished;
  for (const Run& run : runs) {
    seeds[run.outcome].push_back(std::to_string(run.seed));
    if (run.outcome == Outcome::kUnfinished) unfinished.push_back(run.shortfall);
    if (run.outcome != Outcome::kOptimal && run.outcome != Outcome::kShort) continue;
    const bool is_cost = run.level.starts_with("evicted") || run.level.starts_with("moved");
    const double missing = run.reached ? static_cast<double>(std::abs(*run.reached - run.value)) : 0;
    running.push_back(is_cost ? 0 : run.shortfall);
    sure.push_back(is_cost ? 0 : missing / std::max(1.0, std::abs(static_cast<double>(run.optimum))));
    if (run.outcome == Outcome::kShort) by_level[run.level.substr(0, run.level.find(':'))].push_back(run.shortfall);
  }
  fmt::print("\n{} instances: {} optimal, {} short, {} that cbc did not finish, {} faults\n", runs.size(),
             seeds[Outcome::kOptimal].size(), seeds[Outcome::kShort].size(), seeds[Outcome::kUnfinished].size(),
             seeds[Outcome::kFault].size());
  print_shortfalls("shortfall in what runs, of all that cbc finished", running);
  print_shortfalls("the same, as far as there is a plan for it", sure);
  for (const auto& [level, shortfalls] : by_level) print_shortfalls("  those short in " + level, shortfalls);
  print_shortfalls("to cbc's bound where it did not finish", unfinished);
  fmt::print("not finished: {}\nfaults: {}\n", fmt::join(seeds[Outcome::kUnfinished], " "),
             fmt::join(seeds[Outcome::kFault], " "));
}

int run(const Arguments& arguments) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("bench_midsize.{}", ::getpid());
  const CbcCommand cbc(folder);
  std::vector<Run> runs;
  for (std::uint64_t seed = arguments.first; seed <= arguments.last; ++seed) {
    runs.push_back(Comparison(seed, arguments, cbc).run());
    print(runs.back());
  }
  fs::remove_all(folder);
  print_summary(runs);
  return std::ranges::any_of(runs, [](const Run& one) { return one.outcome == Outcome::kFault; }) ? 1 : 0;
}

const Program kProgram("midsize", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::midsize_bench
