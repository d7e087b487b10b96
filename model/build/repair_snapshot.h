// Makes an inconsistent snapshot consistent, so that all the rest of it can be planned.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "model/snapshot/snapshot.h"

namespace muster {

// Removes, or settles in the way that can do no harm, each object that keeps the snapshot from being a problem, and
// reports it in `anomalies.warnings`: duplicates count once; objects that refer to an unknown name are held; a running
// pod without a known node takes resources nowhere. docs/semantics.md, "What does not add up", gives the full list.
// Cost: O(n log n) in all objects. Requires that the snapshot is not read strictly.
void repair_snapshot(Snapshot& snapshot);

// Held gangs: their pending pods are gated, and their running pods are left alone.
void hold_gangs(Snapshot& snapshot);

}  // namespace muster

namespace muster::repair {

// Shared by the parts of repair_snapshot. Only model/repair*.cpp includes this.
inline void warn(Snapshot& snapshot, Warning warning) { snapshot.anomalies.tell(std::move(warning)); }

inline std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

// Of objects with one name the first counts.
template <class List>
void keep_first(Snapshot& snapshot, List& list, std::string_view object) {
  std::unordered_set<std::string_view> names;
  std::erase_if(list, [&](const auto& element) {
    if (names.insert(element.name).second) return false;
    warn(snapshot, {ErrorCode::kDuplicateName, std::string(object), std::string(element.name),
                    "duplicate name; Muster uses the first one"});
    return true;
  });
}

// Nothing of it is placed, and nothing of it is evicted.
void hold_gang(Snapshot& snapshot, SnapshotGang& gang);

void repair_gangs(Snapshot& snapshot);
// Requires nodes, queues, priority classes and gangs that are consistent.
void repair_pods(Snapshot& snapshot);

}  // namespace muster::repair
