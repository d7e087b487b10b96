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
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "heuristics/policies/online_value.h"
#include "model/base/require.h"
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

// Where the online placer puts a pod.
//
// Where one pod goes.
struct OnlinePlace {
  std::size_t node = 0;
  std::vector<std::int32_t> devices;  // positions on the node, ascending
};

// Assigns the pods of a batch, all known together, to nodes: a search over the placements of the batch alone.
//
// The objective is the one that the online placer increases pod by pod (docs/online.md): the values of all nodes, and
// what is placed. Two first plans, in order of arrival and the largest first; the better is improved by taking a few
// pods of the batch out and putting them back, one after the other, each where the objective rises most.
//
// `Nodes`, the cluster, knows the classes of pods by number:
//   pod_of(class): the OnlineClass.
//   best_place(class): the best place for one more now, if it fits anywhere.
//   change(class, place, 1 or -1): one comes or leaves.
//   worth(node), worth_of_nodes(), balance(): of one node, of all, and of how evenly types are used. Their sum is what
//     best_place increases most.
//   weight(): by which a pod that is placed now counts, as in the bids.
//   price_hosts(): recomputes the prices for pods of several devices; this changes values.
template <class Nodes>
class OnlineBatch {
 public:
  using Places = std::vector<std::optional<OnlinePlace>>;

  OnlineBatch(Nodes& nodes, std::vector<std::size_t> class_of_pod)
      : nodes_(nodes), classes_(std::move(class_of_pod)), places_(classes_.size()) {}

  // On return the nodes hold the pods. `seed`: the same one, the same places. Cost: four to ten times that of placing
  // one pod after the other.
  Places place(std::uint64_t seed) {
    random_.seed(seed);
    std::vector<std::size_t> order(classes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    put_all(order);
    const Places by_arrival = places_;
    const double worth = worth_of_all();
    take_all(order);
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t pod) { return work(pod); });
    put_all(order);
    if (worth_of_all() < worth) {
      take_all(order);
      restore(order, by_arrival);
    }
    for (std::size_t trial = 0; trial < kTuning.online.trials_per_pod * classes_.size(); ++trial) {
      nodes_.price_hosts();
      if (!try_others()) break;
    }
    for (const std::size_t pod : order) {
      if (!places_[pod]) put(pod);
    }
    serve_first_come();
    return places_;
  }

 private:
  double work(std::size_t pod) const { return nodes_.pod_of(classes_[pod]).work(); }
  double reward(std::size_t pod) const {
    const policies::OnlineClass& one = nodes_.pod_of(classes_[pod]);
    return nodes_.weight() * (one.devices == 0 ? kTuning.online.core_worth * one.cpu : one.work());
  }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }

  void change(std::size_t pod, std::int32_t sign) {
    const std::size_t node = places_[pod]->node;
    gained_ += sign * reward(pod) - nodes_.worth(node);
    nodes_.change(classes_[pod], *places_[pod], sign);
    gained_ += nodes_.worth(node);
  }
  void take(std::size_t pod) {
    change(pod, -1);
    places_[pod].reset();
  }
  void put(std::size_t pod) {
    places_[pod] = nodes_.best_place(classes_[pod]);
    if (places_[pod]) change(pod, 1);
  }

  void put_all(const std::vector<std::size_t>& pods) {
    for (const std::size_t pod : pods) {
      nodes_.price_hosts();
      put(pod);
    }
  }
  void take_all(const std::vector<std::size_t>& pods) {
    for (const std::size_t pod : pods) {
      if (places_[pod]) take(pod);
    }
  }
  // Requires that none of them is placed.
  void restore(const std::vector<std::size_t>& pods, const Places& places) {
    for (const std::size_t pod : pods) {
      MUSTER_REQUIRE(!places_[pod]);
      places_[pod] = places[pod];
      if (places_[pod]) change(pod, 1);
    }
  }

  double worth_of_all() {
    nodes_.price_hosts();
    double sum = nodes_.worth_of_nodes() + nodes_.balance();
    for (std::size_t pod = 0; pod < places_.size(); ++pod) sum += places_[pod] ? reward(pod) : 0;
    return sum;
  }

  // Often one that was dropped; those on the node of one that was placed; then any. None: nothing is placed.
  std::vector<std::size_t> taken_out() {
    std::vector<std::size_t> result, placed, dropped;
    for (std::size_t pod = 0; pod < places_.size(); ++pod) (places_[pod] ? placed : dropped).push_back(pod);
    if (placed.empty()) return result;
    std::size_t wanted = 2;
    while (below(2) == 0) ++wanted;
    if (!dropped.empty() && below(2) == 0) result.push_back(dropped[below(dropped.size())]);
    const std::size_t node = places_[placed[below(placed.size())]]->node;
    for (const std::size_t pod : placed) {
      if (places_[pod]->node == node && result.size() < wanted) result.push_back(pod);
    }
    for (std::size_t draws = result.size(); draws < wanted; ++draws) {
      const std::size_t pod = below(places_.size());
      if (std::ranges::find(result, pod) == result.end()) result.push_back(pod);
    }
    return result;
  }

  // False: there is nothing to try.
  bool try_others() {
    std::vector<std::size_t> pods = taken_out();
    if (pods.empty()) return false;
    const Places before = places_;
    const double even = nodes_.balance();
    gained_ = 0;
    take_all(pods);
    if (below(2) == 0) {
      for (std::size_t i = pods.size(); i > 1; --i) std::swap(pods[i - 1], pods[below(i)]);
    } else {
      std::ranges::stable_sort(pods, std::greater{}, [&](std::size_t pod) { return work(pod); });
    }
    for (const std::size_t pod : pods) put(pod);
    if (gained_ + nodes_.balance() - even >= kTuning.online.least_gain) return true;
    take_all(pods);
    restore(pods, before);
    return true;
  }

  // Of equal pods, those that arrived first are placed.
  void serve_first_come() {
    std::map<std::size_t, std::vector<std::size_t>> pods_of;  // by class
    for (std::size_t pod = 0; pod < classes_.size(); ++pod) pods_of[classes_[pod]].push_back(pod);
    for (const auto& [one, pods] : pods_of) {
      std::size_t served = 0;
      for (const std::size_t pod : pods) {
        if (places_[pod]) std::swap(places_[pods[served++]], places_[pod]);
      }
    }
  }

  Nodes& nodes_;
  std::vector<std::size_t> classes_;  // by pod
  Places places_;
  double gained_ = 0;  // by all changes since it was last set to 0, without balance
  std::mt19937_64 random_;
};

}  // namespace muster::online
