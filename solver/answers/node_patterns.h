// The least price of nodes that hold a demand of pods, by column generation over what one node holds.
//
// A pattern is a number of pods of each class that one node of a kind holds. The master is the LP
//   minimise  sum of price x patterns   subject to  pods of all patterns >= demand, nodes of a kind <= most,
// its columns come from a knapsack for each kind (Gilmore and Gomory 1961). From any prices of pods, dividing them by
// the most that the reduced price of a pattern is exceeded gives a bound (Farley 1990), so that stopping early is safe.
// The same prices say what nodes can be worth at most: sum of value x nodes of a kind >= row_of_values of the
// demand. The least price of whole numbers of nodes for which this holds is a bound, too, and a better one. What the
// patterns ignore (how shares pack on devices beyond their sums, topology, rules between pods, gangs) only makes the
// bound lower. Room that is there already is one more column for each class, by sums over all nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "solver/budget/deadline.h"
#include "solver/cbc/backend.h"
#include "solver/lp/milp.h"

namespace muster::answers {

// What one node of a kind has, or all that is free already: by class of pods, the part that one pod takes of each
// resource, and how many pods fit if there are no others.
struct PatternCapacity {
  std::vector<std::vector<double>> load;
  std::vector<std::int64_t> most_pods;
};

struct PatternKind {
  PatternCapacity room;
  double price = 1;                  // above 0
  std::optional<std::int64_t> most;  // nodes of this kind
};

struct PatternInput {
  std::vector<PatternKind> kinds;
  std::vector<std::int64_t> demand;  // pods by class, above 0
  std::optional<PatternCapacity> present;
};

class NodePatterns {
 public:
  // `input` and `backend` outlive the object.
  NodePatterns(const PatternInput& input, cbc::Backend& backend) : input_(input), backend_(backend) {}

  // A lower bound of the price, at least 0. Infinite: proven that no nodes of these kinds suffice. Cost: an LP and a
  // knapsack for each kind in each round; ends by the deadline.
  double bound(const Deadline& deadline);

  // The numbers of nodes by kind that hold the demand in patterns found so far, of least price as far as the time goes;
  // empty: none found. Requires demand as in the input, which may be 0; `most`: what is left of each kind. `present`:
  // with the room that is there.
  std::vector<std::int64_t> mix(const std::vector<std::int64_t>& demand,
                                const std::vector<std::optional<std::int64_t>>& most, bool present,
                                const Deadline& deadline);

 private:
  struct Pattern {
    std::size_t kind = 0;
    std::vector<std::int64_t> pods;  // by class
  };
  struct Prices {
    std::vector<double> pod, kind, present;  // of the rows of the master, at least 0
  };
  void add_first_patterns();
  // A bound by sums: what a node has is divided without regard to whole pods. 0: no answer.
  double sums(const Deadline& deadline) const;
  // Knapsacks for these prices, solved to within the relative gap: more patterns, and what they prove.
  struct Priced {
    std::vector<Pattern> best;
    double bound = 0;
  };
  Priced price(const Prices& prices, double gap, const Deadline& deadline);
  // What a node of each kind holds at most, in prices of pods, and what all nodes have to hold.
  struct ValueRow {
    std::vector<double> of_kind;
    double demand = 0;
  };
  double whole_nodes_bound(const Deadline& deadline);
  bool is_known(const Pattern& pattern) const;
  lp::Milp rows(const std::vector<std::int64_t>& demand, const std::vector<std::optional<std::int64_t>>& most) const;
  void add_column(const Pattern& pattern, bool integer, lp::Milp& master) const;
  void add_present(bool integer, lp::Milp& master) const;
  Prices prices_of(const std::vector<double>& row_price) const;
  double dual_value(const Prices& prices) const;
  double value_of_present(const Prices& prices) const;
  // The best pattern for the prices, and an upper bound of its value.
  Pattern greedy_pattern(std::size_t kind, const std::vector<double>& price) const;
  double best_pattern(std::size_t kind, const std::vector<double>& price, double gap, const Deadline& deadline,
                      Pattern& best);
  double value_of(const Pattern& pattern, const std::vector<double>& price) const;

  const PatternInput& input_;
  cbc::Backend& backend_;
  std::vector<Pattern> patterns_;
  std::vector<ValueRow> value_rows_;
};

}  // namespace muster::answers
