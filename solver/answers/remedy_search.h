// The searches of find_remedies, one for each kind of remedy, and what they have in common.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/explain/reason_subject.h"
#include "model/explain/reasons_room.h"
#include "solver/answers/experiment.h"
#include "solver/answers/remedy.h"
#include "solver/answers/smallest.h"

namespace muster::answers {

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

// The smallest count, and the smallest set, with which the next plan admits the gang: sketched first, for a guess, then
// tested. `changes`: of a count, of chosen positions.
std::optional<Remedy> least_count(RemedyKind kind, CountRange range, Admission& admission,
                                  const std::function<Changes(std::int64_t)>& changes);
using ChangesOfSet = std::function<Changes(const std::vector<std::size_t>&)>;
std::optional<Remedy> least_set(RemedyKind kind, const std::vector<std::int64_t>& weights, std::size_t guess,
                                Admission& admission, const ChangesOfSet& changes);

// Each returns what it finds, in any order. They say nothing of kinds that cannot help.
using Remedies = std::vector<Remedy>;
Remedies uncordon(const WaitingGang& gang, Admission& admission);
Remedies tolerate(const WaitingGang& gang, Admission& admission);
Remedies relax_levels(const WaitingGang& gang, Admission& admission);
Remedies lower_minimum(const WaitingGang& gang, Admission& admission);
Remedies raise_limits(const WaitingGang& gang, Admission& admission);
Remedies raise_quotas(const WaitingGang& gang, Admission& admission);
Remedies raise_priority(const WaitingGang& gang, Admission& admission);
Remedies stop_gangs(const WaitingGang& gang, Admission& admission, Experiment& experiment);
Remedies add_nodes(const WaitingGang& gang, Admission& admission);

}  // namespace muster::answers
