#include "solver/slots/dealing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "model/base/tuning.h"

namespace muster::slots {
namespace {

std::size_t pods_of(const SlotTask& task) {
  std::size_t count = 0;
  for (const KeptPods& kept : task.kept) count += kept.pods.size();
  for (const NewPods& unit : task.placed) count += unit.pods.size();
  return count;
}

}  // namespace

Preparation choose_left(const SlotTask& task, const PodKinds& kinds) {
  std::vector<std::size_t> partial;
  for (std::size_t k = 0; k < task.kept.size(); ++k)
    if (task.kept[k].kept < std::ssize(task.kept[k].pods)) partial.push_back(k);
  std::ranges::stable_sort(partial, {}, [&](std::size_t k) { return kinds.size_of(task.kept[k].pods.front()); });
  Indexed<NodeIndex, std::int64_t> idle(task.problem.nodes.size(), 0);
  for (const NodeIndex node : task.problem.nodes.indices()) idle[node] = task.base.idle_devices(node);
  for (const KeptPods& kept : task.kept)
    for (const PodIndex pod : kept.pods) idle[task.problem.pods[pod].node] -= task.problem.class_of(pod).gpu.devices;
  Preparation preparation;
  for (const std::size_t k : partial) {
    const KeptPods& kept = task.kept[k];
    std::map<NodeIndex, std::vector<PodIndex>> pods_of;  // descending
    for (const PodIndex pod : kept.pods) pods_of[task.problem.pods[pod].node].push_back(pod);
    // The next pod is of the node with the most idle devices; of several, the first pod.
    std::priority_queue<std::tuple<std::int64_t, std::uint32_t, NodeIndex>> next;
    const auto add = [&](NodeIndex node) {
      if (const auto& pods = pods_of.at(node); !pods.empty()) next.emplace(idle[node], ~pods.back().value(), node);
    };
    for (auto& [node, pods] : pods_of) {
      std::ranges::sort(pods, std::ranges::greater());
      add(node);
    }
    for (std::int64_t leaving = std::ssize(kept.pods) - kept.kept; leaving > 0; --leaving) {
      const NodeIndex node = std::get<NodeIndex>(next.top());
      next.pop();
      std::vector<PodIndex>& pods = pods_of.at(node);
      idle[node] += task.problem.class_of(pods.back()).gpu.devices;
      preparation.left.push_back(pods.back());
      pods.pop_back();
      add(node);
    }
  }
  return preparation;
}

Dealing::Dealing(const SlotTask& task, const PodKinds& kinds, const PlaceTime& time)
    : task_(task),
      ejecting_(time.improving.without_work()),
      last_(time.last.without_work()),
      dealt_(task, kinds),
      search_(dealt_),
      ejection_(dealt_),
      is_homeless_(task.placed.size(), false),
      ejections_left_(kTuning.slots.ejections_per_pod * pods_of(task)) {}

std::optional<SlotResult> Dealing::deal(const Preparation& preparation, const Deadline* repair) {
  left_at_first_ = preparation.left;
  for (const PodIndex pod : preparation.left) {
    dealt_.take(pod);
    dealt_.leave(pod);
  }
  for (const PodIndex pod : preparation.off) {
    dealt_.take(pod);
    enqueue(pod);
  }
  for (const NewPods& unit : task_.placed)
    for (const PodIndex pod : unit.pods) enqueue(pod);
  deal_queue(false);
  for (const Preparation::Device& device : preparation.devices)
    if (!last_.passed()) fill(device, preparation.parts);
  deal_queue(true);
  if (!queue_.empty()) return std::nullopt;
  keep_min_resources();
  place_homeless(repair);
  bring_home();
  return result();
}

void Dealing::deal_queue(bool with_sharers) {
  const auto is_due = [&](PodIndex pod) {
    const GpuRequest& size = dealt_.kinds().sizes()[dealt_.kinds().size_of(pod)];
    return with_sharers || is_whole(size) || (is_shared(size) && size.devices > 1);
  };
  while (!queue_.empty()) {
    const PodIndex pod = queue_.begin()->second;
    if (!is_due(pod) || last_.passed()) return;
    queue_.erase(queue_.begin());
    deal_one(pod);
  }
}

void Dealing::deal_one(PodIndex pod) {
  const std::optional<NodeIndex> node = search_.find(pod);
  if (node) {
    dealt_.put(pod, *node);
    return;
  }
  if (eject_for(pod)) return;
  const NewIndex unit = dealt_.kinds().new_of(pod);
  if (unit.is_none())
    force_home(pod);
  else
    drop(unit);
}

bool Dealing::eject_for(PodIndex pod) {
  if (ejections_left_ == 0 || (++looked_ > kTuning.slots.in_any_case && ejecting_.passed())) return false;
  std::optional<Ejection::Room> room = ejection_.make_room(pod, Ejection::Reach::kSmaller);
  if (!room && search_.lacks_only_resources(pod)) room = ejection_.make_room(pod, Ejection::Reach::kSameSize);
  if (!room) return false;
  ejections_left_ -= std::min(ejections_left_, room->taken.size());
  dealt_.put(pod, room->node);
  for (const DealtState::Taken& taken : room->taken) enqueue(taken.pod);
  return true;
}

// --- sharers that fill devices together

NodeIndex Dealing::node_to_open(const std::vector<bool>& nodes) const {
  NodeIndex best;
  for (const NodeIndex node : task_.problem.nodes.indices()) {
    if (!nodes[node.value()] || dealt_.state().idle_devices(node) == 0) continue;
    if (best.is_none() || dealt_.state().idle_devices(node) < dealt_.state().idle_devices(best)) best = node;
  }
  return best;
}

void Dealing::fill(const Preparation::Device& planned, const std::vector<std::vector<bool>>& parts) {
  NodeIndex node = planned.node;
  std::int32_t device = planned.device;
  if (node.is_none()) {
    node = node_to_open(parts[planned.part]);
    if (node.is_none()) return;
    const auto free = dealt_.state().free_devices(node);
    device = static_cast<std::int32_t>(std::ranges::max_element(free) - free.begin());
  }
  for (const auto& [size, count] : planned.sharers)
    for (std::int32_t i = 0; i < count && fill_one(size, node, device); ++i) continue;
}

bool Dealing::fill_one(SizeIndex size, NodeIndex node, std::int32_t device) {
  PodClassIndex tried;
  for (auto next = queue_.lower_bound({dealt_.kinds().first_rank(size), PodIndex(0)}); next != queue_.end(); ++next) {
    const PodIndex pod = next->second;
    if (dealt_.kinds().size_of(pod) != size) return false;
    const PodClass& pod_class = task_.problem.class_of(pod);
    if (std::exchange(tried, task_.problem.pods[pod].pod_class) == task_.problem.pods[pod].pod_class) continue;
    const Room room = room_of(dealt_.state(), node);
    if (!fit::devices_at(room, task_.problem, pod_class, node, {device}) || !dealt_.fits(pod, node)) continue;
    dealt_.put(pod, Place{node, {device}});
    queue_.erase(next);
    return true;
  }
  return false;
}

// --- pods without a place

// Guests of its node give way until it fits: they are dealt anew.
void Dealing::force_home(PodIndex pod) {
  ejection_.pin(pod);
  if (dealt_.put_home(pod)) return;
  std::vector<PodIndex> guests;
  for (const PodIndex other : dealt_.state().pods_on(task_.problem.pods[pod].node))
    if (dealt_.is_guest(other)) guests.push_back(other);
  std::ranges::sort(guests, {}, [&](PodIndex guest) {
    return std::pair(!dealt_.kinds().kept_of(guest).is_none(), dealt_.kinds().rank(guest));
  });
  for (const PodIndex guest : guests) {
    dealt_.take(guest);
    enqueue(guest);
    if (dealt_.put_home(pod)) return;
  }
  give_up();
}

void Dealing::drop(NewIndex unit) {
  const GangIndex gang = task_.placed[unit.value()].gang;
  for (std::size_t u = unit.value(); u < task_.placed.size(); ++u) {
    if (is_homeless_[u] || task_.placed[u].gang != gang) continue;
    is_homeless_[u] = true;
    for (const PodIndex pod : task_.placed[u].pods) {
      queue_.erase({dealt_.kinds().rank(pod), pod});
      if (dealt_.state().is_present(pod)) dealt_.take(pod);
    }
  }
}

// Nothing is placed, so nothing is moved.
void Dealing::give_up() {
  queue_.clear();
  is_homeless_.assign(is_homeless_.size(), true);
  dealt_.reset();
  search_.forget();
  ejection_.forget();
  for (const PodIndex pod : left_at_first_) {
    dealt_.take(pod);
    dealt_.leave(pod);
  }
}

void Dealing::keep_min_resources() {
  for (std::size_t u = 0; u < task_.placed.size(); ++u) {
    const GangIndex gang = task_.placed[u].gang;
    if (is_homeless_[u] || !task_.problem.gangs[gang].asks_for_min_resources()) continue;
    if (!fit::min_resources(dealt_.state(), gang)) drop(NewIndex(u));
  }
}

// Room may have come up since.
void Dealing::place_homeless(const Deadline* repair) {
  std::set<GangIndex> incomplete;
  for (std::size_t u = 0; u < task_.placed.size(); ++u) {
    const GangIndex gang = task_.placed[u].gang;
    if (!is_homeless_[u] || incomplete.contains(gang)) continue;
    if (last_.passed()) return;
    is_homeless_[u] = !place_whole(NewIndex(u)) && (repair == nullptr || !place_by_ejections(NewIndex(u), *repair));
    if (is_homeless_[u]) incomplete.insert(gang);
  }
}

bool Dealing::place_whole(NewIndex unit) {
  const NewPods& pods = task_.placed[unit.value()];
  const Gang& gang = task_.problem.gangs[pods.gang];
  if (gang.asks_for_min_resources() && !fit::min_resources(dealt_.state(), pods.gang)) return false;
  std::vector<PodIndex> order = pods.pods;
  std::ranges::sort(order, {}, [&](PodIndex pod) { return std::pair(dealt_.kinds().rank(pod), pod); });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::optional<NodeIndex> node = search_.find(order[i]);
    if (node) {
      dealt_.put(order[i], *node);
      continue;
    }
    while (i > 0) dealt_.take(order[--i]);
    return false;
  }
  return true;
}

