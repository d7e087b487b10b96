// Reads back what write_mps writes, by Coin's reader.
#pragma once

#include <optional>
#include <string>

#include "solver/lp/milp.h"

namespace muster::test {

// With the objective negated again: to be maximised. None if the file cannot be read without errors.
std::optional<lp::Milp> read_mps(const std::string& path);

}  // namespace muster::test
