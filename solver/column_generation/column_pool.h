// The configurations of every residual class that a solution may use: listed completely, or found by pricing so far.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "solver/column_generation/pricing.h"
#include "solver/formulation/formulation.h"
#include "solver/supply/configuration.h"

namespace muster::column_generation {

class ColumnPool {
 public:
  ColumnPool(const formulation::ConfigurationInput& input, const formulation::Supply& supply);

  struct Limits {
    std::size_t states = 0, columns = 0;  // of all residual classes together
    std::function<bool()> stop = {};      // asked now and then; empty: never
  };
  // Lists everything; returns the number of intermediate states. None, and nothing kept, if that exceeds the limits.
  std::optional<std::size_t> list_all(const Limits& limits);
  // Keeps the configuration if it is new; true if so.
  bool add(formulation::ResidualClassIndex residual, formulation::Configuration configuration);
  // The position of the configuration, which is kept if it is new.
  std::uint32_t position(formulation::ResidualClassIndex residual, formulation::Configuration configuration);
  // The contents of each node in an end state beside what is present in `base`, the state of the supply: the pods that
  // stay and those that are placed. Nothing is added for nodes whose contents the formulation does not know.
  void add_contents(const ClusterState& end_state, const ClusterState& base);

  const Indexed<formulation::ResidualClassIndex, std::vector<formulation::Configuration>>& configurations() const {
    return configurations_;
  }
  Pricing& pricing(formulation::ResidualClassIndex residual);

 private:
  std::optional<formulation::Configuration> contents_of(NodeIndex node, const ClusterState& end_state,
                                                        const ClusterState& base) const;

  const formulation::ConfigurationInput& in_;
  const formulation::Supply& supply_;
  Indexed<formulation::ResidualClassIndex, std::vector<formulation::Configuration>> configurations_;
  Indexed<formulation::ResidualClassIndex,
          std::map<std::vector<std::pair<formulation::DemandIndex, std::int32_t>>, std::size_t>>
      known_;
  Indexed<formulation::ResidualClassIndex, std::optional<Pricing>> pricing_;
  std::map<std::tuple<PodClassIndex, Work, NodeIndex>, formulation::DemandIndex> demand_of_;
};

}  // namespace muster::column_generation
