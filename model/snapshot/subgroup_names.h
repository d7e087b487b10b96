// The subgroups of a gang by name, so that looking up those of all its pods costs what the pods cost.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/snapshot/snapshot.h"

namespace muster {

// Keeps views of the names that it is given.
class SubgroupNames {
 public:
  SubgroupNames() = default;
  // Cost: O(subgroups).
  explicit SubgroupNames(const std::vector<SnapshotSubgroup>& subgroups) {
    for (const SnapshotSubgroup& subgroup : subgroups) add(subgroup.name);
    for (const SnapshotSubgroup& subgroup : subgroups) {
      if (const auto parent = is_inner_.find(subgroup.parent); parent != is_inner_.end()) parent->second = true;
    }
  }

  // A new leaf. False: there is a subgroup of that name, which stays as it is.
  bool add(std::string_view name) { return is_inner_.try_emplace(name, false).second; }

  bool empty() const { return is_inner_.empty(); }
  bool has(std::string_view name) const { return is_inner_.contains(name); }
  // Whether it is the parent of one that the constructor got.
  bool is_inner(std::string_view name) const {
    const auto found = is_inner_.find(name);
    return found != is_inner_.end() && found->second;
  }
  bool has_leaf(std::string_view name) const { return has(name) && !is_inner(name); }

 private:
  std::unordered_map<std::string_view, bool> is_inner_;
};

}  // namespace muster
