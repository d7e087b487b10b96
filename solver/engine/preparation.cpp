#include "solver/engine/preparation.h"

#include "model/base/tuning.h"

namespace muster::engine {

MilpPreparation::MilpPreparation(const Problem& problem, const FairShares& fair_shares, const Deadline& deadline,
                                 bool may_move)
    : before(problem, ClusterState::Releasing::kFreed),
      rules(problem, fair_shares, before),
      setting{problem, fair_shares, rules},
      candidates(may_move ? formulation::find_candidates(problem, rules, before)
                          : formulation::without_moves(formulation::find_candidates(problem, rules, before))),
      whole(setting, before, candidates, &deadline) {
  took_too_long = !whole.supply.is_complete;
  if (!took_too_long && whole.supply.residuals.size() > kTuning.size.many_kinds)
    took_too_long = !whole.formulate(false, deadline);
}

}  // namespace muster::engine
