// Changes of gangs: their parts, and gangs of a given shape.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/snapshot/snapshot.h"

namespace muster::change {

// A gang of a snapshot as it was read: its entry, if it has one, and its pods.
//
// Positions in the lists of the snapshot.
struct GangParts {
  std::optional<std::size_t> gang;  // none: a pod that is a gang by itself
  std::vector<std::size_t> pods;
};

// None: no gang, and no pod without a gang, has the name. Cost: O(gangs + pods).
std::optional<GangParts> find_gang(const Snapshot& snapshot, std::string_view name);
// The same of all gangs at once, by name. The names are those of the snapshot. Cost: O(gangs + pods).
std::unordered_map<std::string_view, GangParts> all_gangs(const Snapshot& snapshot);

// The terms of the gang, to be edited; those of a pod that is a gang by itself are its own from then on.
GangTerms& terms_of(const GangParts& parts, Snapshot& snapshot);

}  // namespace muster::change
