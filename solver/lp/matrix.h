// The matrix of a model as Eigen's type, for the .cpp files of this folder.
#pragma once

#include <cstdint>

#include <Eigen/SparseCore>

namespace muster::lp {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>;

}  // namespace muster::lp
