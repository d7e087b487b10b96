// How clusters are read and planned in the tests of kept states.
#pragma once

#include "cli/line/line.h"
#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::cli {

inline muster_v1::ReaderOptions reader_options_with(bool strict) {
  muster_v1::ReaderOptions options;
  options.strict = options.kubernetes.strict = strict;
  return options;
}

// By counted work, so that plans can be compared.
inline LineOptions line_options_with(portfolio::Engine engine) {
  LineOptions options;
  options.budget = 20'000'000;
  options.solve.engine = engine;
  options.solve.deterministic = true;
  return options;
}

}  // namespace muster::cli
