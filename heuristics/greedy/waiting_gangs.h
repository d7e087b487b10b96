// What is known of gangs before any of them is placed, so that all starts of greedy need not scan their pods again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/greedy/share_room.h"
#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::greedy {

struct WaitingGang {
  GangIndex gang;
  QueueIndex queue;
  std::int32_t priority = 0;
  std::int32_t shape = -1;  // equal for gangs that fit or fail together; -1: no other gang does
  WorkPair minimum{};       // the least work that satisfies it
  // Of one leaf group of equal pods that run or wait: the group, how many pods, and their class. Such a gang is
  // examined without its pods.
  GroupIndex leaf;
  std::int32_t pods = 0, needed = 0;
  PodClassIndex pod_class;
  std::int64_t seniority = 0;
  bool waits = false;  // some pod of it may be placed: it is pending and not present
};

class WaitingGangs {
 public:
  // Those of `gangs` that have a queue and enough pods in the state. Cost: O(pods).
  WaitingGangs(const ClusterState& state, std::span<const GangIndex> gangs);
  // The same of all gangs with a pending pod, which are added to `listed`: ascending, whether they have a queue or not.
  static WaitingGangs of_pending(const ClusterState& state, std::vector<GangIndex>& listed);

  const std::vector<WaitingGang>& all() const { return all_; }  // in the order given
  // Positions of all of them by priority, the highest first; within one priority, those that have waited longest first.
  const std::vector<std::uint32_t>& by_age() const { return by_age_; }
  std::size_t shapes() const { return shapes_; }  // each shape is below

 private:
  WaitingGangs() = default;
  void sort();

  std::vector<WaitingGang> all_;
  std::vector<std::uint32_t> by_age_;
  std::size_t shapes_ = 0;
};

}  // namespace muster::greedy
