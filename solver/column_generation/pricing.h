// Prices node configurations: the best content of one node at given prices of pods, and a proven bound on its value.
#pragma once

#include <cstdint>
#include <vector>

#include "solver/supply/configuration.h"

namespace muster::column_generation {

// For one residual class; keeps its multipliers from call to call, so that each call starts where the last one ended.
//
// The bound is the Lagrangian dual of the node's counted resources: with multipliers a_r >= 0 on them, what is left
// falls into devices, of which each is an unbounded knapsack over shares, and whole ones are divided by a small dynamic
// program (Gilmore and Gomory 1961 for the pattern, Geoffrion 1974 for the bound). Every a gives a valid bound; a few
// rounds of bisection, one resource after another, look for a good one. The configurations are the contents that the
// dynamic program chose along the way, with the stock divided device by device, made to fit and filled up; they fit
// exactly. Cost: O(rounds x levels x sizes), 20-300 us for a node of 8 devices and 20 sizes.
class Pricing {
 public:
  // Requires that the residual class has no residents.
  Pricing(const formulation::ConfigurationInput& input, const formulation::ResidualClass& residual);

  struct Result {
    double dual_bound = 0;                                   // no configuration is worth more
    std::vector<formulation::Configuration> configurations;  // the best found, best first
    std::vector<double> worth;                               // of each
  };
  // `price` by DemandIndex, >= 0. `effort` multiplies the rounds: 1 to find configurations, more to tighten the bound.
  Result price(const std::vector<double>& price, int effort = 1);
  // A bound and a configuration or two from a few steps around the multipliers of the last call: for prices that change
  // little from call to call. Cost: 10-40 us.
  Result quick(const std::vector<double>& price);

 private:
  struct Item {
    formulation::DemandIndex demand;
    const PodClass* pod_class;
    double most = 0;           // pods that fit at all, by counts and free capacity
    std::int32_t size = 0;     // of a sharer, in grains, rounded down; 0: takes no share
    std::int32_t whole = 0;    // whole devices
    std::int32_t devices = 0;  // of a sharer
  };
  struct Content {
    double value = 0;                 // of the relaxed problem, without the multipliers' constant
    std::vector<double> amount;       // by item
    std::int32_t shared_devices = 0;  // idle devices that are shared, not given whole
    // Of each shared device, partly used ones first: the items on it, one entry a pod. Only after within_counts.
    std::vector<std::vector<std::size_t>> on_devices;
  };

  // One pod of an item in the knapsack of a device: of one size the most profitable first, as many as there are.
  struct Copy {
    double profit;
    std::int32_t size;
    std::size_t item;
  };

  // Items that take this many whole devices.
  struct WholeUsers {
    std::int32_t devices;
    std::vector<std::size_t> items;
    std::vector<std::size_t> pods;    // the best of them, one entry a pod
    std::vector<std::int32_t> taken;  // by idle devices that are left: how many of `pods`
  };

  double request_of(std::size_t item, std::size_t resource) const {
    return request_[item * resources_.size() + resource];
  }
  Content relaxed(const std::vector<double>& price);
  std::vector<double> profits(const std::vector<double>& price) const;
  void divide_idle_devices(const std::vector<double>& profit, Content& content);
  void fill_device_table(const std::vector<double>& profit, const std::vector<double>& remaining);
  void open_device(std::int32_t level, std::vector<double>& amount) const;
  Content within_counts(const std::vector<double>& price, const Content& content);
  double dual(const std::vector<double>& price);
  double first_multiplier(std::size_t resource, const std::vector<double>& price) const;
  static Result sorted(Result result);
  void bisect(std::size_t resource, const std::vector<double>& price);
  void divide_stock(const std::vector<double>& price, int steps, Result& result);
  // What one device (or several, for a pod of whole ones) may hold, as a candidate for mixing.
  struct Bundle {
    std::vector<std::size_t> items;  // one entry a pod
    std::int32_t devices = 0;        // idle devices that it takes
    double value = 0, use = 0;       // at the prices; share of the scarcest resource
  };
  void add_bundles(const std::vector<double>& price, const Content& content);
  void mix(const std::vector<double>& price, Result& result);
  void sort_items(const std::vector<double>& price);
  void build_mixed(const std::vector<double>& price, Result& result);
  void finish(const std::vector<double>& price, formulation::NodeResidual& space,
              formulation::Configuration configuration, std::vector<std::int64_t> counts, Result& result);
  void build(const std::vector<double>& price, const Content& content, Result& result);
  bool may_put(std::size_t item, const std::vector<std::int64_t>& counts) const;
  void put_on(std::int32_t device, const std::vector<std::size_t>& items, formulation::NodeResidual& space,
              formulation::Configuration& configuration, std::vector<std::int64_t>& counts) const;
  std::int32_t idle_device(const formulation::NodeResidual& space) const;
  void put(std::size_t item, std::int64_t count, formulation::NodeResidual& space,
           formulation::Configuration& configuration, std::vector<std::int64_t>& counts) const;

  const formulation::ConfigurationInput& in_;
  const formulation::ResidualClass& residual_;
  std::vector<Item> items_;
  std::vector<std::size_t> resources_;        // counted resources that may bind
  std::vector<double> free_;                  // of those
  std::vector<double> request_;               // item x those
  std::vector<double> multiplier_;            // of those
  std::vector<double> stride_;                // of those: relative step of the next quick call
  std::vector<std::uint8_t> is_over_;         // of those: whether the last step used too much
  std::vector<std::int32_t> partial_levels_;  // of partly used devices, in grains, rounded up
  std::int32_t idle_ = 0, idle_level_ = 0;    // wholly free devices, and their level
  std::vector<double> table_;                 // best worth of one device, by level
  std::vector<std::size_t> by_size_;          // items that take shares
  std::vector<Copy> sizes_;                   // the pieces that the table is built from
  std::vector<Copy> copies_, plenty_;         // of these: pods one by one, and as many as one likes
  std::vector<std::uint8_t> taken_;           // by copy, by level: whether the best content takes it
  std::vector<std::int32_t> last_plenty_;     // by level: one that the best content takes; -1: none
  std::vector<WholeUsers> whole_users_;
  std::vector<double> division_;     // value of this many idle devices
  std::vector<double> stock_price_;  // by item: multipliers of "no more pods than there are"
  std::vector<Bundle> bundles_;      // of this call
  std::size_t scarce_ = 0;           // position in resources_ of the one with the largest multiplier x free capacity
  std::vector<std::size_t> by_bulk_, by_density_;  // items, in the orders in which they are put down
  Content last_;
  std::vector<double> used_;  // of resources_, by last_
};

}  // namespace muster::column_generation
