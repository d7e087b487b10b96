// What a gang still needs for its minimum, and whether so many pods can be put into what is free.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "model/problem.h"
#include "model/reasons_room.h"

namespace muster {

// Some group of the gang requires a topology level.
bool requires_level(const Problem& problem, const Gang& gang);

// Pods of one class, ascending; where the gang requires levels, of one leaf group (else `leaf` is the root).
struct NeedItem {
  PodClassIndex pod_class;
  GroupIndex leaf;
  std::vector<PodIndex> pods;
};

struct GangNeed {
  bool possible = false;  // there are as many pods as the minimum asks for
  std::int64_t pods = 0;
  std::vector<NeedItem> items;  // the class with the most work first
};

// The pods with which the minimum is met with the least work, beside those that `has` counts already; taken from those
// that `may_use` lets through. Where too few exist, all of these. Cost: O(pods log pods) of the gang.
using PodPredicate = std::function<bool(PodIndex)>;
GangNeed need_of_minimum(const Problem& problem, GangIndex gang, const PodPredicate& has, const PodPredicate& may_use);
// The need that consists of these pods.
GangNeed need_of_pods(const Problem& problem, std::vector<PodIndex> pods);

struct PackingRules {
  bool filters = true;   // those of PodClass::allowed
  bool topology = true;  // required levels
  bool anti_affinity = true;
};

// How much of a need went in, and in which domains. `put[i]` pods of item i.
struct Packing {
  std::int64_t left = 0;
  std::vector<std::int64_t> put;
  std::vector<std::pair<GroupIndex, DomainIndex>>
      domains;  // chosen for groups with a required level; none: there was none
};

// Puts as many pods of the need into `room` as it can: the largest first, node by node, each group with a required
// level in the domain that takes most of it (the one of its pods that are there, if there are). Exact where all pods
// are of one class and no group but the root requires a level; else a lower bound of what fits. The caller rolls the
// room back. Cost: O(classes of the need x nodes), once more for each nested required level.
class Packer {
 public:
  Packer(const Problem& problem, const AfterPlan* end, RemainingRoom& room, PackingRules rules);
  Packing pack(const GangNeed& need, GroupIndex root);
  std::int64_t visits() const { return visits_; }  // nodes looked at: the cost so far

 private:
  static constexpr std::size_t kMostDepth = 200;  // of subgroups; beyond, required levels are not looked at
  std::size_t depth_of(GroupIndex root) const;
  void pack_group(GroupIndex group, std::span<const NodeIndex> nodes, Packing& packing);
  void pack_items(GroupIndex group, std::span<const NodeIndex> nodes, Packing& packing);
  void pack_in_best_domain(GroupIndex group, std::span<const NodeIndex> nodes, Packing& packing);
  void pack_within(GroupIndex group, std::span<const NodeIndex> nodes, Packing& packing);
  std::vector<DomainIndex> candidates(GroupIndex group, std::span<const NodeIndex> nodes) const;
  bool is_below(GroupIndex group, GroupIndex ancestor) const;
  bool has_own_level(GroupIndex leaf, GroupIndex below) const;

  const Problem& problem_;
  const AfterPlan* end_;  // null: nothing is there
  RemainingRoom& room_;
  PackingRules rules_;
  const GangNeed* need_ = nullptr;
  std::int64_t visits_ = 0;
};

enum class Fits : std::uint8_t { kYes, kNo, kUnknown };

// Whether the need goes into the room by any choice of nodes, required levels aside: search by depth first, which gives
// up after `steps`. kNo is a proof. Leaves the room as it was.
Fits search_fit(const Problem& problem, const GangNeed& need, RemainingRoom& room, PackingRules rules,
                std::int64_t steps);

}  // namespace muster
