// Once room for claims is made: victims that turn out not to be in the way are reprieved, all victims are chosen anew
// together, and evictions that no gang has a right to are undone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/preemption/context.h"
#include "heuristics/preemption/nominator.h"
#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Once a claim is placed: victims that are not in the way come back, others move on. A gang's evicted pods come back
// together: enough for its minimum, or all, or none. Victims of earlier claims are tried again only if some node has
// more free than before. Cost: O(victims), and that of a placement for each that moves on.
void settle_victims(PreemptionContext& context);
// Then: gangs that gave way may find room elsewhere.
void place_again(PreemptionContext& context);
// Once nothing more is placed: each victim that fits where it was comes back, alone if need be, as long as all rules
// hold. Cost: O(victims) a round, and a check of the rules for each that comes back.
void bring_victims_back(PreemptionContext& context);

// Rule Not in vain, once nothing more is placed: makes every eviction hold by right. Returns whether the state has
// changed. Pods of gangs that may not evict a unit never count as a reason for its leaving. Where such pods took its
// room, they change places with pods of gangs that have the right; or the unit comes back, and they go elsewhere, if
// need be in place of gangs that lose less, or give way. A moved pod comes home if all others find room next to it.
// Gangs that gave way are placed again if they fit. Cost: O(evictions x pods on their nodes) if all hold by right, and
// for each that comes back O(nodes + placed pods) for each pod in its way and a check of the rules.
// Once asked to stop, evictions without a right may be left. `stop` may be empty.
bool settle_rights(PreemptionContext& context, const StopRequest& stop);

// Once all claims are settled: for each priority with evictions, all victims are chosen anew together, in at most this
// many rounds, as long as the levels improve. Requires that moves are allowed. Afterwards no exchange is under way.
// Cost: O(pods), and that of a claim for each group that changes, a round.
//
// Claims choose their victims one after another, each the cheapest for itself. A gang that has run for a short time and
// occupies many nodes is too expensive for any single claim, though all claims together could use its resources. This
// step evicts the gangs that have run for the shortest time, as much work as was evicted before, and the others come
// back: on their old nodes, on free nodes, or where moves alone make room.
void choose_victims_anew(PreemptionContext& context, NodeNominator& nominator, int most_rounds);

// Then: evicted gangs run on elsewhere, in place of others of their queue and priority that have run for a shorter
// time. The victims of a claim were the best at that time, on the node that was cleared; later placements and evictions
// leave other choices. Requires that moves are allowed. Afterwards no exchange is under way. Cost: that of a claim for
// each evicted gang, several times over.
void exchange_single_victims(PreemptionContext& context, NodeNominator& nominator);

// Which of the evicted or evictable groups leave: all together, by amounts alone.
//
// Running pods of one gang that leave, or come back, together.
struct VictimGroup {
  std::vector<PodIndex> pods;
  QueueIndex queue;
  std::size_t kind = 0;        // of the work, see WorkByKind
  Work work = 0, largest = 0;  // without weight, of all and of one pod
  std::int64_t loss = 0;       // of the level `evicted`, if they leave
  bool is_gone = false;
  bool is_reclaimed = false;  // or would be
  bool leaves = false;        // the choice

  bool costs_less_than(const VictimGroup& other) const;  // for so much work
};

inline constexpr std::size_t kGpuWork = 0;  // the kind of work with devices, of WorkByKind

struct QueueRoom {
  // Work with devices: how much of each leaf queue may leave before its share decreases, and how much it has beyond its
  // own share, without evictions.
  Indexed<QueueIndex, Work> spare, beyond_share;
  bool is_hard = false;  // no more than `spare` may leave, and in total not more than has left
};

// Chooses as much as has left, those first whose eviction costs least, and of no queue more than it has to spare unless
// there is no other way. If a queue is then below its share, one of the groups reclaimed from it is large enough that
// the queue would not be below with it, if such a group exists. Sorts the groups by cost. Cost: O(groups x log).
void choose_victims(std::vector<VictimGroup>& groups, const QueueRoom& room);

}  // namespace muster::preemption
