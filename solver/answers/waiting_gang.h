// A gang that a plan leaves waiting, with what it lacks: what answers about it start from.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/explain/reason_subject.h"
#include "model/explain/reasons_room.h"
#include "solver/answers/experiment.h"

namespace muster::answers {

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

}  // namespace muster::answers
