// Rule Reclaim (docs/semantics.md, "Evictions").
//
// Rows      reclaim channel k between two sides: pods evicted <= M a, a <= pods placed of the claimants; where a = 1
//             usage <= share on the claimant's queues up to its side, in what it asks for (quota for what is not
//             preemptible), and one of the grounds h holds: usage of the victims' side + the largest unit reclaimed
//             from it > share; or the same with quota, and the claimant's side within quota
//           largest unit of a side: L = sum of size x w, sum of w <= 1, w <= units of that size that are reclaimed
//           split gangs: the minimum is a unit of a side if any pod of it is reclaimed from there
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "solver/rows/eviction_rows.h"
#include "solver/rows/queue_rows.h"

namespace muster::formulation {

class ReclaimRows {
 public:
  // All outlive the object.
  ReclaimRows(const FormulationInput& input, GangColumns& columns, const EvictionRows& evictions,
              const QueueRows& queues, lp::ModelBuilder& model)
      : in_(input), columns_(columns), evictions_(evictions), queues_(queues), model_(model) {}

  // Requires that it has not been called; the columns of exits are there. Cost: O(channels x sides x exits).
  void add();
  // The columns that are 1 where something is reclaimed that must keep to a share in which running pods of the queue
  // count.
  std::vector<std::int32_t> keeping_to_share(QueueIndex queue) const;

 private:
  // Evicting for claimants of one kind from one side.
  struct Reclaim {
    std::size_t channel = 0;
    preemption::EvictionRules::Sides sides;
    lp::LinearExpression evicted;  // pods
    std::int32_t active = -1;      // 1 if any pod is evicted for it
  };

  void collect();
  void add_reclaim(Reclaim& reclaim);
  void add_grounds(const Reclaim& reclaim, std::int32_t active);
  const lp::LinearExpression& largest_unit(QueueIndex side, std::size_t resource);
  void add_split_unit(GangClassIndex index, QueueIndex side, std::size_t resource,
                      std::map<Amount, lp::LinearExpression>& units);
  void collect_units(GangClassIndex index, const ExitColumns& exit, std::size_t resource,
                     std::map<Amount, lp::LinearExpression>& units) const;
  std::vector<PodIndex> core_of(GangIndex gang) const;
  bool keeps_to_share(const Reclaim& reclaim, QueueIndex queue) const;

  const FormulationInput& in_;
  GangColumns& columns_;
  const EvictionRows& evictions_;
  const QueueRows& queues_;
  lp::ModelBuilder& model_;
  std::map<std::tuple<std::size_t, QueueIndex, QueueIndex>, Reclaim> reclaims_;  // by channel and sides
  std::map<std::pair<QueueIndex, std::size_t>, lp::LinearExpression> largest_units_;
};

}  // namespace muster::formulation
