// HiGHS behind plain data, where the program is built with it (MUSTER_HIGHS): for proofs of large models, some of
// which it finds sooner. Without it everything works, and CBC proves what it can.
#pragma once

#include "solver/cbc/search_record.h"
#include "solver/lp/milp.h"

namespace muster::cbc {

// Whether the program is built with it.
bool has_highs();

// Solves by branch and cut on one thread. Tries to finish by `request.deadline`, without a guarantee: presolve and the
// cuts of the root look at the clock rarely. Requires has_highs(), and a model with columns; of a request neither
// `relax`, nor a cutoff, nor a limit of work. `way` and `without_preprocessing` are of CBC alone. May throw
// std::bad_alloc.
MilpAnswer solve_with_highs(const lp::Milp& milp, const MilpRequest& request, const IncumbentListener& listener);

}  // namespace muster::cbc
