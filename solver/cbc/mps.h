// Models as MPS files, for other solvers.
#pragma once

#include <string>

#include "solver/lp/milp.h"

namespace muster::cbc {

// Writes free MPS to `path`, by Coin's writer: doubles with 16 digits. The file minimises the negated objective, and
// its objective row says so by its name, because CBC's reader recognises OBJSENSE MAX and then ignores it. Names are
// the given ones if they can be written (printable, no blanks, unique, at most 100 characters), else R<row> and
// C<column>. False if the file cannot be written. Readers leave out rows without sides, and take an integer column
// whose bounds are equal for a continuous one.
bool write_mps(const lp::Milp& milp, const std::string& path);

}  // namespace muster::cbc
