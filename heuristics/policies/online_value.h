// The value of the free part of one node for the pods that are still to come: the value function of online placement.
//
// The input is a bid for each class of pods: the worth of one more of it, in GPUs. The value of a node state is the
// fluid (Lagrangian) value of what is left in this one node: the minimum, over a grid of prices of cpu and memory, of
// the price of its free cpu and memory plus the best cutting of its devices at bids net of those prices. Method: prices
// as in Gilmore and Gomory (1961), bid prices as in network revenue management (Talluri and van Ryzin 1998).
// docs/online.md has the full description.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/base/tuning.h"

namespace muster::policies {

// Shares of a device are counted in hundredths.
inline constexpr std::int32_t kDeviceLevels = 100;
inline constexpr std::size_t kMostOnlineTypes = 64;

// Nodes of one capacity and model. Cpu in cores, memory in GiB.
struct OnlineType {
  double cpu = 0, memory = 0;
  std::int32_t devices = 0;
};

// Pods that ask for the same. `accepts`: bit t for type t.
struct OnlineClass {
  double cpu = 0, memory = 0;
  std::int32_t devices = 0, level = 0;  // hundredths of each; 100: whole devices
  std::uint64_t accepts = 0;
  double work() const { return devices * (level / static_cast<double>(kDeviceLevels)); }
  bool accepts_type(std::size_t type) const { return (accepts >> type & 1) != 0; }
  friend bool operator==(const OnlineClass&, const OnlineClass&) = default;
};

// The free part of a node. `levels`: free hundredths of each device, ascending.
inline constexpr std::size_t kMostOnlineDevices = 16;
struct OnlineCapacity {
  std::size_t type = 0;
  double cpu = 0, memory = 0;
  std::span<const std::uint8_t> levels;
};

// What follows from each point of a grid of prices.
inline constexpr std::size_t kPricePoints = kTuning.online.cpu_prices * kTuning.online.memory_prices;
using PriceRow = std::array<float, kPricePoints>;

// Rows are changed as copies: then the compiler knows that they do not overlap, and processes several points together.
inline PriceRow sum_of(PriceRow row, const PriceRow& more) {
  for (std::size_t g = 0; g < kPricePoints; ++g) row[g] += more[g];
  return row;
}
inline PriceRow difference_of(PriceRow row, const PriceRow& less) {
  for (std::size_t g = 0; g < kPricePoints; ++g) row[g] -= less[g];
  return row;
}
inline float least_of(const PriceRow& row) {
  constexpr std::size_t kSide = 8;
  static_assert(kPricePoints % kSide == 0);
  std::array<float, kSide> least{};
  for (std::size_t i = 0; i < kSide; ++i) least[i] = row[i];
  for (std::size_t g = kSide; g < kPricePoints; g += kSide) {
    for (std::size_t i = 0; i < kSide; ++i) least[i] = row[g + i] < least[i] ? row[g + i] : least[i];
  }
  return std::ranges::min(least);
}

class OnlineValue {
 public:
  using Row = PriceRow;

  // bids[j], counts[j]: of classes[j]; counts at any scale, they decide which shares of a node are distinguished.
  OnlineValue(const std::vector<OnlineType>& types, const std::vector<OnlineClass>& classes,
              const std::vector<double>& bids, const std::vector<double>& counts);

  // How much of a node is left, in steps that matter to the classes: the same classes fit in all states of one bucket.
  std::size_t bucket(std::size_t type, double cpu, double memory) const;

  // At each grid point: the best cutting of one device with a given free part, and of a given number of wholly free
  // devices of one node (`whole`, which pods of several devices may use, too).
  struct Table {
    std::array<Row, kDeviceLevels + 1> cut;
    std::vector<Row> whole;  // by number of devices
  };
  // Built on first use; pairs (type, bucket) that the same classes fit share one. Not thread-safe. Cost when built:
  // about 30 us.
  const Table& table(std::size_t type, std::size_t bucket);

  struct Valued {
    float value = 0;
    std::size_t point = 0;  // of the grid, at the minimum
  };
  Valued value(const OnlineCapacity& room);

  // Of a core and of a GiB, in GPUs.
  float cpu_price(std::size_t point) const { return cpu_prices_[point]; }
  float memory_price(std::size_t point) const { return memory_prices_[point]; }
  // All terms of the value at each grid point.
  Row terms(const OnlineCapacity& room, const Table& table) const;

 private:
  using Fitting = std::vector<bool>;                   // by position in classes_
  void set_prices(const std::vector<double>& counts);  // of classes_
  void raise_to_net(const OnlineClass& pod, double bid, Row& best) const;
  Fitting fitting(std::size_t type, std::size_t bucket) const;
  Table built(const Fitting& fits) const;

  Row cpu_prices_{}, memory_prices_{};  // by point of the grid
  std::vector<OnlineType> types_;
  std::vector<OnlineClass> classes_;                 // those that are worth something, with devices
  std::vector<double> bids_;                         // of classes_
  std::size_t most_devices_ = 0;                     // of a type
  std::vector<std::vector<double>> thresholds_;      // by type, ascending
  std::vector<std::vector<const Table*>> table_of_;  // by type and bucket; null: not asked for yet
  std::unordered_map<Fitting, Table> tables_;
};

}  // namespace muster::policies
