// What the last plan leaves of the cluster, and the inconsistent objects of all snapshots.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "cli/line/line.h"
#include "io/http/prometheus_text.h"
#include "model/objective/wholeness.h"
#include "model/snapshot/warning.h"

namespace muster::cli {

// Cost to make: O(nodes + pods).
struct PlanCounts {
  explicit PlanCounts(const SolvedLine& line);

  std::map<std::string, std::int64_t> gangs;  // by phase; every phase is there
  double allocated_gpus = 0, free_gpus = 0;
  WholeNodeCount whole_nodes;
};

class SnapshotMetrics {
 public:
  void solved(const Anomalies& anomalies, PlanCounts counts);
  void write(http::PrometheusText& out) const;

 private:
  void write_last_plan(http::PrometheusText& out) const;

  std::map<std::string, std::int64_t, std::less<>> warnings_{
      {"gang", 0}, {"node", 0}, {"pod", 0}, {"queue", 0}};  // by the kind of object, of all snapshots
  std::size_t last_warnings_ = 0;
  std::optional<PlanCounts> last_;
};

}  // namespace muster::cli