// An ejection pool after Nagata and Braysy (2009): pods that were hard to place before are ejected last.
bool Dealing::place_by_ejections(NewIndex unit, const Deadline& deadline) {
  const NewPods& pods = task_.placed[unit.value()];
  const DealtState before = dealt_;
  for (const PodIndex pod : pods.pods) enqueue(pod);
  const bool is_done = deal_by_ejections(deadline) && fit::min_resources(dealt_.state(), pods.gang);
  queue_.clear();
  if (is_done) return true;
  dealt_ = before;
  search_.forget();
  ejection_.forget();
  return false;
}

bool Dealing::deal_by_ejections(const Deadline& deadline) {
  for (int trial = 0; !queue_.empty(); ++trial) {
    if (trial == kTuning.slots.repair_trials || deadline.passed()) return false;
    const PodIndex pod = queue_.begin()->second;
    queue_.erase(queue_.begin());
    if (const std::optional<NodeIndex> node = search_.find(pod)) {
      dealt_.put(pod, *node);
      continue;
    }
    ejection_.punish(pod);
    const std::optional<Ejection::Room> room = ejection_.make_room(pod, Ejection::Reach::kAny);
    if (!room) return false;
    dealt_.put(pod, room->node);
    for (const DealtState::Taken& taken : room->taken) enqueue(taken.pod);
  }
  return true;
}

