// The matrix of a model as Eigen's type, for the .cpp files of this folder.
#pragma once

#include <cstdint>

#include "model/base/require.h"

// A failed assertion of Eigen ends the line, as other defects do, and not the program.
#define eigen_assert(condition) MUSTER_REQUIRE(condition)

#include <Eigen/SparseCore>

namespace muster::lp {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>;

}  // namespace muster::lp
