#include "solver/cbc/cbc.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <CbcEventHandler.hpp>
#include <CbcModel.hpp>
#include <CbcSolver.hpp>
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <CoinFinite.hpp>
#include <OsiClpSolverInterface.hpp>

#include "model/base/require.h"
#include "model/base/tuning.h"
#include "solver/cbc/search_record.h"
#pragma GCC diagnostic pop

namespace muster::cbc {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFeasibility = 1e-6;
// With its own 1e-6, CBC 2.10.8 reports feasible small models with large coefficients as infeasible, or points as
// optimal that are not.
constexpr const char* kIntegerTolerance = "1e-9";
constexpr int kUnbounded = 7;  // secondary statuses of CBC
constexpr int kStoppedOnGap = 2;

double to_coin(double value) { return std::abs(value) < 1e30 ? value : std::copysign(COIN_DBL_MAX, value); }

std::vector<double> to_coin(const std::vector<double>& values) {
  std::vector<double> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), [](double value) { return to_coin(value); });
  return result;
}

static_assert(std::is_same_v<CoinBigIndex, std::int32_t>, "the model's arrays are passed as they are");

// The model in Coin's types: a minimisation of the negated objective, since CBC's maximisation is rarely used and
// tested.
struct CoinArrays {
  std::vector<double> cost, lower, upper, row_lower, row_upper;

  explicit CoinArrays(const lp::Milp& milp)
      : cost(milp.objective.size()),
        lower(to_coin(milp.lower)),
        upper(to_coin(milp.upper)),
        row_lower(to_coin(milp.row_lower)),
        row_upper(to_coin(milp.row_upper)) {
    std::transform(milp.objective.begin(), milp.objective.end(), cost.begin(), std::negate<>());
  }
};

