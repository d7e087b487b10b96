// Solves the levels of a formulation one by one, on all columns, on a model of all nodes or on priced columns, and
// makes plans of what it finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "solver/cbc/backend.h"
#include "solver/engine/block_stage.h"
#include "solver/engine/first_prices.h"
#include "solver/engine/milp_engine_options.h"
#include "solver/engine/milp_outcome.h"
#include "solver/engine/solution_plans.h"
#include "solver/engine/whole_model.h"

namespace muster::engine {

// Of a model of all nodes that there is time for.
std::size_t most_node_columns(const MilpEngineOptions& options);

class LevelSolver {
 public:
  // All of it outlives the object. The deadline of the options may change between two calls.
  struct Input {
    const column_generation::Setting& setting;
    column_generation::RestrictedMaster& whole;
    cbc::Backend& backend;
    const std::vector<LevelId>& ids;
    const MilpEngineOptions& options;
    bool may_leave = false;  // some pod may be evicted or moved
  };
  struct Events {
    std::function<void()> on_better;                                // the best plan of the outcome has changed
    std::function<void(std::size_t level, std::int64_t)> on_bound;  // of the level that is being solved
    std::function<bool()> is_on_path;  // the best plan has the values at which the levels before are held
  };
  struct Improvement {
    std::optional<std::int64_t> bound;
    std::optional<std::int64_t> reached;  // by a solution of the formulation that is whole
  };

  // Chooses the columns. Cost: that of the list of all, at most its share of the time.
  LevelSolver(const Input& input, Events events, MilpOutcome& outcome);

  bool is_listed() const { return columns_ == Columns::kListed; }
  bool has_all_nodes() const { return columns_ == Columns::kAllNodes; }
  bool is_whole() const { return columns_ != Columns::kPriced; }  // CBC has the last word on it
  // How long a way without the list comes before this one.
  Deadline::Clock::duration time_without_list() const;

  // Once before the first level.
  void begin();
  // From scratch: no level is fixed. `is_formulated`: the master is already, as nothing is held yet. False if that
  // takes so long that there would be no time to solve it.
  bool formulate(bool is_formulated);
  // One level with the earlier ones fixed; keeps a plan that is better. Priced problems repeatedly, each time from the
  // columns found before, until the time is up or nothing improves.
  Improvement solve(formulation::Formulation& formulation, std::size_t level, const lp::LinearExpression& expression);
  // The same once.
  Improvement improve(formulation::Formulation& formulation, std::size_t level, const lp::LinearExpression& expression);

 private:
  enum class Columns : std::uint8_t { kListed, kAllNodes, kPriced };
  // One level that is being solved.
  struct LevelTask {
    std::size_t level;
    const lp::LinearExpression& expression;
    int sign;              // 1: maximised, -1: minimised
    std::int64_t divisor;  // of all coefficients
    lp::LinearExpression scaled;
    Improvement result;
  };

  std::int64_t value(std::size_t level) const { return outcome_.best.levels.values[level]; }
  bool has_blocks() const { return !is_whole() && in_.whole.supply.residuals.size() > in_.options.most.residuals; }
  void choose_columns();
  void add_known_contents();
  LevelTask task_of(std::size_t level, const lp::LinearExpression& expression) const;
  void price(LevelTask& task);
  void branch(const formulation::Formulation& formulation, LevelTask& task);
  void take(const formulation::Formulation& formulation, const std::vector<double>& x);
  void take(const formulation::FormulationSolution& solution, const SolutionPlans::Configurations& configurations);
  void tighten(LevelTask& task, double proven) const;
  bool is_refuted_by_incumbent(const LevelTask& task) const;
  bool is_solved(const LevelTask& task) const;
  bool is_close(std::int64_t value, std::int64_t bound) const;
  void note_failure(const cbc::MilpAnswer& answer, const cbc::MilpRequest& request);

  const Input in_;
  MilpOutcome& outcome_;
  const Events events_;
  Columns columns_ = Columns::kPriced;
  std::optional<std::size_t> states_;  // of the list
  std::optional<WholeModel> all_nodes_;
  bool knows_incumbent_ = false;  // the pool has its contents
  BlockStage blocks_;
  FirstPrices first_prices_;
  SolutionPlans plans_;
};

}  // namespace muster::engine
