#include "solver/column_generation/device_table.h"

#include <algorithm>

namespace muster::column_generation {

// Of each size the most profitable pods first. An item that is available often enough for a whole device counts as
// unlimited, which is cheaper; an item that is at least as large as such an item and worth no more is left out.
void DeviceTable::collect(const std::vector<double>& profit, const std::vector<double>& remaining) {
  sizes_.clear();
  for (const std::size_t i : node_.by_size)
    if (profit[i] > 0 && remaining[i] >= 1)
      sizes_.push_back({profit[i] / node_.items[i].devices, node_.items[i].size, i});
  std::sort(sizes_.begin(), sizes_.end(), [](const Copy& a, const Copy& b) {
    return a.size != b.size ? a.size < b.size : (a.profit != b.profit ? a.profit > b.profit : a.item < b.item);
  });
  copies_.clear();
  plenty_.clear();
  double dominating = 0;
  for (std::size_t i = 0; i < sizes_.size();) {
    const std::int32_t size = sizes_[i].size;
    auto residual = static_cast<std::int64_t>(node_.idle_level / size);  // copies of this size that one device can hold
    for (; i < sizes_.size() && sizes_[i].size == size; ++i) {
      if (residual <= 0 || sizes_[i].profit <= dominating) continue;
      if (remaining[sizes_[i].item] >= static_cast<double>(residual)) {
        plenty_.push_back(sizes_[i]);
        dominating = sizes_[i].profit;
        residual = 0;
        continue;
      }
      for (auto n = static_cast<std::int64_t>(remaining[sizes_[i].item]); n > 0 && residual > 0; --n, --residual)
        copies_.push_back(sizes_[i]);
    }
  }
}

void DeviceTable::fill(const std::vector<double>& profit, const std::vector<double>& remaining) {
  collect(profit, remaining);
  const std::size_t levels = static_cast<std::size_t>(node_.idle_level) + 1;
  table_.assign(levels, 0.0);
  taken_.assign(copies_.size() * levels, 0);
  for (std::size_t c = 0; c < copies_.size(); ++c) {
    const auto size = static_cast<std::size_t>(copies_[c].size);
    for (std::size_t level = levels - 1; level >= size; --level) {
      const double value = table_[level - size] + copies_[c].profit;
      if (value <= table_[level]) continue;
      table_[level] = value;
      taken_[c * levels + level] = 1;
    }
  }
  last_plenty_.assign(levels, -1);
  for (std::size_t level = 0; level < levels; ++level)
    for (std::size_t p = 0; p < plenty_.size() && static_cast<std::size_t>(plenty_[p].size) <= level; ++p) {
      const double value = table_[level - static_cast<std::size_t>(plenty_[p].size)] + plenty_[p].profit;
      if (value <= table_[level]) continue;
      table_[level] = value;
      last_plenty_[level] = static_cast<std::int32_t>(p);
    }
}

void DeviceTable::open(std::int32_t level, std::vector<double>& amount) const {
  const std::size_t levels = static_cast<std::size_t>(node_.idle_level) + 1;
  for (std::int32_t p; (p = last_plenty_[static_cast<std::size_t>(level)]) >= 0;) {
    const Copy& copy = plenty_[static_cast<std::size_t>(p)];
    amount[copy.item] += 1.0 / node_.items[copy.item].devices;
    level -= copy.size;
  }
  for (std::size_t c = copies_.size(); c-- > 0;) {
    if (taken_[c * levels + static_cast<std::size_t>(level)] == 0) continue;
    amount[copies_[c].item] += 1.0 / node_.items[copies_[c].item].devices;
    level -= copies_[c].size;
  }
}

}  // namespace muster::column_generation