std::string number(double value) {
  std::array<char, 32> text;
  return std::string(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

// Whether a deadline has passed, which every callback must see: results after a stop are not reliable.
struct Stop {
  Clock::time_point deadline;
  WorkLimit work;
  bool is_stopped = false;
  bool is_suspended = false;  // while the result is put together

  bool is_over() {
    if (!is_stopped && !is_suspended && (work.is_reached() || Clock::now() >= deadline)) is_stopped = true;
    return is_stopped && !is_suspended;
  }
};

// Counts the iterations of a simplex, and stops it at the next one once the deadline has passed.
class LpStopper : public ClpEventHandler {
 public:
  explicit LpStopper(Stop* stop) : stop_(stop) {}
  ClpEventHandler* clone() const override { return new LpStopper(*this); }  // NOLINT: CLP owns it
  int event(Event which) override {
    constexpr int kGoOn = -1;
    constexpr int kStop = 5;
    if (which != endOfIteration && which != endOfFactorization) return kGoOn;
    if (which == endOfIteration)
      stop_->work.spend(kTuning.milp.iteration_units + model_->numberRows() + model_->numberColumns());
    return stop_->is_over() ? kStop : kGoOn;
  }

 private:
  Stop* stop_;
};

// Turns points of a preprocessed model, in which some columns are missing, into points of the given one: the known
// values are fixed, an LP finds the rest. Kept apart from CBC's own objects, which must not be touched while it
// searches.
class Completion {
 public:
  explicit Completion(const lp::Milp& milp) : milp_(milp) {}

  // `original[k]` is the column of the given model that column k of the other one stands for. Empty if there is no
  // result.
  std::vector<double> complete(const double* values, const int* original, int count) {
    std::vector<double> x(milp_.objective.size(), std::numeric_limits<double>::quiet_NaN());
    for (int position = 0; position < count; ++position) {
      const int column = original == nullptr ? position : original[position];
      if (column < 0 || column >= milp_.columns()) continue;
      x[static_cast<std::size_t>(column)] = values[position];
    }
    x = with_rounded_integers(milp_, std::move(x));
    if (lp::is_feasible(milp_, x, kFeasibility)) return x;
    return solve_rest(x);
  }

 private:
  std::vector<double> solve_rest(const std::vector<double>& known) {
    const CoinArrays arrays(milp_);
    std::vector<double> lower = arrays.lower;
    std::vector<double> upper = arrays.upper;
    for (std::size_t column = 0; column < known.size(); ++column) {
      if (milp_.is_integer[column] == 0 || std::isnan(known[column])) continue;
      if (known[column] < lower[column] || known[column] > upper[column]) continue;  // a sum of merged columns
      lower[column] = upper[column] = known[column];
    }
    ClpSimplex simplex;
    simplex.setLogLevel(0);
    simplex.loadProblem(milp_.columns(), milp_.rows(), milp_.column_begin.data(), milp_.entry_row.data(),
                        milp_.entry_value.data(), lower.data(), upper.data(), arrays.cost.data(),
                        arrays.row_lower.data(), arrays.row_upper.data());
    simplex.dual();
    if (!simplex.primalFeasible()) return {};
    const double* solution = simplex.primalColumnSolution();
    std::vector<double> x = with_rounded_integers(milp_, {solution, solution + milp_.columns()});
    if (!lp::is_feasible(milp_, x, kFeasibility)) x.clear();
    return x;
  }

  const lp::Milp& milp_;
};

// ---------------------------------------------------------------------------------------------------- branch and cut

// One run of CbcMain1, whose callbacks find it by the global below: CBC passes no user data to them.
class Search {
 public:
  Search(const lp::Milp& milp, const MilpRequest& request, const IncumbentListener& listener)
      : milp_(milp),
        request_(request),
        completion_(milp),
        record_(milp, request, listener),
        stop_{request.deadline, request.work} {}

  MilpAnswer run();
  // Else the preprocessing, or the LP of what it has left, has decided.
  bool has_branched() const { return has_branched_; }

  // CbcMain1's callback. Phases: 1 root LP solved, 2 preprocessed, 3 about to branch, 4 and 5 done.
  int at_phase(CbcModel* model, int phase);
  // Only events of the model that branches count, not those of the small searches of CBC's heuristics.
  bool is_main(const CbcModel* model) const { return model != nullptr && model == main_model_; }
  bool is_over() { return stop_.is_over(); }
  void on_solution(CbcModel& model);
  void on_progress(const CbcModel& model);

 private:
  void load(OsiClpSolverInterface& solver) const;
  void set_priorities(CbcModel& model) const;
  void give_start(CbcModel& model) const;
  MilpAnswer conclude(CbcModel& model);

  const lp::Milp& milp_;
  const MilpRequest& request_;
  Completion completion_;
  SearchRecord record_;
  CbcModel* main_model_ = nullptr;
  bool has_branched_ = false;
  Stop stop_;
  double streamed_ = -lp::kInfinity;  // CBC's objective of the last solution examined
};

Search* running_search = nullptr;

int main_callback(CbcModel* model, int phase) {
  return running_search == nullptr ? 0 : running_search->at_phase(model, phase);
}

class SearchListener : public CbcEventHandler {
 public:
  CbcEventHandler* clone() const override { return new SearchListener(*this); }  // NOLINT: CBC owns it
  CbcAction event(CbcEvent which) override {
    if (running_search == nullptr) return noAction;
    if (running_search->is_main(model_)) {
      if (which == solution || which == heuristicSolution) running_search->on_solution(*model_);
      if (which == node || which == treeStatus) running_search->on_progress(*model_);
    }
    return running_search->is_over() ? stop : noAction;
  }
  CbcAction event(CbcEvent which, void* /*details*/) override {
    if (running_search == nullptr || !running_search->is_over()) return noAction;
    return which == smallBranchAndBound ? killSolution : noAction;
  }
};

void Search::load(OsiClpSolverInterface& solver) const {
  CoinArrays arrays(milp_);
  const std::vector<double> factors = factors_of_rows(milp_);
  std::vector<double> values = milp_.entry_value;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factors[static_cast<std::size_t>(milp_.entry_row[i])];
  for (std::size_t row = 0; row < factors.size(); ++row) {
    arrays.row_lower[row] *= factors[row];
    arrays.row_upper[row] *= factors[row];
  }
  solver.messageHandler()->setLogLevel(0);
  solver.getModelPtr()->setLogLevel(0);
  solver.loadProblem(milp_.columns(), milp_.rows(), milp_.column_begin.data(), milp_.entry_row.data(), values.data(),
                     arrays.lower.data(), arrays.upper.data(), arrays.cost.data(), arrays.row_lower.data(),
                     arrays.row_upper.data());
  solver.setObjSense(1.0);
  std::vector<int> integers;
  for (int column = 0; column < milp_.columns(); ++column) {
    if (milp_.is_integer[static_cast<std::size_t>(column)] != 0) integers.push_back(column);
  }
  solver.setInteger(integers.data(), static_cast<int>(integers.size()));
}

// `model` may be the preprocessed one.
void Search::set_priorities(CbcModel& model) const {
  if (milp_.is_structure.empty()) return;
  if (model.numberObjects() == 0) model.findIntegers(true);
  const int* original = model.originalColumns();
  std::vector<int> priorities;
  for (int i = 0; i < model.numberIntegers(); ++i) {
    const int given = model.integerVariable()[i], column = original == nullptr ? given : original[given];
    const auto j = static_cast<std::size_t>(column);  // negative: beyond the end
    priorities.push_back(j < milp_.is_structure.size() && milp_.is_structure[j] != 0 ? 1 : 1000);  // 1 is first
  }
  model.passInPriorities(priorities.data(), false);
}

// As incumbent of the model before CbcMain1 copies it: that way preprocessing knows the start too, and keeps it. (The
// interface by names, setMIPStart, is applied after preprocessing, and fails if that has cut the start off.)
void Search::give_start(CbcModel& model) const {
  double cost_limit = -request_.cutoff;
  if (!request_.start.empty() && record_.start_objective() > request_.cutoff) {
    const double cost = -record_.start_objective();
    model.setBestSolution(request_.start.data(), milp_.columns(), cost, false);
    model.setSolutionCount(1);
    cost_limit = cost + 1e-4;  // a trifle above, or CBC would drop the start itself
  }
  if (cost_limit < 1e30) model.setCutoff(cost_limit);
}

int Search::at_phase(CbcModel* model, int phase) {
  if (phase == 1 && !is_over() && model->solver()->isProvenOptimal()) {
    record_.tighten(-model->solver()->getObjValue());
    record_.tell_bound();
  }
  if (phase == 3) {
    main_model_ = model;
    set_priorities(*model);
    has_branched_ = model->numberIntegers() > 0;
    if (!request_.start.empty() && model->bestSolution() != nullptr &&
        model->getMinimizationObjValue() <= -record_.start_objective() + kFeasibility)
      record_.set_start_used();
    // CbcMain1 subtracts preprocessing from the limit although the clock counts it too: this adds it back.
    const double left = std::chrono::duration<double>(request_.deadline - Clock::now()).count();
    // A little more, so that CBC never detects the end of the time first.
    model->setMaximumSeconds(model->getCurrentSeconds() + std::max(left, 0.0) + 0.001);
  }
  if (phase == 4) {  // the rest undoes the preprocessing, and is as good after the deadline as before
    main_model_ = nullptr;
    is_over();
    stop_.is_suspended = true;
  }
  return 0;
}

void Search::on_solution(CbcModel& model) {
  const double objective = -model.getMinimizationObjValue();
  if (model.bestSolution() == nullptr || objective <= streamed_) return;
  streamed_ = objective;
  record_.offer(completion_.complete(model.bestSolution(), model.originalColumns(), model.getNumCols()));
}

void Search::on_progress(const CbcModel& model) {
  if (stop_.is_stopped) return;
  const double cost_bound = model.getBestPossibleObjValue();
  if (std::abs(cost_bound) >= 1e30) return;
  record_.tighten(std::max(-cost_bound, -model.getMinimizationObjValue()));
  record_.tell_bound();
}

// CBC's status is 0 when it has searched everything, found infeasible or unbounded what it solved, or reached the gap,
// but also when it was stopped at the wrong moment: after a stop nothing counts as proven but the bound from before.
MilpAnswer Search::conclude(CbcModel& model) {
  const bool is_stopped = stop_.is_over() || stop_.is_stopped;
  const bool has_solution = model.bestSolution() != nullptr && model.getMinimizationObjValue() < 1e30;
  const double claimed = has_solution ? -model.getMinimizationObjValue() : -lp::kInfinity;
  if (has_solution) record_.offer(completion_.complete(model.bestSolution(), nullptr, milp_.columns()));
  if (!request_.start.empty()) record_.offer(request_.start);
  const bool is_finished = !is_stopped && model.status() == 0;
  if (is_finished && (model.secondaryStatus() == kUnbounded || model.isContinuousUnbounded()))
    return record_.unbounded();
  if (!is_stopped && record_.has_bound()) on_progress(model);
  MilpAnswer answer =
      is_finished ? record_.finished(claimed, model.secondaryStatus() == kStoppedOnGap) : record_.stopped(claimed);
  answer.nodes = model.getNodeCount();
  answer.work = stop_.work.spent();
  return answer;
}

MilpAnswer Search::run() {
  OsiClpSolverInterface solver;
  load(solver);
  const LpStopper stopper(&stop_);
  solver.getModelPtr()->passInEventHandler(&stopper);
  CbcModel model(solver);
  model.setLogLevel(0);
  model.solver()->messageHandler()->setLogLevel(0);
  CbcSolverUsefulData parameters;
  parameters.noPrinting_ = true;
  parameters.useSignalHandler_ = false;
  CbcMain0(model, parameters);
  model.setLogLevel(0);
  model.setUseElapsedTime(true);
  const SearchListener search_listener;
  model.passInEventHandler(&search_listener);
  give_start(model);
  const double seconds = std::chrono::duration<double>(request_.deadline - Clock::now()).count() + 0.001;
  std::vector<std::string> words{"muster",
                                 "-log",
                                 "0",
                                 "-timeMode",
                                 "elapsed",
                                 "-seconds",
                                 number(std::clamp(seconds, 0.001, 1e6)),
                                 "-ratioGap",
                                 number(std::max(request_.relative_gap, 0.0)),
                                 "-integerTolerance",
                                 kIntegerTolerance};
  if (request_.node_limit >= 0) {
    const std::int64_t most = std::numeric_limits<int>::max();
    words.insert(words.end(), {"-maxNodes", std::to_string(std::min(request_.node_limit, most))});
  }
  if (request_.absolute_gap > 0) words.insert(words.end(), {"-allowableGap", number(request_.absolute_gap)});
  if (request_.way == SearchWay::kWithoutCuts) words.insert(words.end(), {"-cuts", "off"});
  if (request_.way == SearchWay::kFewHeuristics) words.insert(words.end(), {"-strategy", "0"});
  if (request_.without_preprocessing) words.insert(words.end(), {"-preprocess", "off"});
  words.insert(words.end(), {"-solve", "-quit"});
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  running_search = this;
  CbcMain1(static_cast<int>(arguments.size()), arguments.data(), model, main_callback, parameters);
  running_search = nullptr;
  return conclude(model);
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------ LPs

struct GrowingLp::Implementation {
  ClpSimplex simplex;
};

GrowingLp::GrowingLp(const lp::Milp& milp) : implementation_(std::make_unique<Implementation>()) {
  const CoinArrays arrays(milp);
  ClpSimplex& simplex = implementation_->simplex;
  simplex.setLogLevel(0);
  simplex.scaling(0);  // the models have coefficients of similar size; a fifth faster on masters of grids
  simplex.loadProblem(milp.columns(), milp.rows(), milp.column_begin.data(), milp.entry_row.data(),
                      milp.entry_value.data(), arrays.lower.data(), arrays.upper.data(), arrays.cost.data(),
                      arrays.row_lower.data(), arrays.row_upper.data());
}

GrowingLp::~GrowingLp() = default;

void GrowingLp::extend(const lp::Milp& more_columns) {
  const CoinArrays arrays(more_columns);
  implementation_->simplex.addColumns(more_columns.columns(), arrays.lower.data(), arrays.upper.data(),
                                      arrays.cost.data(), more_columns.column_begin.data(),
                                      more_columns.entry_row.data(), more_columns.entry_value.data());
}

std::int32_t GrowingLp::rows() const { return implementation_->simplex.numberRows(); }

// By the primal simplex: placing nothing is feasible, and so is the old basis, in which the new columns are at a bound.
// From the slack basis it is 2 to 6 times as fast as the dual on the models solved here (aggregated supply, masters of
// blocks and of configurations, OpenB of 1,213 and 9,704 nodes). Statuses of CLP: 0 optimal, 1 primal infeasible, 2
// dual infeasible (unbounded), 3 a limit, 4 numerical trouble, 5 stopped.
MilpAnswer GrowingLp::solve(const MilpRequest& request) {
  ClpSimplex& simplex = implementation_->simplex;
  Stop stop{request.deadline, request.work};
  const LpStopper stopper(&stop);
  simplex.passInEventHandler(&stopper);
  simplex.primal();
  MilpAnswer answer;
  answer.work = request.work.spent();
  const int status = simplex.status();
  if (status == 1) answer.status = SolveStatus::kInfeasible;
  if (status == 2) answer.status = SolveStatus::kUnbounded;
  if (status > 2) answer.status = SolveStatus::kNoSolution;
  if (status != 0) return answer;  // stopped somewhere: x may not be a point of the LP at all
  const double* x = simplex.primalColumnSolution();
  answer.x.assign(x, x + simplex.numberColumns());
  answer.objective = -simplex.objectiveValue();
  answer.status = SolveStatus::kOptimal;
  answer.bound = with_margin(answer.objective);
  const double* price = simplex.dualRowSolution();
  answer.row_price.resize(static_cast<std::size_t>(simplex.numberRows()));
  std::transform(price, price + simplex.numberRows(), answer.row_price.begin(), std::negate<>());
  return answer;
}

MilpAnswer solve_with_cbc(const lp::Milp& milp, const MilpRequest& request, const IncumbentListener& listener) {
  MUSTER_REQUIRE(milp.columns() > 0);
  if (request.relax) return GrowingLp(milp).solve(request);
  Search search(milp, request, listener);
  MilpAnswer answer = search.run();
  // Given a start or a cutoff, preprocessing (Cgl 0.60.3) at times leaves no integer column and loses what is better: a
  // model of 37 columns was told to have no solution better than its start. What branching decides is not affected.
  const bool has_limit = !request.start.empty() || request.cutoff > -lp::kInfinity;
  const bool is_decided = answer.status == SolveStatus::kOptimal || answer.status == SolveStatus::kInfeasible;
  if (search.has_branched() || !has_limit || !is_decided || request.without_preprocessing) return answer;
  MilpRequest again = request;
  again.without_preprocessing = true;
  return Search(milp, again, listener).run();
}

}  // namespace muster::cbc
