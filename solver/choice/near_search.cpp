#include "solver/choice/near_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::choice {
namespace {

constexpr double kSame = 1e-6;  // tolerance: of two values of a column, and of a bound of an integer
constexpr NearTuning kNear = kTuning.milp.near;

}  // namespace

NearSearch::NearSearch(const lp::Milp& milp, cbc::MilpRequest whole)
    : milp_(milp), whole_(std::move(whole)), until_(Deadline(whole_.deadline, false).part(kTuning.parts.most)) {
  MUSTER_REQUIRE(whole_.start.size() == static_cast<std::size_t>(milp.columns()));
  best_.status = cbc::SolveStatus::kFeasible;
  best_.x = whole_.start;
  best_.objective = lp::objective_value(milp, best_.x);
  std::vector<std::size_t> entries(static_cast<std::size_t>(milp.rows()), 0);
  for (const std::int32_t row : milp.entry_row) ++entries[static_cast<std::size_t>(row)];
  const double most = kNear.local * static_cast<double>(milp.entry_row.size()) / std::max(1, milp.rows());
  for (const std::size_t count : entries) is_local_.push_back(static_cast<double>(count) < most);
}

const cbc::Question* NearSearch::next() {
  if (stage_ == Stage::kParts && is_done_with_parts()) stage_ = Stage::kWhole;
  switch (stage_) {
    case Stage::kRelaxation:
      asked_ = {milp_, {}};
      asked_.request.relax = true;
      asked_.request.deadline = until_.end();
      return &asked_;
    case Stage::kParts:
      asked_ = {milp_, {}};
      fix_where_same();
      asked_.request.start = best_.x;
      asked_.request.way = cbc::SearchWay::kFewHeuristics;
      asked_.request.deadline = until_.part(kTuning.parts.half).end();
      return &asked_;
    case Stage::kWhole:
      asked_ = {milp_, whole_};
      asked_.request.start = best_.x;
      return &asked_;
    case Stage::kOver:
      break;
  }
  return nullptr;
}

void NearSearch::hear(cbc::MilpAnswer answer) {
  const bool is_solved = answer.status == cbc::SolveStatus::kOptimal;
  if (answer.status == cbc::SolveStatus::kFailed) {
    best_.status = answer.status;
    best_.message = answer.message;
  }
  switch (stage_) {
    case Stage::kRelaxation:
      stage_ = is_solved ? Stage::kParts : Stage::kWhole;
      if (!is_solved) return;
      relaxed_ = std::move(answer.x);
      best_.bound = answer.bound;
      break;
    case Stage::kParts: {
      const double before = best_.objective;
      improve(answer);
      change_part(best_.objective > before, is_solved || answer.status == cbc::SolveStatus::kInfeasible);
      break;
    }
    case Stage::kWhole:
      stage_ = Stage::kOver;
      improve(answer);
      best_.bound = std::min(best_.bound, answer.bound);
      is_settled_ = is_solved;
      break;
    case Stage::kOver:
      break;
  }
  is_settled_ = is_settled_ || is_at_bound();
}

bool NearSearch::is_at_bound() const { return best_.objective >= std::floor(best_.bound + kSame) - kSame; }

bool NearSearch::is_done_with_parts() const { return until_.passed() || part_ >= 1; }

void NearSearch::improve(cbc::MilpAnswer& answer) {
  if (answer.x.empty()) return;
  const double value = lp::objective_value(milp_, answer.x);
  if (value <= best_.objective) return;
  best_.objective = value;
  best_.x = std::move(answer.x);
}

void NearSearch::change_part(bool has_improved, bool is_exhausted) {
  if (is_exhausted)
    part_ = std::max(kNear.first, kNear.growth * part_);
  else if (!has_improved)
    part_ /= kNear.growth;
}

void NearSearch::fix_where_same() {
  std::uniform_real_distribution<double> any(0, 1);
  std::vector<bool> is_open(is_local_.size());
  for (std::size_t row = 0; row < is_open.size(); ++row) is_open[row] = any(random_) < part_ && is_local_[row];
  lp::Milp& near = asked_.milp;
  for (std::size_t j = 0; j < relaxed_.size(); ++j) {
    bool is_free = std::abs(relaxed_[j] - best_.x[j]) > kSame;
    for (std::int64_t e = milp_.column_begin[j]; e < milp_.column_begin[j + 1] && !is_free; ++e)
      is_free = is_open[static_cast<std::size_t>(milp_.entry_row[static_cast<std::size_t>(e)])];
    if (!is_free) near.lower[j] = near.upper[j] = best_.x[j];
  }
}

}  // namespace muster::choice
