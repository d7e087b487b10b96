// A plan as a table for people: one row for each gang that waits, starts, moves or goes.
#pragma once

#include <cstddef>
#include <string>

#include "model/plan.h"
#include "model/problem.h"
#include "model/report.h"

namespace muster {

// Columns GANG, QUEUE, PHASE, PODS (after the plan, of all that exist), REASON in words, WAITS FOR. In the order of the
// names; a line that says so where no gang has anything to tell. Names are made fit for a terminal. Ends with a line
// feed. The last column is wrapped between words to a terminal of `width` columns; 0: it is not.
std::string plan_table(const Problem& problem, const Plan& plan, const Report& report, std::size_t width = 0);

// A code of docs/semantics.md, "Reasons", in a few words; the code itself where it is not known.
std::string reason_words(std::string_view code);

}  // namespace muster
