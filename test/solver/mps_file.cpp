#include "test/solver/mps_file.h"

#include <cmath>
#include <cstddef>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <CoinMpsIO.hpp>
#include <CoinPackedMatrix.hpp>
#pragma GCC diagnostic pop

namespace muster::test {
namespace {

double from_coin(double value) { return std::abs(value) < 1e30 ? value : std::copysign(lp::kInfinity, value); }

}  // namespace

std::optional<lp::Milp> read_mps(const std::string& path) {
  CoinMpsIO file;
  file.messageHandler()->setLogLevel(0);
  if (file.readMps(path.c_str(), "") != 0) return std::nullopt;
  lp::Milp milp;
  for (int row = 0; row < file.getNumRows(); ++row) {
    milp.add_row(from_coin(file.getRowLower()[row]), from_coin(file.getRowUpper()[row]));
    milp.row_names.emplace_back(file.rowName(row));
  }
  const CoinPackedMatrix& matrix = *file.getMatrixByCol();
  for (int column = 0; column < file.getNumCols(); ++column) {
    std::vector<lp::Entry> entries;
    for (auto i = matrix.getVectorFirst(column); i < matrix.getVectorLast(column); ++i)
      entries.push_back({matrix.getIndices()[i], matrix.getElements()[i]});
    const double cost = file.getObjCoefficients()[column];
    milp.add_column({cost == 0 ? 0 : -cost, from_coin(file.getColLower()[column]),
                     from_coin(file.getColUpper()[column]), file.isInteger(column)},
                    entries);
    milp.column_names.emplace_back(file.columnName(column));
  }
  return milp;
}

}  // namespace muster::test