// --- fewer moves

void Dealing::bring_home() {
  std::vector<PodIndex> away;
  for (const KeptPods& kept : task_.kept)
    for (const PodIndex pod : kept.pods)
      if (!dealt_.is_home(pod) && !dealt_.is_left(pod)) away.push_back(pod);
  std::ranges::stable_sort(away, std::greater<>(), [&](PodIndex pod) { return dealt_.cost(pod); });
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    for (const PodIndex pod : away) {
      if (dealt_.is_home(pod) || dealt_.is_left(pod)) continue;
      if (last_.passed()) return;
      const bool is_better = return_home(pod) || stay_instead(pod) || exchange(pod);
      has_changed = has_changed || is_better;
    }
  }
}

bool Dealing::return_home(PodIndex pod) {
  const DealtState::Taken taken = dealt_.take_note(pod);
  if (dealt_.put_home(pod)) return true;
  dealt_.restore({&taken, 1});
  return false;
}

// A pod that leaves stays, and the moved one leaves in its place.
bool Dealing::stay_instead(PodIndex pod) {
  const KeptPods& kept = task_.kept[dealt_.kinds().kept_of(pod).value()];
  if (kept.kept == std::ssize(kept.pods)) return false;
  const DealtState::Taken taken = dealt_.take_note(pod);
  for (const PodIndex other : kept.pods) {
    if (!dealt_.is_left(other)) continue;
    dealt_.stay_after_all(other);
    if (dealt_.put_home(other)) {
      dealt_.leave(pod);
      return true;
    }
    dealt_.leave(other);
  }
  dealt_.restore({&taken, 1});
  return false;
}

// A guest of its home takes its place in exchange.
bool Dealing::exchange(PodIndex pod) {
  const PodKinds& kinds = dealt_.kinds();
  const auto on_node = dealt_.state().pods_on(task_.problem.pods[pod].node);
  const std::vector<PodIndex> others(on_node.begin(), on_node.end());
  for (const PodIndex other : others) {
    if (other == pod || !dealt_.is_guest(other) || kinds.size_of(other) != kinds.size_of(pod)) continue;
    const std::vector<DealtState::Taken> taken{dealt_.take_note(pod), dealt_.take_note(other)};
    if (dealt_.put_home(pod)) {
      const std::optional<NodeIndex> node = search_.find(other);
      if (node) {
        dealt_.put(other, *node);
        return true;
      }
      dealt_.take(pod);
    }
    dealt_.restore(taken);
  }
  return false;
}

SlotResult Dealing::result() const {
  SlotResult result{dealt_.state(), {}, {}, {}, 0, 0};
  for (const KeptPods& kept : task_.kept)
    for (const PodIndex pod : kept.pods) {
      if (dealt_.is_home(pod)) continue;
      (dealt_.is_left(pod) ? result.left : result.moved).push_back(pod);
      if (!dealt_.is_left(pod)) result.moved_work += kept.cost;
    }
  std::ranges::sort(result.moved);
  std::ranges::sort(result.left);
  for (std::size_t u = 0; u < is_homeless_.size(); ++u)
    if (is_homeless_[u]) result.homeless.push_back(u);
  return result;
}

}  // namespace muster::slots
