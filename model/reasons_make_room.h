// Why evictions did not help a gang that is left over: `makeRoom` of docs/semantics.md ("Reasons").
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/fair_share.h"
#include "model/problem.h"
#include "model/reasons_need.h"
#include "model/reasons_room.h"

namespace muster {

// Counts what would be free if all of certain victims were gone: first all that is preemptible, then what each rule
// leaves.
//
// Victims are running pods that the plan leaves where they are. Elastic surplus aside, a gang goes whole. Simplified: a
// queue over its share counts with all its pods, moves are not tried, and of mixed gangs a failed packing counts as not
// fitting. Cost: O(nodes + victims) for each distinct set of victims, at most kMostRooms of them; beyond, the answer is
// empty.
class RoomMaker {
 public:
  RoomMaker(const Problem& problem, const FairShares& shares, const AfterPlan& end, bool proven);

  // The code. `fits_already`: nothing needs to be evicted for it. Requires a need that is possible.
  std::string tell(GangIndex gang, const GangNeed& need, bool fits_already);

 private:
  // Victims that every rule treats alike.
  struct VictimKind {
    QueueIndex queue;
    std::int32_t priority = 0;
    bool preempt_protected = false;
    std::uint32_t reclaim_protected = 0;  // bit i: by the minimum run time set at ancestor i (0: the queue itself)
    friend auto operator<=>(const VictimKind&, const VictimKind&) = default;
  };
  struct Rules {
    bool share = false, priority = false, protection = false, actions = false;
  };
  struct Vacated {
    RemainingRoom room;
    std::unordered_map<QueueIndex, QueueAmounts> freed_usage;
    std::unordered_map<PodClassIndex, std::int64_t> counts;
  };
  void collect_victims();
  bool may_go(const VictimKind& victim, GangIndex gang, Rules rules) const;
  bool may_be_reclaimed(const VictimKind& victim, GangIndex gang, Rules rules) const;
  bool is_ground(QueueIndex victim_side, QueueIndex own_side) const;
  bool stays_within(GangIndex gang, QueueIndex up_to, const Indexed<QueueIndex, QueueAmounts>& bound) const;
  // Positions among the ancestors: of the victim's side, of the claimant's side, just below the common ancestor.
  std::pair<std::size_t, std::size_t> sides(QueueIndex victim, QueueIndex claimant) const;
  Fits fits_without(GangIndex gang, const GangNeed& need, Rules rules);
  Vacated* vacate(const std::vector<std::uint32_t>& kinds, GangIndex spared);
  bool queues_allow(GangIndex gang, const Vacated& vacated) const;
  bool fits_in(GangIndex gang, const GangNeed& need, Vacated& vacated);

  static constexpr std::size_t kMostRooms = 32;
  static constexpr std::int64_t kMostVisits = 2'000'000;  // of nodes, by packing

  const Problem& problem_;
  const FairShares& shares_;
  const AfterPlan& end_;
  bool proven_;
  std::map<VictimKind, std::vector<PodIndex>> victims_;
  Indexed<QueueIndex, QueueAmounts> quota_;  // unlimited ones as the largest amount
  std::map<std::vector<std::uint32_t>, std::unique_ptr<Vacated>>
      rooms_;              // by the kinds that are gone, and who is spared
  QueueAmounts demand_{};  // of the gang that is asked about
  std::int64_t visits_ = 0;
};

// The least that the need adds to its queue's usage: memory requests on the largest devices that they may use.
QueueAmounts least_usage(const Problem& problem, const GangNeed& need);

}  // namespace muster
