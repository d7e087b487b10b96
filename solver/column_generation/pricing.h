// Prices node configurations: the best content of one node at given prices of pods, and a proven bound on its value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solver/column_generation/content_builder.h"

namespace muster::column_generation {

// For one residual class; keeps its multipliers from call to call, so that each call starts where the last one ended.
//
// The bound is that of RelaxedNode; a few rounds of bisection, one resource after another, look for good multipliers.
// The configurations are the contents that the relaxed node chose along the way, with the stock divided device by
// device, made to fit and filled up; they fit exactly. Cost: O(rounds x levels x sizes), 20-300 us for a node of 8
// devices and 20 sizes.
class Pricing {
 public:
  // Both outlive the object; the residual class is as NodeItems wants it.
  Pricing(const formulation::ConfigurationInput& input, const formulation::ResidualClass& residual)
      : node_(input, residual) {}
  Pricing(const Pricing&) = delete;
  Pricing& operator=(const Pricing&) = delete;

  using Result = PricedContents;  // the best configurations found, best first
  // `price` by DemandIndex, >= 0. `effort` multiplies the rounds: 1 to find configurations, more to tighten the bound.
  Result price(const std::vector<double>& price, int effort = 1);
  // A bound and a configuration or two from a few steps around the multipliers of the last call: for prices that change
  // little from call to call. Cost: 10-40 us.
  Result quick(const std::vector<double>& price);

 private:
  static Result sorted(Result result);
  void divide_stock(const std::vector<double>& price, int steps, Result& result);
  void mix(const std::vector<double>& price, Result& result);
  void add_bundles(const std::vector<double>& price, std::vector<DeviceBundle>& bundles);
  std::vector<const DeviceBundle*> best_mix(const std::vector<DeviceBundle>& bundles) const;

  NodeItems node_;
  RelaxedNode relaxed_{node_};
  ContentBuilder builder_{node_};
  std::vector<double> stride_;         // of the resources: relative step of the next quick call
  std::vector<std::uint8_t> is_over_;  // of those: whether the last step used too much
  std::size_t scarce_ = 0;             // of those: the one with the largest multiplier x free capacity
};

}  // namespace muster::column_generation
