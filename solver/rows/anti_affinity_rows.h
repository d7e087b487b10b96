// Anti-affinity over several nodes: in each domain either pods that own the term, or pods that match it, or one that
// does both. Where running pods exclude each other, these, or nothing comes. Within one node, configurations enforce
// it.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "solver/lp/model_builder.h"
#include "solver/rows/formulation_input.h"
#include "solver/supply/configuration.h"

namespace muster::formulation {

class AntiAffinityRows {
 public:
  // Both outlive the object.
  AntiAffinityRows(const FormulationInput& input, lp::ModelBuilder& model) : in_(input), model_(model) {}

  // All of them in advance, since an open LP accepts no more rows. Cost: O(residual classes x demand classes x terms x
  // nodes).
  void add();
  // Pods of the configuration by row, ascending. Requires that the residual class is a single node, if there are rows:
  // it is where terms span nodes.
  std::vector<lp::Entry> entries_of(ResidualClassIndex residual, const Configuration& configuration) const;

 private:
  // `pods`: more than all that are asked for. `at_odds`: some that run there exclude each other.
  struct Apart {
    std::int64_t pods = 0;
    bool at_odds = false;
  };
  void add_row(AntiAffinityIndex term, DomainIndex domain, const Apart& apart);

  const FormulationInput& in_;
  lp::ModelBuilder& model_;
  std::map<std::tuple<AntiAffinityIndex, DomainIndex, int>, std::int32_t> rows_;
};

}  // namespace muster::formulation
