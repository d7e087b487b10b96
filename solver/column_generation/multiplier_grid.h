// The duals of all nodes of one kind at once: every node is priced on one grid of multipliers of two resources.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "model/base/tuning.h"
#include "solver/supply/configuration.h"

namespace muster::column_generation {

// Nodes of a kind lie in one zone and part, have devices of one size, and may hold pods of the same demand classes;
// they differ in what is free.
//
// With multipliers a and b on the two scarcest resources, what is left of a node falls into its devices, and what these
// hold depends on a and b alone: an unbounded knapsack over shares (Gilmore and Gomory 1961), and a division of idle
// devices among pods that take whole ones. So both are solved once for each pair of the grid, not for each node. A
// node's bound is the least over the pairs of a x free + b x free + what its devices hold: valid at every pair and
// every price (Geoffrion 1974). Other resources, and how many pods there are, are left out.
class MultiplierGrid {
 public:
  // Requires at least one residual class, of one kind, without residents. Cost: O(residual classes x devices).
  MultiplierGrid(const formulation::ConfigurationInput& input, const formulation::Supply& supply,
                 std::vector<formulation::ResidualClassIndex> residuals);

  const std::vector<formulation::ResidualClassIndex>& residuals() const { return residuals_; }
  // That fit into some of them, ascending.
  const std::vector<formulation::DemandIndex>& demands() const { return demands_; }
  // `price` by DemandIndex, >= 0. Cost: O(pairs x (items + levels x sizes)), 1 ms with 100 levels.
  void set_prices(const std::vector<double>& price);

  // A pair of multipliers, and its neighbour such that a mixture of both uses the first resource up.
  struct Choice {
    double dual_bound = 0;  // no configuration is worth more
    std::size_t pair = 0, neighbour = 0;
    double part = 1;  // of the mixture, at `pair`
  };
  // Requires prices. The best pair for the residual class at this position, as far as steps downhill from the pair of a
  // similar one lead. Cost: 0.2 us.
  Choice choose(std::size_t position, std::size_t start) const;

  // Calls `take` for the pods that the relaxed node holds at a pair. Cost: O(sizes x pods).
  using Take = std::function<void(formulation::DemandIndex, double pods)>;
  void trace(std::size_t position, std::size_t pair, const Take& take) const;
  // The same for the mixture; what is left of the first resource goes to pods without devices if they are worth it.
  void trace_mixture(std::size_t position, const Choice& choice, const Take& take) const;

  // The multipliers of pairs, from the smallest first one up, for each second one.
  std::size_t pairs() const { return multiplier_[0].size(); }
  static std::size_t steps() { return kTuning.generation.grid.first; }
  double first_multiplier(std::size_t pair) const { return multiplier_[0][pair]; }
  // The multiplier of the first resource from which on no pod without devices gains anything.
  double floor(std::size_t pair) const { return multiplier_[0][pair / steps() * steps()]; }
  // Of both resources at a pair, by ResourceIndex.
  std::vector<std::pair<std::size_t, double>> multipliers(std::size_t pair) const {
    return {{resource_[0], multiplier_[0][pair]}, {resource_[1], multiplier_[1][pair]}};
  }
  std::size_t first_resource() const { return resource_[0]; }

 private:
  struct Item {
    formulation::DemandIndex demand;
    std::int32_t devices = 0;               // of a sharer; else it counts as one
    double count = 0;                       // pods of all gangs
    std::array<double, 2> request{{0, 0}};  // of the two resources
  };
  // Items that take equally much: grains of one device, or whole devices.
  struct Size {
    std::int32_t amount = 0;
    std::vector<Item> items;
    std::vector<double> profit, use;   // by pair: of the best of them; use of the first resource
    std::vector<std::int32_t> best{};  // by pair; -1: none has a profit
  };
  struct Pattern {
    std::vector<std::int32_t> partial;  // levels of partly free devices, rounded up
    std::int32_t idle = 0;
    friend auto operator<=>(const Pattern&, const Pattern&) = default;
  };
  // Best value of what is free, and its use of the first resource: by amount (grains or idle devices), by pair.
  struct Table {
    std::int32_t most = 0;  // amount
    std::vector<double> value, use;
  };

  void add_items(const formulation::ConfigurationInput& input, const formulation::Supply& supply);
  void choose_resources(const formulation::ConfigurationInput& input, const formulation::Supply& supply);
  void set_multipliers(const std::vector<double>& price);
  void find_best(std::vector<Size>& sizes, const std::vector<double>& price) const;
  void fill_table(const std::vector<Size>& sizes, const double* each, const double* each_use, Table& table) const;
  void trace_device(std::size_t pair, std::int32_t level, double part, const Take& take) const;
  void trace_idle(std::size_t pair, std::int32_t idle, double part, const Take& take) const;
  void trace_part(std::size_t position, std::size_t pair, double part, const Take& take) const;
  double bound_at(std::size_t position, std::size_t pair) const;
  double use_of(std::size_t position, std::size_t pair) const;

  std::vector<formulation::ResidualClassIndex> residuals_;
  std::vector<formulation::DemandIndex> demands_;
  std::vector<std::size_t> pattern_of_;  // by residual class
  std::vector<Pattern> patterns_;
  std::array<std::size_t, 2> resource_{{0, 0}};
  std::array<std::vector<double>, 2> free_;  // by residual class
  std::vector<Item> without_devices_;
  std::vector<Size> shares_, wholes_;
  std::array<std::vector<double>, 2> multiplier_;  // by pair
  std::vector<std::int32_t> tied_;  // by second multiplier: the pod without devices that the first one starts at; -1
  std::vector<double> unbounded_;   // by pair: value of pods that use neither devices nor the first resource
  Table device_, idle_;
};

}  // namespace muster::column_generation
