// One snapshot that is handled as a whole, by `muster split` and `muster merge --cells`, and plans of it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "io/muster_v1/plan_line.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/base/require.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::cli {

class WholeCluster {
 public:
  // Of --lenient, --strict, --threads and --max-line-bytes.
  explicit WholeCluster(const Settings& settings);

  // The first line of the file, "-" for stdin. An exit code; the console has reported what is wrong.
  int read(const std::string& file, Console& console);
  // Requires that the snapshot was read.
  const Problem& problem() const {
    MUSTER_REQUIRE(problem_.has_value());
    return *problem_;
  }
  // The plan that the first line of the file is. None: there is none, and the console has reported it.
  std::optional<Plan> read_plan(const std::string& file, Console& console) const;

 private:
  muster_v1::ReaderOptions options_;
  std::unique_ptr<Snapshot> snapshot_;
  std::optional<Problem> problem_;
};

}  // namespace muster::cli
