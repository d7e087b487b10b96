#include "solver/choice/incumbent.h"

#include <utility>

#include "model/base/require.h"

namespace muster::choice {
namespace {

constexpr double kFeasibility = 1e-6;  // of a row or a bound, as that of the solvers

}  // namespace

Incumbent::Incumbent(lp::Milp model, std::vector<ModelLevel> levels, const std::vector<std::int64_t>& trivial)
    : model_(std::move(model)), levels_(std::move(levels)), values_(levels_.size(), 0), bounds_(levels_.size()) {
  MUSTER_REQUIRE(trivial.size() >= levels_.size());
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const ModelLevel& level = levels_[i];
    if (level.row < 0)
      bounds_[i].value = level.expression.constant;
    else if (level.sign > 0 || is_part_of_evicted(level.id.kind))
      bounds_[i].value = trivial[i];
    same_as_.push_back(i);
    for (std::size_t j = 0; j < i && same_as_[i] == i; ++j)
      if (has_same_terms(i, j)) same_as_[i] = j;
  }
}

bool Incumbent::has_same_terms(std::size_t level, std::size_t earlier) const {
  return levels_[level].row >= 0 && levels_[earlier].row >= 0 && levels_[level].sign == levels_[earlier].sign &&
         levels_[level].expression.terms == levels_[earlier].expression.terms;
}

std::optional<std::int64_t> Incumbent::bound(std::size_t level) const {
  std::optional<std::int64_t> best = bounds_[level].value;
  if (best && !is_at_least(bounds_[level].given, level)) best.reset();
  // What is held of the earlier level is all that there is.
  if (const std::size_t same = same_as_[level]; same != level && is_proven(same))
    best = value(same) - levels_[same].expression.constant + levels_[level].expression.constant;
  return best;
}

std::size_t Incumbent::first_open() const {
  std::size_t level = 0;
  while (level < levels_.size() && is_proven(level)) ++level;
  return level;
}

bool Incumbent::is_at_least(const Values& given, std::size_t level) const {
  for (std::size_t i = 0; i < std::min(level, given.size()); ++i)
    if (levels_[i].sign * values_[i] < levels_[i].sign * given[i]) return false;
  return true;
}

Incumbent::Values Incumbent::values_of(const std::vector<double>& x) const {
  Values values;
  for (const ModelLevel& level : levels_) values.push_back(lp::value_of(level.expression, x));
  return values;
}

bool Incumbent::begin(std::vector<double> x) {
  if (!lp::is_feasible(model_, x, kFeasibility)) return false;
  Values values = values_of(x);
  take(std::move(x), std::move(values), 0);
  return true;
}

bool Incumbent::offer(std::vector<double> x, std::size_t level) {
  if (!lp::is_feasible(model_, x, kFeasibility)) return false;
  Values values = values_of(x);
  std::size_t first = 0;
  while (first < levels_.size() && values[first] == values_[first]) ++first;
  if (first > level || levels_[first].sign * (values[first] - values_[first]) < 0) return false;
  const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begun_;
  improvements_.push_back({passed.count(), first, values[first]});
  history_.push_back(x_);
  take(std::move(x), std::move(values), first == level ? level + 1 : first);
  return true;
}

std::vector<std::vector<double>> Incumbent::earlier() const {
  std::vector<std::vector<double>> solutions;
  for (std::size_t at = history_.size() / 2; at > 0; at /= 2) solutions.push_back(history_[at]);
  return solutions;
}

void Incumbent::take(std::vector<double> x, Values values, std::size_t raised) {
  x_ = std::move(x);
  values_ = std::move(values);
  raised_ = raised;
}

void Incumbent::tighten(std::size_t level, double limit, const Values& given) {
  const ModelLevel& of = levels_[level];
  if (const auto proven = lp::whole_bound(limit, of.divisor, of.sign, of.expression.constant))
    keep(level, *proven, given);
}

void Incumbent::tighten_to_value(std::size_t level, const Values& given) { keep(level, given[level], given); }

void Incumbent::keep(std::size_t level, std::int64_t proven, const Values& given) {
  const std::optional<std::int64_t> known = bound(level);
  const int sign = levels_[level].sign;
  if (!known || sign * proven < sign * *known) bounds_[level] = {proven, given};
}

Incumbent::Range Incumbent::range(std::size_t level, std::int64_t units) const {
  const ModelLevel& of = levels_[level];
  const auto row_of = [&](std::int64_t value) {
    return static_cast<double>((value - of.expression.constant) / of.divisor) * of.scale;
  };
  Range range{-lp::kInfinity, lp::kInfinity};
  (of.sign > 0 ? range.lower : range.upper) = row_of(value(level)) + static_cast<double>(of.sign * units) * of.scale;
  // A solution of the model may have more than any plan, and so more than a bound of plans: then it is held alone.
  if (const auto most = bound(level); most && (units > 0 || of.sign * (*most - value(level)) >= 0))
    (of.sign > 0 ? range.upper : range.lower) = row_of(*most);
  return range;
}

}  // namespace muster::choice
