// The best known solution of a choice model: the value of each level, and what is proven of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/objective/levels.h"
#include "solver/lp/milp.h"
#include "solver/lp/model_builder.h"

namespace muster::choice {

// A level as a row of the model that bounds nothing by itself: expression = constant + divisor x row / scale.
struct ModelLevel {
  LevelId id;
  lp::LinearExpression expression;
  int sign = 1;              // 1: maximised, -1: minimised
  std::int64_t divisor = 1;  // of all coefficients: a unit
  std::int32_t row = -1;     // -1: the expression is constant
  double scale = 1;
};

class Incumbent {
 public:
  using Values = std::vector<std::int64_t>;
  struct Improvement {
    double milliseconds = 0;  // since the beginning
    std::size_t level = 0;
    std::int64_t value = 0;
  };

  // `trivial`: bounds of all plans, by level; those of minimised levels count for parts of `evicted` alone.
  Incumbent(lp::Milp model, std::vector<ModelLevel> levels, const std::vector<std::int64_t>& trivial);

  const lp::Milp& model() const { return model_; }
  const std::vector<ModelLevel>& levels() const { return levels_; }
  const std::vector<double>& x() const { return x_; }  // empty: none is known
  const Values& values() const { return values_; }
  std::int64_t value(std::size_t level) const { return values_[level]; }
  // Of all solutions that are as good as this one in every level before.
  std::optional<std::int64_t> bound(std::size_t level) const;
  bool is_proven(std::size_t level) const { return !x_.empty() && bound(level) == value(level); }
  // The first one that is not proven; levels().size(): none.
  std::size_t first_open() const;
  // How many levels, from the first on, have all that the solution could have. The values of later ones may be less:
  // columns that only they have are not set.
  std::size_t raised() const { return raised_; }
  void set_raised(std::size_t levels) { raised_ = levels; }

  // The first solution, or one with which all begins anew. False: it is not feasible. Cost of this and the next:
  // O(entries).
  bool begin(std::vector<double> x);
  // Takes a solution that is better in the first level up to `level` in which it differs: those before `level` should
  // be raised. False: it is not taken, as it is not feasible or not better.
  bool offer(std::vector<double> x, std::size_t level);
  // `limit` is a bound of sign x row, in units, of all solutions that have at least the values `given`
  // before the level.
  void tighten(std::size_t level, double limit, const Values& given);
  // None of them is better than `given` in the level, either.
  void tighten_to_value(std::size_t level, const Values& given);

  // What the row must be at least, and at most, for the level to be no worse than its value; or better by a unit. No
  // more than the bound says: it makes later levels easier to bound, and who searches ends when it is reached.
  struct Range {
    double lower, upper;
  };
  Range held(std::size_t level) const { return range(level, 0); }
  Range better(std::size_t level) const { return range(level, 1); }

  const std::vector<Improvement>& improvements() const { return improvements_; }
  // Solutions before the best one, the last one first: one for each half, quarter and so on of the improvements.
  std::vector<std::vector<double>> earlier() const;

 private:
  struct Bound {
    std::optional<std::int64_t> value;
    Values given;
  };
  void take(std::vector<double> x, Values values, std::size_t raised);
  Values values_of(const std::vector<double>& x) const;
  Range range(std::size_t level, std::int64_t units) const;
  void keep(std::size_t level, std::int64_t bound, const Values& given);
  bool is_at_least(const Values& given, std::size_t level) const;
  bool has_same_terms(std::size_t level, std::size_t earlier) const;

  lp::Milp model_;
  std::vector<ModelLevel> levels_;
  std::vector<std::size_t> same_as_;  // by level: the first one with the same terms
  std::vector<double> x_;
  Values values_;
  std::vector<Bound> bounds_;
  std::size_t raised_ = 0;
  std::vector<Improvement> improvements_;
  std::vector<std::vector<double>> history_;  // before each of them
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace muster::choice
