// The place of a waiting gang in its queue.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/explain/reason.h"
#include "model/explain/remaining_capacity.h"
#include "solver/answers/experiment.h"

namespace muster::answers {

// A gang that a plan leaves waiting, with what it lacks: what answers about it start from.
//
// Gangs of a higher rank come first.
inline std::pair<std::int32_t, std::int64_t> rank_of(const Gang& gang) { return {gang.priority, gang.times.seniority}; }

// A gang that waits, and the cluster as the plan leaves it.
class WaitingGang {
 public:
  // `run` outlives the object.
  WaitingGang(const Run& run, GangIndex gang);

  const Problem& problem() const { return run_.problem; }
  const Snapshot& snapshot() const { return *run_.snapshot; }
  const Run& run() const { return run_; }
  GangIndex index() const { return gang_; }
  const Gang& gang() const { return run_.problem.gangs[gang_]; }
  std::string name() const { return std::string(gang().name); }
  // Its entry in the snapshot; null: a pod that is a gang by itself.
  const SnapshotGang* entry() const;
  const explain::AfterPlan& end() const { return end_; }
  // The pods that it lacks.
  const explain::GangNeed& need() const { return need_; }
  // How many of these have no room as the plan leaves the cluster, by counts; all of them if it requires levels or if
  // they differ. At least 1.
  std::int64_t pods_without_room() const;
  // Its priority without what it has gained by waiting.
  std::int32_t priority_as_set() const;
  // Whether some pod that it lacks could use a node with these properties.
  bool some_pod_may_use(const SnapshotNode& node) const;

 private:
  const Run& run_;
  GangIndex gang_;
  explain::AfterPlan end_;
  explain::GangNeed need_;
  std::vector<PodSpecIndex> specs_;  // of the pods that it lacks, distinct
};

// Gangs wait if the plan leaves them below their minimum and nothing but room keeps them; one comes before another by
// its priority, then by its seniority.
struct Standing {
  std::int64_t waiting = 0;  // in the queue, this one included
  std::int64_t ahead = 0;    // of them, before this one
  std::int64_t level = 0;    // of them, neither before nor after this one; without it
  std::int64_t waiting_in_all = 0, ahead_in_all = 0, level_in_all = 0;
};

// Cost: O(gangs).
Standing standing_of(const WaitingGang& gang);

}  // namespace muster::answers
