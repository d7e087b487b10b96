#include "solver/slots/dealt_state.h"

#include "heuristics/state/groups.h"
#include "model/base/require.h"

namespace muster::slots {

DealtState::DealtState(const SlotTask& task, const PodKinds& kinds) : task_(&task), kinds_(&kinds), state_(task.base) {
  begin();
}

void DealtState::begin() {
  homes_.assign(problem().pods.size(), 0);
  left_.assign(problem().pods.size(), 0);
  away_ = 0;
  for (const KeptPods& kept : task_->kept)
    for (const PodIndex pod : kept.pods) {
      ++away_;
      put(pod, snapshot_place(problem(), pod));
    }
}

void DealtState::reset() {
  state_ = task_->base;
  begin();
}

Work DealtState::cost(PodIndex pod) const {
  const KeptIndex kept = kinds_->kept_of(pod);
  return kept.is_none() ? 0 : task_->kept[kept.value()].cost;
}

bool DealtState::fits(PodIndex pod, NodeIndex node) const {
  return kinds_->filter_of(pod).accepts(problem(), node) && can_place(state_, task_->bounds, pod, node);
}

void DealtState::put(PodIndex pod, NodeIndex node) {
  MUSTER_REQUIRE_SLOW(fits(pod, node));
  put(pod, Place{node, *choose_devices(room_of(state_, node), problem(), problem().class_of(pod), node)});
}

void DealtState::put(PodIndex pod, const Place& place) {
  state_.put(pod, place.node, place.devices);
  if (!kinds_->kept_of(pod).is_none() && muster::is_home(state_, pod)) mark_home(pod);
}

void DealtState::mark_home(PodIndex pod) {
  homes_[pod] = 1;
  --away_;
}

void DealtState::take(PodIndex pod) {
  if (is_home(pod)) ++away_;
  homes_[pod] = 0;
  state_.take(pod);
}

bool DealtState::put_home(PodIndex pod) {
  MUSTER_REQUIRE(!state_.is_present(pod));
  if (!put_back(state_, task_->bounds, pod)) return false;
  mark_home(pod);
  return true;
}

DealtState::Taken DealtState::take_note(PodIndex pod) {
  Taken taken{pod, state_.place_of(pod)};
  take(pod);
  return taken;
}

void DealtState::restore(std::span<const Taken> taken) {
  for (const Taken& one : taken) put(one.pod, one.place);
}

void DealtState::leave(PodIndex pod) {
  left_[pod] = 1;
  --away_;
}

void DealtState::stay_after_all(PodIndex pod) {
  left_[pod] = 0;
  ++away_;
}

}  // namespace muster::slots
