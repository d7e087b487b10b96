// Small random models and the truth about them, for the tests of what solves them.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "solver/lp/milp.h"

namespace muster::test {

inline int pick(std::mt19937& random, int lowest, int highest) {
  return lowest + static_cast<int>(random() % static_cast<unsigned>(highest - lowest + 1));
}

// Rows of every kind: <=, >=, =, two-sided and free.
inline void add_random_row(lp::Milp& milp, std::mt19937& random) {
  const double side = pick(random, 0, 14);
  switch (pick(random, 0, 7)) {
    case 0:
      milp.add_row(-side / 2, lp::kInfinity);
      break;
    case 1:
      milp.add_row(side / 2, side / 2);
      break;
    case 2:
      milp.add_row(-3, side);
      break;
    case 3:
      milp.add_row(-lp::kInfinity, lp::kInfinity);
      break;
    default:
      milp.add_row(-lp::kInfinity, side);
  }
}

// 1 to 6 columns with bounds within -3..5 and 0 to 5 rows; `share_of_integers` in percent.
inline lp::Milp random_milp(std::mt19937& random, int share_of_integers = 100) {
  lp::Milp milp;
  const int rows = pick(random, 0, 5);
  for (int row = 0; row < rows; ++row) add_random_row(milp, random);
  const int columns = pick(random, 1, 6);
  for (int column = 0; column < columns; ++column) {
    std::vector<lp::Entry> entries;
    for (int row = 0; row < rows; ++row) {
      if (pick(random, 0, 2) > 0) entries.push_back({row, static_cast<double>(pick(random, -2, 6))});
    }
    const double lower = pick(random, 0, 2) == 0 ? pick(random, -3, 0) : 0;
    const bool integer = pick(random, 1, 100) <= share_of_integers;
    milp.add_column({static_cast<double>(pick(random, -3, 9)), lower, lower + pick(random, 0, 5), integer}, entries);
  }
  return milp;
}

// Packing: rows of capacity, columns that are all wanted. Hard enough to branch from some 20 x 20 on.
inline lp::Milp packing_milp(std::mt19937& random, int rows, int columns) {
  lp::Milp milp;
  for (int row = 0; row < rows; ++row) milp.add_row(-lp::kInfinity, pick(random, 10, 39));
  for (int column = 0; column < columns; ++column) {
    std::vector<lp::Entry> entries;
    for (int row = 0; row < rows; ++row) {
      if (pick(random, 0, 2) == 0) entries.push_back({row, static_cast<double>(pick(random, 1, 9))});
    }
    milp.add_column({static_cast<double>(pick(random, 1, 20)), 0, static_cast<double>(pick(random, 1, 3)), true},
                    entries);
  }
  return milp;
}

// The best objective of a pure integer model by trying every point; nothing if there is none.
inline std::optional<double> best_by_trying(const lp::Milp& milp) {
  std::optional<double> best;
  std::vector<double> x = milp.lower;
  for (;;) {
    if (lp::is_feasible(milp, x, 1e-9)) {
      const double value = lp::objective_value(milp, x);
      if (!best || value > *best) best = value;
    }
    std::size_t column = 0;
    while (column < x.size() && x[column] >= milp.upper[column]) {
      x[column] = milp.lower[column];
      ++column;
    }
    if (column == x.size()) return best;
    x[column] += 1;
  }
}

// The bound that the prices of the rows prove: max c x <= this, by weak duality. Infinite if a price has the sign of a
// side that the row does not have.
inline double dual_bound(const lp::Milp& milp, const std::vector<double>& row_price) {
  const auto product = [](double factor, double lower, double upper) {
    if (std::abs(factor) < 1e-9) return 0.0;
    return factor > 0 ? factor * upper : factor * lower;
  };
  double bound = 0;
  for (std::size_t row = 0; row < row_price.size(); ++row) {
    bound += product(row_price[row], milp.row_lower[row], milp.row_upper[row]);
  }
  for (std::size_t column = 0; column < milp.objective.size(); ++column) {
    double reduced_cost = milp.objective[column];
    for (auto entry = static_cast<std::size_t>(milp.column_begin[column]);
         entry < static_cast<std::size_t>(milp.column_begin[column + 1]); ++entry) {
      reduced_cost -= milp.entry_value[entry] * row_price[static_cast<std::size_t>(milp.entry_row[entry])];
    }
    bound += product(reduced_cost, milp.lower[column], milp.upper[column]);
  }
  return bound;
}

}  // namespace muster::test
