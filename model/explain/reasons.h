// Why a gang stays pending, by the list of docs/semantics.md ("Reasons"), for the cluster as the plan leaves it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/base/interning.h"
#include "model/explain/blocker.h"
#include "model/explain/blockers.h"
#include "model/explain/reasons_make_room.h"
#include "model/explain/reasons_need.h"
#include "model/explain/reasons_packing.h"
#include "model/explain/reasons_room.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster {

struct Verdict {
  std::string reason, make_room, message;
  std::vector<Blocker> blockers;
};

// The total supply of the nodes that some pod class may use.
struct SupplySum {
  std::vector<Amount> amounts;  // by ResourceIndex
  MicroGpu gpu = 0;             // parts of devices, each rounded up
  std::int64_t memory_mib = 0;  // over devices whose memory is known
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
  struct Subject {
    GangIndex gang;
    bool left_over = true;
    GangNeed need;                 // what is still missing
    std::vector<GangNeed> others;  // what would do as well
    std::vector<GangNeed> wholes;  // the whole minimum, as if nothing ran: any of these
    bool has_topology = false, has_anti_affinity = false, has_present = false;
    bool is_simple() const { return need.items.size() == 1 && !has_topology && !has_anti_affinity; }
  };
  struct Told {
    Verdict verdict;
    std::int64_t left = 0, of = 0;  // of its pods
    bool is_told_before(const Told& other) const;
  };
  struct ClassCensus {
    std::int64_t total = 0;             // pods that fit on all nodes together
    BlockerTally full;                  // once they are there
    std::optional<BlockerTally> fresh;  // before
  };

  Subject subject_of(GangIndex gang, bool left_over) const;
  std::vector<GangNeed> single_needs(const Gang& gang, const PodPredicate& waits) const;
  std::string signature(const Subject& subject) const;
  Verdict decide(const Subject& subject);
  Told decide_choice(const Subject& subject);
  std::string reason(const Subject& subject, std::string* sentence);
  std::string insufficient(const Subject& subject);
  std::string short_of_min_resources(const Subject& subject) const;
  std::string packing_reason(const Subject& subject, std::string* sentence);
  std::string company_reason(const Subject& subject, std::string open);
  bool never_fits(const Subject& subject, bool with_filters);
  bool never_fits(GangIndex gang, const GangNeed& whole, bool with_filters);
  Fits placeable(const Subject& subject);
  void tell_tally(const Subject& subject, const std::string& sentence, Told& told);
  const ClassCensus& census(PodClassIndex pod_class);
  const BlockerTally& fresh_tally(PodClassIndex pod_class);
  const NodeGroups& groups_for(const PodClass& pod_class);
  // A key that distinguishes gangs that consist of one leaf group of equal, waiting pods; none for other gangs.
  std::optional<std::array<std::uint64_t, 8>> plain_signature(GangIndex gang) const;
  Verdict tell_subject(const Subject& subject);
  std::int64_t count_when_empty(PodClassIndex pod_class, bool with_filters);
  SupplySum supply(const std::vector<PodClassIndex>& classes, bool when_empty, bool with_filters) const;
  const SupplySum& class_supply(PodClassIndex pod_class);
  bool may_pack() const { return !is_hurried_ && visits_ < kMostVisits; }

  static constexpr std::int64_t kMostVisits = 3'000'000;
  static constexpr std::int64_t kSearchPods = 16, kSearchSteps = 20'000;

  const Problem& problem_;
  const AfterPlan& end_;
  bool proven_;
  RemainingRoom room_, empty_;
  std::vector<SupplySum> free_by_class_, capacity_by_class_;  // by NodeClassIndex
  std::unordered_map<PodClassIndex, ClassCensus> census_;
  std::unordered_map<PodClassIndex, SupplySum> supply_;
  std::unordered_map<std::uint64_t, std::int64_t> empty_counts_;
  std::unordered_map<std::string, Verdict> told_;
  SequenceTable plain_;              // signatures of plain gangs
  std::vector<Verdict> plain_told_;  // by their number
  NodeGroups alike_, single_;        // made when first asked for
  std::int64_t visits_ = 0;
  bool is_hurried_ = false;
  RoomMaker room_maker_;
};

}  // namespace muster
