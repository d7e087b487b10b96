// The gangs that wait in the snapshot, and the work present by priority and queue: counted once for all starts of
// greedy.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "heuristics/greedy/share_room.h"
#include "heuristics/greedy/waiting_gangs.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::greedy {

// The work of the gang's pods that are present; none if its minimum is not met. Cost: O(pods of the gang).
WorkPair present_work(const ClusterState& state, GangIndex gang);

// Sums by the rank of the effective priority (highest first) and the leaf queue.
using WorkByRank = std::map<std::pair<std::size_t, QueueIndex>, WorkPair>;

class InitialWork {
 public:
  // `before`: the snapshot as it is. All must outlive it. Cost: O(pods).
  InitialWork(const Problem& problem, const FairShares& shares, const ClusterState& before);

  const ClusterState& before() const { return before_; }
  const std::vector<GangIndex>& waiting() const { return waiting_; }  // gangs with a pending pod, ascending
  const WaitingGangs& waiting_gangs() const { return waiting_gangs_; }
  const WorkByRank& present() const { return present_; }
  // Whether all that is present lies within the shares, in whatever order its units are counted.
  bool is_within_shares() const { return is_within_shares_; }
  // Whether the order of the gangs, and when room is made, cannot make a difference: at most one gang waits, of equal
  // pods that all have to run, and including it everything still lies within the shares. Then it is tried in the first
  // pass that it belongs to, and claims room there if it does not fit; nothing has changed in between, and once it runs
  // no gang waits.
  bool is_one_order_enough() const { return is_one_order_enough_; }

 private:
  bool is_one_unit(GangIndex gang) const;

  const Problem& problem_;
  const ClusterState& before_;
  std::vector<GangIndex> waiting_;
  WaitingGangs waiting_gangs_;  // of them
  WorkByRank present_;
  bool is_within_shares_ = false, is_one_order_enough_ = false;
};

}  // namespace muster::greedy
