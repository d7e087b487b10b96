// The best content of one node after another, at the prices of grids of multipliers.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "solver/column_generation/multiplier_grid.h"
#include "solver/column_generation/restricted_master.h"
#include "solver/supply/configuration.h"

namespace muster::column_generation {

// A node, by its kind's grid.
struct ResidualOnGrid {
  std::size_t kind, position;
};

// The contents that the relaxed node has at some pairs of multipliers, made to fit; the best of them, filled up with
// what else is worth its room. Nodes that are alike should come one after the other: each begins at the pair of the
// last. Outlived by the arguments of the constructor.
class NodeContent {
 public:
  // The grids have prices, and `price` are the same, by kind and DemandIndex. Cost: O(kinds).
  NodeContent(const RestrictedMaster& restricted, const std::vector<MultiplierGrid>& grids,
              const std::vector<std::vector<double>>& price);

  // The prices have changed.
  void reset();
  // No configuration of the node is worth more. Cost: 0.2 us.
  double dual_bound(const ResidualOnGrid& at) { return choose(at).dual_bound; }
  // At most `left` pods of each demand class. Cost: 10 us.
  formulation::Configuration make(const ResidualOnGrid& at, const std::vector<std::int64_t>& left);

 private:
  struct Kind {
    std::size_t pair = 0;                           // of the last node
    std::vector<formulation::DemandIndex> by_gain;  // empty: not known at these prices
  };

  MultiplierGrid::Choice choose(const ResidualOnGrid& at);
  const PodClass& class_of(formulation::DemandIndex d) const;
  double first_request(formulation::DemandIndex d, const MultiplierGrid& grid) const;
  std::pair<std::int32_t, DeviceUnits> bulk(formulation::DemandIndex d,
                                            const formulation::ResidualClass& residual) const;
  void find_best(const ResidualOnGrid& at, std::size_t pair, const formulation::ResidualClass& residual);
  double make_fit(std::size_t kind, double floor, const formulation::ResidualClass& residual);
  bool may_put(formulation::DemandIndex d, const formulation::ResidualClass& residual) const;
  bool put(formulation::DemandIndex d, const formulation::ResidualClass& residual, formulation::NodeResidual& space,
           formulation::Configuration& configuration);
  void sort_by_gain(std::size_t kind, std::size_t pair);

  const RestrictedMaster& restricted_;
  const std::vector<MultiplierGrid>& grids_;
  const std::vector<std::vector<double>>& price_;
  const std::vector<std::int64_t>* left_ = nullptr;  // of the node that is being filled
  std::vector<Kind> kinds_;
  std::vector<std::int32_t> counts_;            // by DemandIndex, on that node
  std::vector<formulation::DemandIndex> used_;  // with a count
  std::vector<formulation::DemandIndex> content_, best_;
  std::vector<Amount> free_;
};

}  // namespace muster::column_generation
