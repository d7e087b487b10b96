// Improves the incumbent of a choice model until all levels are proven or the time is up: one worker solves parts of
// the model, another one bounds the whole of it.
//
// A part is asked for a solution that is better by a unit in one level, with the levels before it held: so each answer
// is a gain or tells that the part has none. It is the first level that is open, but one that no longer gains gives
// more and more of its turns to the next.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "solver/budget/deadline.h"
#include "solver/cbc/backend.h"
#include "solver/cbc/channel.h"
#include "solver/choice/incumbent.h"
#include "solver/choice/neighbourhoods.h"
#include "solver/choice/sub_model.h"

namespace muster::choice {

// Solves parts. All that it refers to outlives it.
class PartSearch : public cbc::Lane {
 public:
  // `first_of_levels`: the first column that only levels have. `way`: of CBC through parts.
  struct Input {
    Incumbent& incumbent;
    const Neighbourhoods& neighbourhoods;
    NeighbourhoodPicker& picker;
    std::int32_t first_of_levels;
    cbc::SearchWay way;
    Deadline deadline;
    std::vector<std::string>& defects;
  };
  PartSearch(const Input& input, std::uint64_t seed);

  // Asked before each part: a model whose solution takes the incumbent's place; mostly none.
  void restart_with(std::function<std::optional<lp::Milp>()> newer) { newer_ = std::move(newer); }

  const cbc::Question* next() override;
  void hear(cbc::MilpAnswer answer) override;
  bool is_settled() const override;
  bool is_stale() const override;

 private:
  std::size_t next_level();
  const cbc::Question* ask_for_newer(lp::Milp model);
  const cbc::Question* ask_for_relaxation();
  bool knows_relaxation() const;
  double units_of_value() const;
  void set_time();
  void grow_or_shrink(const cbc::MilpAnswer& answer, bool has_gained, double spent);

  // The LP relaxation of one level, with others held.
  struct Relaxation {
    std::size_t level = 0;
    Incumbent::Values given;
    std::vector<double> x;  // empty: none is known
  };
  enum class Asked : std::uint8_t { kPart, kRelaxation, kNewer };
  struct Task {
    Asked asked = Asked::kPart;
    SubModel part = {};
    std::size_t level = 0;
    Incumbent::Values given = {};                // the values that are held, and
    std::vector<double> base = {};               // the solution of which it is a part
    std::optional<NeighbourhoodKind> kind = {};  // none: raises the level
    double target = 0;                           // seconds that it should take; without a clock, units of work
    Deadline end;
    Deadline::Clock::time_point begun = {};
  };

  Input in_;
  std::vector<int> vain_;  // by level: steps since the last gain
  std::mt19937_64 random_;
  std::function<std::optional<lp::Milp>()> newer_;
  double patience_ = 1;  // for all of the model: times that for a part
  Relaxation relaxation_;
  Task task_;
  cbc::Question question_;
  bool is_stuck_ = false;  // no part has an answer
};

// Bounds one open level after the other, those first that were tried least: first without what gangs of lower priority
// do, which is a smaller model and mostly bounds as well, since they could all leave. What it has for the gangs of the
// level's priority is then completed to a solution. Where that proves nothing, the whole model is asked.
class BoundSearch : public cbc::Lane {
 public:
  BoundSearch(Incumbent& incumbent, const Neighbourhoods& neighbourhoods, const Deadline& deadline,
              std::vector<std::string>& defects);

  const cbc::Question* next() override;
  void hear(cbc::MilpAnswer answer) override;
  void hear_bound(double bound) override;
  bool is_settled() const override;
  // The level is proven, or those before it have become better.
  bool is_stale() const override;
  // Whether the last question was answered.
  bool has_solved() const { return has_solved_; }

 private:
  enum class Asked : std::uint8_t { kAbove, kRest, kWhole };
  struct Task {
    Asked asked = Asked::kWhole;
    std::size_t level = 0;
    Incumbent::Values given = {};   // the values that are held, and
    std::vector<double> base = {};  // the solution that has them
    Neighbourhood part = {};
    SubModel model = {};
    Deadline end;
  };
  std::size_t next_level() const;
  const cbc::Question* ask(Asked what, std::size_t level, Neighbourhood part);

  Incumbent& incumbent_;
  const Neighbourhoods& neighbourhoods_;
  Deadline deadline_;
  std::vector<std::string>& defects_;
  std::vector<bool> has_asked_above_;  // by level
  std::vector<int> tries_;             // by level, of the whole model
  Task task_;
  std::optional<Neighbourhood> rest_;  // completes the last answer
  cbc::Question question_;
  bool has_solved_ = true;
  bool is_stuck_ = false;  // it ended by itself without an answer
};

// A bound search and a part search that take turns on one worker: bounds have all of its time while they are found, and
// half of it once a question has not been answered.
class TakeTurns : public cbc::Lane {
 public:
  TakeTurns(BoundSearch& bounds, PartSearch& parts) : bounds_(bounds), parts_(parts), turn_(&bounds) {}

  const cbc::Question* next() override;
  void hear(cbc::MilpAnswer answer) override;
  void hear_bound(double bound) override { turn_->hear_bound(bound); }
  bool is_settled() const override { return bounds_.is_settled(); }
  bool is_stale() const override { return turn_->is_stale(); }

 private:
  BoundSearch& bounds_;
  PartSearch& parts_;
  cbc::Lane* turn_;
  Deadline::Clock::duration of_bounds_{}, of_parts_{};
  Deadline::Clock::time_point begun_;
};

}  // namespace muster::choice
