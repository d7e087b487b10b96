// Why a gang stays pending, by the list of docs/semantics.md ("Reasons"), for the cluster as the plan leaves it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/base/interning.h"
#include "model/explain/blockers.h"
#include "model/explain/fit_reasons.h"
#include "model/explain/reason.h"
#include "model/explain/reasons_make_room.h"
#include "model/explain/reasons_packing.h"
#include "model/explain/remaining_capacity.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::explain {

struct Verdict {
  Reason reason;
  MakeRoomCode make_room = MakeRoomCode::kNone;
  std::string message;
  std::vector<Blocker> blockers;
};

// Asked gang by gang. Gangs that are equal in what decides the answer are answered once; pods of one class are counted
// once on all nodes. Cost: O(nodes x pod classes left over), and for mixed gangs, topology and anti-affinity O(nodes x
// classes) for each kind of gang, up to a limit of nodes examined, beyond which the answer rests on sums.
class ReasonTeller {
 public:
  ReasonTeller(const Problem& problem, const FairShares& shares, const AfterPlan& end, bool proven);
  ReasonTeller(const ReasonTeller&) = delete;
  ReasonTeller& operator=(const ReasonTeller&) = delete;
  // For a gang with pods that are pending or gated. `left_over`: its minimum does not run; else the reason is for one
  // surplus pod.
  Verdict tell(GangIndex gang, bool left_over);
  // The same if time has run out, and for all calls after this one: nothing is packed or searched, and `makeRoom` is
  // not reported. Cost: O(nodes) for each pod class that was not asked about before.
  Verdict tell_in_a_hurry(GangIndex gang, bool left_over);
  // Pods of all classes of the gang have been counted on the nodes.
  bool has_counted(GangIndex gang) const;

 private:
  struct Reported {
    Verdict verdict;
    std::int64_t left = 0, of = 0;  // of its pods
    bool is_told_before(const Reported& other) const;
  };

  Verdict tell_subject(const ReasonSubject& subject);
  Verdict decide(const ReasonSubject& subject);
  Reason reason(const ReasonSubject& subject, std::string& sentence);
  Reported decide_choice(const ReasonSubject& subject);
  void tell_tally(const ReasonSubject& subject, const std::string& sentence, Reported& told);
  static void tell_missing_shares(Verdict& verdict);
  BlockerTally tally_of(const ReasonSubject& subject, std::int64_t* left);

  static constexpr std::int64_t kMostVisits = 3'000'000;

  const Problem& problem_;
  const AfterPlan& end_;
  RemainingCapacity remaining_;
  VisitBudget budget_{kMostVisits};
  PodCensus census_;
  FitReasons reasons_;
  RoomMaker room_maker_;
  std::unordered_map<std::string, Verdict> told_;  // by signature
  SequenceTable plain_;                            // signatures of plain gangs
  std::vector<Verdict> plain_told_;                // by their number
};

}  // namespace muster::explain
