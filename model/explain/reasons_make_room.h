// Why evictions did not help a pending gang: `makeRoom` of docs/semantics.md ("Reasons").
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/explain/reasons_need.h"
#include "model/explain/reasons_packing.h"
#include "model/explain/reasons_room.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster {

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
    RemainingRoom& room;  // what is free after the plan; used as working memory, and restored
    ClassCount counts;    // how many pods of a class fit in it
    bool proven = false;  // the work levels are
  };
  explicit RoomMaker(Context context);

  // The code. `fits_already`: no eviction is needed. Requires a need that is possible.
  std::string tell(GangIndex gang, const GangNeed& need, bool fits_already);
  // If that rule is DisruptionBudget: a sentence about the budget that holds most of the pods that only a budget keeps.
  std::string tell_budget(GangIndex gang) const;

 private:
  // Victims that every rule treats in the same way.
  struct VictimKind {
    QueueIndex queue;
    std::int32_t priority = 0;
    bool preempt_protected = false;
    std::uint32_t reclaim_protected = 0;  // bit i: by the minimum run time set at ancestor i (0: the queue itself)
    bool held = false;                    // by disruption budgets, see reasons_budgets.h
    friend auto operator<=>(const VictimKind&, const VictimKind&) = default;
  };
  struct KindOfVictims {
    VictimKind kind;
    std::vector<PodIndex> pods;
    QueueAmounts usage{};         // of all of them
    std::vector<Amount> amounts;  // by ResourceIndex
  };
  struct Rules {
    bool share = false, priority = false, protection = false, budgets = false, actions = false;
  };
  // What is free once certain victims are gone.
  struct Vacancy {
    std::vector<std::uint32_t> kinds;  // positions in victims_
    GangIndex spared;                  // its own pods stay; none: no gang is spared
    std::unordered_map<PodClassIndex, std::int64_t> counts;
  };
  void collect_victims();
  bool may_go(const VictimKind& victim, GangIndex gang, Rules rules) const;
  bool may_be_reclaimed(const VictimKind& victim, GangIndex gang, Rules rules) const;
  bool is_ground(QueueIndex victim_side, QueueIndex own_side) const;
  bool stays_within(GangIndex gang, QueueIndex up_to, const Indexed<QueueIndex, QueueAmounts>& bound) const;
  // Positions among the ancestors: of the victim's side, of the claimant's side, just below the common ancestor.
  std::pair<std::size_t, std::size_t> sides(QueueIndex victim, QueueIndex claimant) const;
  std::vector<std::uint32_t> kinds_that_may_go(GangIndex gang, Rules rules) const;
  Fits fits_without(GangIndex gang, const GangNeed& need, const std::vector<std::uint32_t>& kinds);
  Vacancy& vacancy(const std::vector<std::uint32_t>& kinds, GangIndex spared);
  template <class Visit>
  void for_each_victim(const Vacancy& vacancy, const Visit& visit) const;
  void take_victims(const Vacancy& vacancy, RemainingRoom& room) const;
  QueueAmounts spared_usage(GangIndex gang, std::uint32_t kind) const;
  bool queues_allow(GangIndex gang, const Vacancy& vacancy) const;
  std::int64_t count_in(Vacancy& vacancy, PodClassIndex pod_class);
  std::int64_t count_in_all(PodClassIndex pod_class);
  std::int64_t count_by_sums(const Vacancy& vacancy, PodClassIndex pod_class) const;
  bool own_pods_could_move(GangIndex gang, const GangNeed& need) const;
  // Neither possibility nor impossibility is known.
  const char* open_end() const { return proven_ ? "Undecided" : "OutOfTime"; }
  bool is_spent() const { return visits_ > kMostVisits; }
  Fits packs_in(GangIndex gang, const GangNeed& need, const Vacancy& vacancy);

  static constexpr std::int64_t kMostVisits = 500'000;
  static constexpr std::int64_t kSearchPods = 16, kSearchSteps = 20'000;  // as for the reason itself

  const Problem& problem_;
  const FairShares& shares_;
  const AfterPlan& end_;
  RemainingRoom& room_;
  ClassCount counts_;
  bool proven_;
  std::vector<KindOfVictims> victims_;
  std::size_t victim_count_ = 0;
  std::optional<RemainingRoom> without_victims_;  // all of them gone
  Indexed<QueueIndex, QueueAmounts> quota_;       // unlimited ones as the largest amount
  std::map<std::vector<std::uint32_t>, Vacancy> vacancies_;
  QueueAmounts demand_{};  // of the gang that is asked about
  std::int64_t visits_ = 0;
};

// The least that the need adds to its queue's usage: memory requests on the largest devices that they may use.
QueueAmounts least_usage(const Problem& problem, const GangNeed& need);

}  // namespace muster
