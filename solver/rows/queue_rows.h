// Limits and quotas of queues: what a queue uses in the end.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "solver/rows/gang_columns.h"

namespace muster::formulation {

class QueueRows {
 public:
  // All outlive the object.
  QueueRows(const FormulationInput& input, const GangColumns& columns, lp::ModelBuilder& model)
      : in_(input), columns_(columns), model_(model) {}

  // Usage stays within the limit (quota, for what is not preemptible) or does not grow. Cost: O(queues x cells).
  void add();
  // The usage of the queue in the end: what a pod uses where it uses least of the zone.
  lp::LinearExpression usage_of(QueueIndex queue, std::size_t resource, bool non_preemptible) const;

 private:
  struct Bound {
    QueueIndex queue;
    std::size_t resource = 0;
    bool non_preemptible = false;
    Amount most = 0;
  };

  void add_row(const Bound& bound);
  lp::LinearExpression limited_usage(OtherLimitIndex limit) const;
  const std::optional<QueueAmounts>& least_usage(DemandIndex demand, std::size_t zone) const;

  const FormulationInput& in_;
  const GangColumns& columns_;
  lp::ModelBuilder& model_;
  mutable Indexed<DemandIndex, std::vector<std::optional<QueueAmounts>>> least_usage_;  // once asked for
};

}  // namespace muster::formulation
