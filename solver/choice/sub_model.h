// A part of a choice model: some columns are free, all others stay as the incumbent has them.
#pragma once

#include <cstdint>
#include <vector>

#include "solver/choice/incumbent.h"
#include "solver/choice/neighbourhoods.h"
#include "solver/lp/milp.h"

namespace muster::choice {

struct SubModel {
  lp::Milp milp;                      // maximises a level in units; of the rows, those that it could break
  std::vector<std::int32_t> columns;  // of its columns: those of the model
  bool is_whole = false;              // nothing stays or is set

  // A solution of the model.
  std::vector<double> whole(std::vector<double> incumbent, const std::vector<double>& part) const;
  // What it has of a solution of the model.
  std::vector<double> part_of(const std::vector<double>& solution) const;
};

enum class Aim : std::uint8_t {
  kBetter,  // only solutions that are better by a unit, so that to find none ends the search
  kBest     // the incumbent is a solution, too
};

// Levels before `level` are held at the incumbent's values. With columns that are left out it is a relaxation, whose
// bounds hold, and whose solutions may be none of the model. Requires an incumbent that is raised up to the level
// before; without one, all columns to be free. Cost: O(entries).
SubModel sub_model(const Incumbent& incumbent, const Neighbourhood& part, std::size_t level, Aim aim);

}  // namespace muster::choice
