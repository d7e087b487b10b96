// The ledger of a cluster that is divided into cells: which nodes each cell has. `muster split` writes it, and `muster
// merge --cells` reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/error_code.h"
#include "model/problem/problem.h"
#include "solver/cells/dealing.h"

namespace muster::cli {

// One line of JSON, with its line feed. `ids`: of the cells' snapshots. Cost: linear.
std::string ledger_text(const Problem& problem, const cells::Dealing& dealing, const std::vector<std::string>& ids);

struct Ledger {
  std::vector<std::string> ids;  // by CellIndex
  cells::Dealing dealing;        // what merging reads of it: names, nodes, gangs that run in several cells
};

// Errors: as readers of lines; UnknownName for a node that the snapshot does not have, MissingKey for one of the
// snapshot that is in no cell.
Result<Ledger> read_ledger(std::string_view text, const Problem& problem);

}  // namespace muster::cli
