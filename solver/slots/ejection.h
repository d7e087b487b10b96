// Room for a pod that fits nowhere: the cheapest smaller pods of one node give up their places.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "solver/slots/dealt_state.h"
#include "solver/slots/known_value.h"

namespace muster::slots {

class Ejection {
 public:
  // The state outlives the object.
  explicit Ejection(DealtState& dealt);

  // Pods of a smaller size; also those with fewer cores; all, at a cost that grows with each `punish`.
  enum class Reach : std::uint8_t { kSmaller, kSameSize, kAny };
  struct Room {
    NodeIndex node;
    std::vector<DealtState::Taken> taken;  // off now
  };
  // Takes pods that may be moved off one node, so that the pod fits there; those later in PodKinds::rank only, so that
  // to eject for pods in that order ends, or all. Prefers the least moved work. None: nothing has changed. Cost:
  // O(nodes), and O(pods of a node x devices) for each node that has changed since the last pod of the rank (of the
  // size, for smaller ones), or all.
  std::optional<Room> make_room(PodIndex pod, Reach reach);
  // It is not ejected any more.
  void pin(PodIndex pod) { pinned_.insert(pod); }
  // It is hard to place.
  void punish(PodIndex pod) { ++penalties_[pod]; }
  // To be called if the state is replaced by an earlier one.
  void forget() { known_.clear(); }

 private:
  struct Cost {
    Work work = 0;
    std::int64_t squares = 0;  // of devices: of equal work, small pods find places more easily
    friend auto operator<=>(const Cost&, const Cost&) = default;
    Cost operator+(const Cost& other) const { return {work + other.work, squares + other.squares}; }
  };
  struct Choice {
    Cost cost;
    std::vector<PodIndex> pods;
  };
  struct User {
    Cost cost;
    PodIndex pod;
    DeviceUnits units = 0;
    DeviceList devices;
  };
  using KnownCosts = Indexed<NodeIndex, KnownValue<Cost>>;

  bool may_eject(PodIndex other, PodIndex pod, Reach reach) const;
  Cost cost_of(PodIndex pod, Reach reach) const;
  bool add_for_resources(PodIndex pod, NodeIndex node, Reach reach, Choice& choice) const;
  std::optional<Choice> choose(PodIndex pod, NodeIndex node, Reach reach) const;
  std::optional<Choice> choose_whole(PodIndex pod, NodeIndex node, Reach reach) const;
  std::optional<Choice> choose_shared(PodIndex pod, NodeIndex node, Reach reach) const;
  // Those of devices that may be ejected, the cheapest first.
  std::vector<User> users_to_eject(PodIndex pod, NodeIndex node, Reach reach) const;
  static std::optional<Choice> clear_device(DeviceUnits lacking, std::size_t device, const std::vector<User>& users);
  // Of all nodes, for pods that reach as far. Null: none are known.
  KnownCosts* known_costs(PodIndex pod, Reach reach);
  std::optional<Cost> cost_on(PodIndex pod, NodeIndex node, Reach reach) const;
  std::optional<Room> take(PodIndex pod, NodeIndex node, Reach reach);
  bool take_for_resources(PodIndex pod, Room& room, Reach reach);

  DealtState& dealt_;
  std::set<PodIndex> pinned_;
  std::map<PodIndex, std::int64_t> penalties_;
  std::map<std::pair<SizeIndex, RankIndex>, KnownCosts> known_;  // no rank: of smaller pods
};

}  // namespace muster::slots
