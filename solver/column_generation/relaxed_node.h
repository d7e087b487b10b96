// One node with its counted resources priced by multipliers a_r >= 0: the Lagrangian dual of them (Geoffrion 1974).
//
// What is left falls into devices, of which each is a knapsack over shares, and whole ones are divided by a small
// dynamic program. Every a gives a valid bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solver/column_generation/device_table.h"
#include "solver/column_generation/node_items.h"

namespace muster::column_generation {

class RelaxedNode {
 public:
  struct Content {
    double value = 0;                 // of the relaxed problem, without the multipliers' constant
    std::vector<double> amount;       // by item
    std::int32_t shared_devices = 0;  // idle devices that are shared, not given whole
    // Of each shared device, partly used ones first: the items on it, one entry a pod. Only after within_counts.
    std::vector<std::vector<std::size_t>> on_devices;
  };

  // `node` outlives the object. All multipliers are 0.
  explicit RelaxedNode(const NodeItems& node);

  // Value of the dual at the current multipliers; keeps the content and its use. Cost: O(levels x sizes).
  double dual(const std::vector<double>& price);
  const Content& last() const { return last_; }                                                // of the last dual()
  bool is_over(std::size_t resource) const { return used_[resource] > node_.free[resource]; }  // in its content
  // The last content with the stock of shares divided: device after device takes its best of what is left.
  Content within_counts(const std::vector<double>& price);
  // Sets the multiplier of one resource to where the dual is least: it is convex in each, with the slope free - used.
  void bisect(std::size_t resource, const std::vector<double>& price);

  std::vector<double>& multiplier() { return multiplier_; }    // by position in NodeItems::resources
  std::vector<double>& stock_price() { return stock_price_; }  // by item: multipliers of "no more pods than there are"

 private:
  // Items that take this many whole devices.
  struct WholeUsers {
    std::int32_t devices;
    std::vector<std::size_t> items;
    std::vector<std::size_t> pods;    // the best of them, one entry a pod
    std::vector<std::int32_t> taken;  // by idle devices that are left: how many of `pods`
  };

  Content relaxed(const std::vector<double>& price);
  std::vector<double> profits(const std::vector<double>& price) const;
  void divide_idle_devices(const std::vector<double>& profit, Content& content);
  void add_users(const std::vector<double>& profit, WholeUsers& users);

  const NodeItems& node_;
  DeviceTable table_;
  std::vector<double> multiplier_, stock_price_;
  std::vector<WholeUsers> whole_users_;
  std::vector<double> division_;  // value of this many idle devices
  Content last_;
  std::vector<double> used_;  // of NodeItems::resources, by last_
};

}  // namespace muster::column_generation
