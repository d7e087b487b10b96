// Bids of pod classes from a linear program over the free capacity and the expected arrivals.
//
// Future demand is cut into segments of arrival with falling weights, so that early arrivals are served first, as in
// placement pod by pod; its duals are the worth of one more pod of each class. Cutting patterns of devices are priced
// by a knapsack over all levels together (Gilmore and Gomory 1961) and kept from one solve to the next. docs/online.md
// has the program row by row.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/policies/online_value.h"
#include "model/base/tuning.h"

namespace muster::online {

// The total that one type of nodes has free.
struct OnlineSupply {
  double cpu = 0, memory = 0;
  std::array<std::int32_t, policies::kDeviceLevels + 1> devices{};  // by free level
};

struct OnlineForecast {
  std::vector<policies::OnlineClass> classes;
  std::vector<double> counts;        // seen so far
  std::vector<OnlineSupply> supply;  // by type
  double arrived = 0;                // of the cluster's devices, 1: as much as there is
  double devices = 0;                // of the cluster
};

// What is expected still to come once this much has arrived, both in parts of the cluster's devices.
inline double coming_demand(double arrived) { return std::max(1 - arrived, 0.0) + kTuning.online.segment; }

// By which a pod counts that comes once this much has arrived: early ones are served first.
inline double weight_of(double arrived) { return std::exp(-kTuning.online.slope * (arrived - 1)); }

// How one device is cut: level, and how often.
using OnlinePattern = std::vector<std::pair<std::int32_t, std::int32_t>>;

// Keeps patterns between solves; one for each thread.
class OnlineBidder {
 public:
  explicit OnlineBidder(std::vector<policies::OnlineType> types);

  // A bid for each class, in GPUs, >= 0. The same answer for the same sequence of calls. Cost: some milliseconds.
  std::vector<double> bids(const OnlineForecast& forecast);

 private:
  std::vector<policies::OnlineType> types_;
  std::vector<std::array<std::vector<OnlinePattern>, policies::kDeviceLevels + 1>> patterns_;  // by type and level
};

}  // namespace muster::online
