// What a gang still needs for its minimum: which of its pods, and the alternatives.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/problem/problem.h"

namespace muster::explain {

// Some group of the gang requires a topology level.
bool requires_level(const Problem& problem, const Gang& gang);

// Pods of one class, ascending; if the gang requires levels, of one leaf group (else `leaf` is the root).
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

// The different ways to complete the minimum, given the pods that `has` already counts, with pods that `may_use`
// admits: which pods of a leaf, which subgroups. The way with the least work comes first; pods of one class are
// equivalent. At most kMostNeeds are listed, so some may be missing. If too few pods exist, the result is one need that
// is not `possible`. Cost: O(pods log pods) of the gang for each.
inline constexpr std::size_t kMostNeeds = 24;
using PodPredicate = std::function<bool(PodIndex)>;
std::vector<GangNeed> needs_of_minimum(const Problem& problem, GangIndex gang, const PodPredicate& has,
                                       const PodPredicate& may_use);
// What the pods of the need ask for of the resource.
Amount asked_of(const Problem& problem, const GangNeed& need, ResourceIndex resource);
// Some pod of the need owns or matches an anti-affinity term.
bool has_anti_affinity(const Problem& problem, const GangNeed& need);
// The need that consists of these pods.
GangNeed need_of_pods(const Problem& problem, std::vector<PodIndex> pods);

}  // namespace muster::explain
