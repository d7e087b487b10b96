// Models as MPS files, for other solvers.
#pragma once

#include <cstdint>
#include <string>

#include "solver/lp/milp.h"

namespace muster::cbc {

// Writes free MPS to `path`, by Coin's writer: doubles with 16 digits. The file minimises the negated objective, and
// its objective row says so by its name, because CBC's reader recognises OBJSENSE MAX and then ignores it. Names are
// the given ones if they can be written (printable, no blanks, unique, at most 100 characters), else R<row> and
// C<column>. False if the file cannot be written. Readers leave out rows without sides, and take an integer column
// whose bounds are equal for a continuous one.
bool write_mps(const lp::Milp& milp, const std::string& path);

// Where the models that a worker is asked to solve are written: of a file the first of each cycle that is not a
// relaxation; of a folder all of them, as 1.mps, 2.mps, ... in the order in which they were asked.
class ModelFiles {
 public:
  // The path of a file or of an existing folder; empty: nothing is written.
  void begin_cycle(const std::string& path);
  // Cost: that of write_mps, where there is something to write.
  void write(const lp::Milp& milp, bool is_relaxation);
  // Whether one of this cycle could not be written.
  bool has_failed() const { return has_failed_; }

 private:
  std::string path_;
  bool is_folder_ = false, has_first_ = false, has_failed_ = false;
  std::int64_t written_ = 0;  // since the beginning
};

}  // namespace muster::cbc
