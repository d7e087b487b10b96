// The cluster while the pods of a task are dealt to places.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "solver/slots/pod_kinds.h"
#include "solver/slots/slot_task.h"

namespace muster::slots {

// Begins with all pods of SlotTask::kept at home. A pod of these is at home, moved, left for good, or off: it has no
// place yet. A guest is a pod of the task that is present, but not at home.
class DealtState {
 public:
  // Both outlive the object.
  DealtState(const SlotTask& task, const PodKinds& kinds);

  const SlotTask& task() const { return *task_; }
  const Problem& problem() const { return task_->problem; }
  const PodKinds& kinds() const { return *kinds_; }
  const ClusterState& state() const { return state_; }

  bool is_home(PodIndex pod) const { return !kinds_->kept_of(pod).is_none() && homes_[pod] != 0; }
  bool is_guest(PodIndex pod) const { return kinds_->is_known(pod) && !is_home(pod) && state_.is_present(pod); }
  bool is_left(PodIndex pod) const { return left_[pod] != 0; }
  // Pods of `kept` that remain and are not at home.
  std::int64_t away() const { return away_; }
  bool may_move(std::int64_t more) const { return !task_->most_moves || away_ + more <= *task_->most_moves; }
  // Work of moving it; 0 for one that is placed newly.
  Work cost(PodIndex pod) const;

  // Every rule of a single placement, and the part of the cluster that the task gives.
  bool fits(PodIndex pod, NodeIndex node) const;
  // Requires that it fits; the devices are those of choose_devices, or as given. They may be those at home.
  void put(PodIndex pod, NodeIndex node);
  void put(PodIndex pod, const Place& place);
  // Takes off a guest, or a pod that is at home.
  void take(PodIndex pod);
  // False: it does not fit there, and nothing has changed. Requires that it is off.
  bool put_home(PodIndex pod);
  struct Taken {
    PodIndex pod;
    Place place;
  };
  Taken take_note(PodIndex pod);
  // Puts pods back that were taken. Requires that they are off, and that nothing has taken their places.
  void restore(std::span<const Taken> taken);
  // As at first.
  void reset();

  void leave(PodIndex pod);           // for good; requires that it is off
  void stay_after_all(PodIndex pod);  // it is off again

 private:
  void begin();
  void mark_home(PodIndex pod);

  const SlotTask* task_;
  const PodKinds* kinds_;
  ClusterState state_;
  Indexed<PodIndex, std::uint8_t> homes_, left_;
  std::int64_t away_ = 0;
};

}  // namespace muster::slots
