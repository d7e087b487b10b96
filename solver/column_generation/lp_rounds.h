// What all loops of column generation have in common: each solves an LP relaxation that grows by columns.
#pragma once

#include <string>

#include "solver/budget/deadline.h"
#include "solver/cbc/backend.h"
#include "solver/lp/milp.h"

namespace muster::column_generation {

cbc::MilpRequest relaxation_request(const Deadline& deadline);

// The rows of a master alone, for columns that are added to it.
lp::Milp no_columns(const lp::Milp& master);

// Of a worker that broke before its time was up; one that was stopped because it was up has none.
std::string defect_of(const cbc::MilpAnswer& answer, const cbc::MilpRequest& request);

}  // namespace muster::column_generation
