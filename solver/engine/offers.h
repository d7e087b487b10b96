// Makes plans of end states, mends them, and keeps the best.
#pragma once

#include <functional>
#include <vector>

#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "solver/column_generation/restricted_master.h"
#include "solver/engine/milp_engine_options.h"
#include "solver/engine/milp_outcome.h"
#include "solver/engine/repair.h"

namespace muster::engine {

// All of it outlives the offers.
struct OffersInput {
  const column_generation::Setting& setting;
  const Repair& repair;
  const std::vector<LevelId>& ids;
  const MilpEngineOptions& options;
  bool may_leave = false;  // some pod may be evicted or moved
};

class Offers {
 public:
  // `on_better`: called when outcome.best has become better.
  Offers(const OffersInput& input, std::function<void()> on_better, MilpOutcome& outcome)
      : in_(input), on_better_(std::move(on_better)), outcome_(outcome) {}
  Offers(const Offers&) = delete;
  Offers& operator=(const Offers&) = delete;

  // Makes plans of an end state: as it is if the model was whole (one more pod can change a gang's minimum, and lower
  // its share), and filled up, first with pods that need not have left. Only the first if there is no time to check
  // another plan, and to check the best one again at the end of the cycle.
  void offer(ClusterState state, std::vector<PlannedEviction> evictions, bool is_whole);

 private:
  bool is_over() const;
  StopRequest until(double share) const;
  void keep_if_best(const ClusterState& state, const std::vector<PlannedEviction>& evictions);
  bool keep_if_best(Candidate candidate);

  OffersInput in_;
  std::function<void()> on_better_;
  MilpOutcome& outcome_;
  Deadline::Clock::duration keeping_{};  // of one plan: to make, value and check it; the longest
};

}  // namespace muster::engine
