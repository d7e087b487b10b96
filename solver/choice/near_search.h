// Improves a solution by CBC on small parts of a model that is too large for it, then asks for the whole model.
//
// Where the solution agrees with the LP relaxation's, columns are fixed, and CBC solves what is left. Source:
// relaxation induced neighbourhoods, Danna, Rothberg and Le Pape, "Exploring relaxation induced neighborhoods to
// improve MIP solutions" (2005); here the columns of random rows are free as well, of more rows after each part that is
// solved without a gain.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "solver/budget/deadline.h"
#include "solver/cbc/channel.h"
#include "solver/lp/milp.h"

namespace muster::choice {

class NearSearch : public cbc::Lane {
 public:
  // `milp`, whose solutions have integer objectives, must outlive it. `whole`: what is asked of all of it at the end,
  // with a feasible start and the time of all questions together.
  NearSearch(const lp::Milp& milp, cbc::MilpRequest whole);

  const cbc::Question* next() override;
  void hear(cbc::MilpAnswer answer) override;
  bool is_settled() const override { return is_settled_; }

  // The best solution, never worse than the start, and the best bound. kFailed with them, if an answer was that.
  const cbc::MilpAnswer& answer() const { return best_; }

 private:
  enum class Stage : std::uint8_t { kRelaxation, kParts, kWhole, kOver };
  bool is_at_bound() const;
  bool is_done_with_parts() const;
  void improve(cbc::MilpAnswer& answer);
  void fix_where_same();
  void change_part(bool has_improved, bool is_exhausted);

  const lp::Milp& milp_;
  cbc::MilpRequest whole_;
  Deadline until_;               // for the parts
  std::vector<bool> is_local_;   // by row
  std::vector<double> relaxed_;  // the LP's solution
  double part_ = 0;              // of the local rows, whose columns are free
  cbc::Question asked_;
  Stage stage_ = Stage::kRelaxation;
  bool is_settled_ = false;
  cbc::MilpAnswer best_;
  std::mt19937_64 random_{1};
};

}  // namespace muster::choice
