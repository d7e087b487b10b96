// The plan that the search changes, and what distinguishes states of it that are equal in all levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/base/require.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::local_search {

// A plan that is being changed: the cluster with its evictions and placements carried out.
//
// Placements change, and which running pods are moved; what is evicted for good does not.
struct PlanState {
  // `plan`: one that obeys the rules. `before`: the snapshot as it is. Cost: O(queues + pods of the plan).
  PlanState(const Plan& plan, ClusterState before);

  std::vector<PlannedEviction> evictions;
  QueueBounds bounds;
  ClusterState state;
};

// Measures of the free part of a node, that distinguish states that are equal in the levels.
//
// Thousandths of the node's devices that are free.
std::int64_t idle_thousandths(const Problem& problem, NodeIndex node, std::span<const DeviceUnits> free);

// Idle thousandths that the expected workload can use, as many copies of each class as the other resources allow: the
// last level asks whether one pod fits, this measure asks how many. By the weights of the classes. Cost: O(expected
// classes x (devices + resources)).
double usable_thousandths(const Problem& problem, NodeIndex node, const Room& room);

// What a search for further pods raises. Of a node with devices that some expected class asks for: what
// usable_thousandths says. Of others: the sum of squares of the free parts of the resources, as that raises them where
// much is free already (as best fit does). Cost: as usable_thousandths.
double room_for_more(const Problem& problem, NodeIndex node, const Room& room);

using RoomMeasure = double(const Problem& problem, NodeIndex node, const Room& room);

// Random numbers that are the same with every standard library, which those of the standard distributions are not.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : random_(seed) {}

  std::uint64_t next() { return random_(); }
  // Requires a count above 0.
  std::size_t below(std::size_t count) {
    MUSTER_REQUIRE_SLOW(count > 0);
    return static_cast<std::size_t>(random_() % count);
  }
  bool coin() { return below(2) == 0; }
  double unit() { return static_cast<double>(random_() >> 11) / 0x1p53; }  // from 0, below 1

  template <class Item>
  void shuffle(std::vector<Item>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace muster::local_search
