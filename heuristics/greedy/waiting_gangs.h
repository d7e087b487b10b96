// What is known of gangs before any of them is placed, so that all starts of greedy need not scan their pods again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::greedy {

// The room left within shares (or quotas) while a plan is built, as levels `share` and `quota` count it.
using WorkPair = std::array<Work, 2>;  // work of pods with GPUs, and of pods without; no gang weight

// Work of one pod, on its side of the pair.
WorkPair work_pair(const PodClass& pod_class);

class ShareSlack {
 public:
  // `caps`: F(q) or Q(q) by queue.
  ShareSlack(const Problem& problem, const Indexed<QueueIndex, WorkPair>& caps);

  // Whether the unit lies within the leaf's cap as a whole, and raises what every queue above it counts.
  bool fits(QueueIndex leaf, const WorkPair& unit) const;
  // Whether some of the unit lies within the caps of the leaf and of every queue above it.
  bool gains(QueueIndex leaf, const WorkPair& unit) const;
  void clear() { used_.assign(used_.size(), WorkPair{}); }
  void add(QueueIndex leaf, const WorkPair& unit);
  // Adds the sum of several units if it lies within the caps of the leaf and of every queue above it: then each of them
  // fits, in any order. False: nothing has changed.
  bool add_whole(QueueIndex leaf, const WorkPair& sum);
  // How full the leaf is: used / cap of the fuller side; for the order among queues only.
  double fullness(QueueIndex leaf) const;

 private:
  const Problem& problem_;
  const Indexed<QueueIndex, WorkPair>& caps_;
  Indexed<QueueIndex, WorkPair> used_;
};

struct WaitingGang {
  GangIndex gang;
  QueueIndex queue;
  std::uint32_t rank = 0;   // of its priority, see Gang
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

// The gangs that wait in the snapshot, and the work present by priority and queue: counted once for all starts of
// greedy.
//
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

// The order in which one start of greedy places the waiting gangs, and the nodes that it prefers.
//
// Among gangs of one priority.
enum class GangOrder : std::uint8_t {
  kQueueByQueue,   // the leaf queue that is furthest below its share next; within a queue more work first, then older
  kBigFirst,       // largest pods first: what is hardest to fit
  kCpuFirst,       // most cpu per GPU first
  kOldestFirst,    // chosen by age within the sum of the free devices, largest pods first; then the others
  kOldestFilling,  // the same if those chosen fill the devices to the last; else kBigFirst
  kInTurn          // by seniority, those first that fill the quotas
};

// When room is made for what finds none.
enum class ClaimTime : std::uint8_t {
  kAtEnd,  // once everything has been tried: there is a complete plan at any interruption
  kAtOnce  // once all of the same pass and priority has been tried: better if there is time for all of it
};

struct PlacingOrder {
  GangOrder gangs = GangOrder::kQueueByQueue;
  placement::PodOrder pods = placement::PodOrder::kBigFirst;
  placement::NodeRule nodes = placement::NodeRule::kBestFit;
  ClaimTime claims = ClaimTime::kAtEnd;
};

}  // namespace muster::greedy
