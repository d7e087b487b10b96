// A plan as a table for people: one row for each gang that waits, starts, moves or leaves.
#pragma once

#include <cstddef>
#include <string>

#include "model/explain/report.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::cli {

// Columns GANG, QUEUE, PHASE, PODS (after the plan, of all that exist), REASON in words, WAITS FOR. In the order of the
// names; if no gang has anything to report, one line that states this. Names are made safe for a terminal. Ends with a
// line feed. The last column is wrapped between words to a terminal of `width` columns; 0: no wrapping.
std::string plan_table(const Problem& problem, const Plan& plan, const explain::Report& report, std::size_t width = 0);

// A reason of docs/semantics.md in a few words; "-" if there is none.
std::string reason_words(const explain::Reason& reason);

}  // namespace muster::cli
