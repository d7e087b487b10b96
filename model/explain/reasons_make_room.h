// Why evictions did not help a pending gang: `makeRoom` of docs/semantics.md ("Reasons").
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/explain/alike_victims.h"
#include "model/explain/reason.h"
#include "model/explain/reasons_need.h"
#include "model/explain/reasons_packing.h"
#include "model/explain/remaining_capacity.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::explain {

// Counts what would be free if all of certain victims were gone: first all that is preemptible, then what each rule
// leaves.
//
// Victims are running pods that the plan leaves where they are. Except for elastic surplus, a gang is evicted whole.
// Simplified: a queue over its share counts with all its pods, and moves are not tried. `NotEnough` is proven, by
// counts of each class or by a search; if neither decides, the need counts as fitting. Cost: O(victims) for each
// distinct set of victims and pod class, up to a limit of pods and nodes examined; beyond it, counts are upper bounds
// by sums.
class RoomMaker {
 public:
  using ClassCount = std::function<std::int64_t(PodClassIndex)>;
  struct Context {
    const Problem& problem;
    const FairShares& shares;
    const AfterPlan& end;
    RemainingCapacity& remaining;  // what is free after the plan; used as working memory, and restored
    ClassCount counts;             // how many pods of a class fit in it
    bool proven = false;           // the work levels are
  };
  explicit RoomMaker(Context context);

  // The code. `fits_already`: no eviction is needed. Requires a need that is possible.
  MakeRoomCode tell(GangIndex gang, const GangNeed& need, bool fits_already);
  // If that rule is FairShare: whether the gang's own queues would stay within their shares, so that what is missing is
  // a queue above its share. About the gang that tell() was asked about last.
  bool keeps_own_shares() const { return grounds_.stays_within_share(claim_, QueueIndex::none()); }
  // Whether evictions that the rules allow could make room if queues had no limits and quotas; or moves, if some pod
  // may be moved and enough is free in total. What is not known to be impossible counts as possible.
  bool could_start_without_bounds(GangIndex gang, const GangNeed& need);
  // If that rule is DisruptionBudget: a sentence about the budget that holds most of the pods that only a budget keeps.
  // About the gang that tell() was asked about last.
  std::string tell_budget() const;

 private:
  // What is free once certain victims are gone.
  struct Vacancy {
    std::vector<std::uint32_t> kinds;  // positions in victims_
    GangIndex spared;                  // its own pods stay; none: no gang is spared
    std::unordered_map<PodClassIndex, std::int64_t> counts;
  };
  std::vector<std::uint32_t> kinds_that_may_go(EvictionRuleSet rules) const;
  // Whether limits and quotas of queues count.
  enum class Bounds : std::uint8_t { kHeeded, kIgnored };
  Fits fits_without(const GangNeed& need, const std::vector<std::uint32_t>& kinds, Bounds bounds = Bounds::kHeeded);
  bool is_free_in_total(const GangNeed& need) const;
  Vacancy& vacancy(const std::vector<std::uint32_t>& kinds, GangIndex spared);
  template <class Visit>
  void for_each_victim(const Vacancy& vacancy, const Visit& visit) const;
  void take_victims(const Vacancy& vacancy, RemainingCapacity& remaining) const;
  QueueAmounts spared_usage(GangIndex gang, std::uint32_t kind) const;
  bool queues_allow(const GangNeed& need, const Vacancy& vacancy) const;
  bool other_limits_allow(const GangNeed& need, const Vacancy& vacancy) const;
  std::int64_t count_in(Vacancy& vacancy, PodClassIndex pod_class);
  std::int64_t count_in_all(PodClassIndex pod_class);
  std::int64_t count_by_sums(const Vacancy& vacancy, PodClassIndex pod_class) const;
  bool own_pods_could_move(GangIndex gang, const GangNeed& need) const;
  // Neither possibility nor impossibility is known.
  MakeRoomCode open_end() const { return proven_ ? MakeRoomCode::kUndecided : MakeRoomCode::kOutOfTime; }
  Fits packs_in(const GangNeed& need, const Vacancy& vacancy);

  static constexpr std::int64_t kMostVisits = 500'001;

  const Problem& problem_;
  const AfterPlan& end_;
  RemainingCapacity& remaining_;
  ClassCount counts_;
  bool proven_;
  std::vector<AlikeVictims> victims_;
  std::int64_t victim_count_ = 0;  // pods
  EvictionGrounds grounds_;
  VisitBudget budget_{kMostVisits};
  FitTrial trial_;
  std::optional<RemainingCapacity> without_victims_;  // all of them gone
  std::map<std::vector<std::uint32_t>, Vacancy> vacancies_;
  Claim claim_;  // of the gang that was asked about last
};

}  // namespace muster::explain
