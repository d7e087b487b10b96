// Tie-breaking between placements that lose the same value, which also preserves capacity for pods of several devices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/policies/online_value.h"

namespace muster::policies {

// Usable devices: the part of a node's free devices that a pod seen so far could use, on average, limited by how many
// copies its free cpu allows. After FGD (Weng et al. 2023), which asks whether one copy fits.
class OnlineUsable {
 public:
  OnlineUsable() = default;
  OnlineUsable(const std::vector<OnlineClass>& classes, const std::vector<double>& counts, std::size_t types);
  // In devices. Cost: O(devices x shapes) if there is cpu for all copies, else O(shapes log classes) more.
  double of(const OnlineCapacity& room) const;

 private:
  // This many shapes are counted together.
  static constexpr std::size_t kLane = 8;
  using Lane = std::array<std::int16_t, kLane>;

  struct Shape {
    std::int32_t devices = 0, level = 0;
    double most_cpu = 0, all = 0;  // of all classes: the most that one asks for, and their share of all pods
    std::vector<double> cpu;       // of the classes, ascending
    // Running sums over them, from 0: their share of all pods, and that by the cpu that one asks for.
    std::vector<double> share, share_by_cpu;
  };
  struct Shapes {
    std::vector<Shape> shapes;
    // The yield of a device of a free level: pieces, and hundredths of it that are usable. By level, then shape, in
    // whole lanes.
    std::size_t lanes = 0;
    std::vector<Lane> pieces, usable;
  };
  static void tabulate(Shapes& of);
  static double served(const Shape& shape, std::int32_t copies, double cpu);

  std::vector<Shapes> of_type_;
};

// Kinds of pods that need several devices of one node, and the cost of using the room of one more of them: the
// probability that it will be missed (as in the newsvendor problem), Poisson demand against nodes that can host one.
class OnlineHosts {
 public:
  static constexpr std::size_t kMostKinds = 32;
  using Kinds = std::uint32_t;  // bit i: kind i

  OnlineHosts() = default;
  OnlineHosts(const std::vector<OnlineType>& types, const std::vector<OnlineClass>& classes,
              const std::vector<double>& counts);

  std::size_t size() const { return kinds_.size(); }
  Kinds hosted(std::size_t type, double cpu, double memory, std::int32_t whole_devices) const;
  // `hosts[i]`: nodes that can take one of kind i now; `coming`: devices' worth of pods that are still to come.
  void price(const std::vector<std::int32_t>& hosts, double coming);
  // What it costs to lose one host of each of these kinds, in devices.
  float premium(Kinds lost) const {
    float sum = 0;
    for (std::size_t i = 0; lost != 0; ++i, lost >>= 1) sum += (lost & 1) != 0 ? premiums_[i] : 0;
    return sum;
  }

 private:
  struct Kind {
    std::int32_t devices = 0;
    std::uint64_t types = 0;  // that can host it
    double cpu = 0, memory = 0;
    double per_device = 0;  // pods for each device's worth of all pods
  };
  std::vector<Kind> kinds_;
  std::vector<float> premiums_;
};

}  // namespace muster::policies
