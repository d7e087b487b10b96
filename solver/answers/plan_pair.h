// The plans of a cluster as it is and as changes make it, so that they differ by what the changes cause, and by nothing
// else.
//
// Two plans that are made apart and are not both optimal differ by chance in many gangs. So the second starts from the
// first; what the second has found and the first could have, too, the first takes over; and of the other differences
// only those stay without which the second would be worse in a level that tells which pods run, leave or move. That is
// a smallest set of gangs in the sense that none of them, and no part of them that tells apart, can be left out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/change/change.h"
#include "model/snapshot/snapshot.h"
#include "solver/answers/experiment.h"
#include "solver/portfolio/portfolio.h"

namespace muster::answers {

struct PlanPair {
  struct Side {
    std::unique_ptr<Run> run;
    double ms = 0;  // of its plan alone
  };
  // Gangs that get room and that lose it in a plan that is better still.
  struct Trade {
    std::vector<std::string> more, fewer;
  };
  Side before, after;
  Trade trade;  // empty: nothing is known of such a plan
};

// One plan, timed.
Result<PlanPair::Side> solve_side(const Snapshot& snapshot, portfolio::Portfolio& portfolio,
                                  const ExperimentOptions& options);

// `only_adds_room`: the changes leave every plan of the cluster possible. Then no gang that starts or runs on before
// gives way to others afterwards: that a plan exchanges gangs may be chance, and is not what the change forces. If both
// choices are proven optimal, what the best plan would exchange is reported apart. Each of the plans has
// `options.budget`, and so has the comparison, which asks the referee of some plans for each gang that differs. Errors:
// those of build_problem.
Result<PlanPair> solve_pair(const Snapshot& original, const Snapshot& changed, bool only_adds_room,
                            portfolio::Portfolio& portfolio, const ExperimentOptions& options);

// Whether the change leaves every plan of any cluster possible, and gives no gang a claim that it did not have.
bool only_adds_room(const change::Change& change);

}  // namespace muster::answers
