// Room for a gang that does not fit: by taking back placements of gangs that come later in the order of the levels
// (swap), by moving running pods (consolidate), or by evicting them (preempt, reclaim).
//
// A claim is a gang's minimum, or one more pod of a gang that has it. For each of its pods that fits on no node, a node
// is nominated: the one on which the victims cost least. Then victims that turn out not to be in the way are reprieved,
// and others are moved to nodes where they fit. The result is kept only if every rule of evictions holds and the levels
// are better than before. Removing victims first and then reprieving those that still fit is the method of
// kube-scheduler; that victims are whole gangs or surplus pods, and that a claim is a gang, is that of KAI.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "heuristics/preemption/context.h"
#include "heuristics/preemption/nominator.h"
#include "heuristics/preemption/settling.h"
#include "heuristics/state/candidate.h"
#include "model/problem/problem.h"

namespace muster::preemption {

class PreemptionPlanner {
 public:
  explicit PreemptionPlanner(PreemptionInputs inputs) : context_(std::move(inputs)), nominator_(context_) {}

  // The evictions of the state as it is, the ranks of what is placed, and whether the rules hold.
  PreemptionContext& context() { return context_; }
  const PreemptionContext& context() const { return context_; }

  // Whether a claim of that rank, or of a later one that follows it, could be met at all: some pod may be evicted.
  bool may_claim(std::int32_t rank) const;
  // Makes room for the gang's minimum, or for one more pod, and places it. False: nothing has changed. `rank` is the
  // claim's place in the order of the levels: pods placed at a later rank (see PlacementRanks) may have to give way.
  // Cost: for each mode and pod, that of a scan of the nodes for victims.
  bool claim_minimum(GangIndex gang, std::int32_t rank);
  bool claim_pod(PodIndex pod, std::int32_t rank);

  // Takes over the decisions of another planner: the state is as these evictions leave it, with all placements.
  void adopt(const std::vector<PlannedEviction>& evictions);

  // Once nothing more is placed: chooses the victims that have run for the shortest time (on the first call only), then
  // returns each victim that fits where it was after all, or whose room only gangs took that may not evict it. Cost:
  // O(pods), and that of a claim for each victim that changes.
  void reprieve();
  // Then: lets evicted gangs run on elsewhere in place of others of their queue and priority that have run for a
  // shorter time, if no leading level loses by it. Cost: that of a claim for each evicted gang, several times over.
  void exchange_victims();

 private:
  // How room is made: by which action, and whether blocking pods may be relocated in place of other victims.
  struct Method {
    PreemptionMode mode = PreemptionMode::kSwap;
    bool displaces = false;
  };

  template <class Place>
  bool claim(GangIndex gang, std::int32_t rank, const Place& place);
  template <class Place>
  bool claim_by_evicting(const Place& place);
  template <class Place>
  bool attempt(Method method, const Place& place);
  template <class Place>
  std::optional<std::vector<Work>> try_once(Method method, const Place& place);
  std::vector<Method> methods_to_evict() const;
  bool loses_least() const;

  PreemptionContext context_;
  NodeNominator nominator_;
  bool has_chosen_anew_ = false;
};

}  // namespace muster::preemption
