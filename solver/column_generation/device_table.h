// What one device may hold best, for each amount that is free on it: a knapsack over shares (Gilmore and Gomory 1961).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solver/column_generation/node_items.h"

namespace muster::column_generation {

class DeviceTable {
 public:
  // `node` outlives the object. fill() comes first.
  explicit DeviceTable(const NodeItems& node) : node_(node) {}

  // For pods of this profit, no item more often than `remaining`. Cost: O(sizes x levels).
  void fill(const std::vector<double>& profit, const std::vector<double>& remaining);
  // The maximum value of shares on one device with that many grains of room.
  double value(std::int32_t level) const { return table_[static_cast<std::size_t>(level)]; }
  // Adds the content of such a device: of each item the part of its pods that is there.
  void open(std::int32_t level, std::vector<double>& amount) const;

 private:
  // One pod of an item: of one size the most profitable first, as many as there are.
  struct Copy {
    double profit;
    std::int32_t size;
    std::size_t item;
  };

  void collect(const std::vector<double>& profit, const std::vector<double>& remaining);

  const NodeItems& node_;
  std::vector<double> table_;              // by level
  std::vector<Copy> sizes_;                // the pieces that the table is built from
  std::vector<Copy> copies_, plenty_;      // of these: pods one by one, and as many as one likes
  std::vector<std::uint8_t> taken_;        // by copy, by level: whether the best content takes it
  std::vector<std::int32_t> last_plenty_;  // by level: one that the best content takes; -1: none
};

}  // namespace muster::column_generation
