// A snapshot that stays between cycles, and what changes it: the server's kept state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"
#include "model/state/link_keeper.h"

namespace muster {

struct DeltaTemplate {
  std::string_view name;
  PodSpecIndex spec;  // in SnapshotDelta::set
};

// Names of the objects that leave.
struct DeltaRemovals {
  std::vector<std::string_view> nodes, namespaces, queues, priority_classes, pod_templates, gangs, pods;
  std::vector<std::string_view> disruption_budgets;  // "namespace/name"
};

// What changes of a snapshot. `set` holds the new and the changed objects, each whole, and owns the text of all names
// here; of its single values, those count that are said to be set. Its resources are those of the kept snapshot, then
// new ones. Read strictly: it has no warnings but remarks.
struct SnapshotDelta {
  Snapshot set;
  bool sets_id = false, sets_time = false, sets_policy = false, sets_topology = false, sets_remarks = false;
  std::vector<DeltaTemplate> templates;
  DeltaRemovals remove;
};

// Positions of the elements of a list by their names. Names are views into the text of the snapshot.
class NamePositions {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
  std::uint32_t find(std::string_view name) const {
    const auto found = positions_.find(name);
    return found == positions_.end() ? kAbsent : found->second;
  }
  void set(std::string_view name, std::size_t position) {
    positions_.insert_or_assign(name, static_cast<std::uint32_t>(position));
  }
  void erase(std::string_view name) { positions_.erase(name); }
  void reserve(std::size_t names) { positions_.reserve(names); }

 private:
  std::unordered_map<std::string_view, std::uint32_t> positions_;
};

// Order of the lists, on which plans may depend: an object that is known keeps its place, a new one goes to the end in
// the order of the delta, and the last one takes the place of one that leaves. Removals come first.
class KeptSnapshot {
 public:
  KeptSnapshot();

  // Either all of the delta or, with an error, nothing of it. Errors, whose path begins with `prefix` ("$.set",
  // "$.remove"): DuplicateName, if `set` has a name twice; UnknownName, if something is to be removed that is not
  // there. Whether names refer to something is left to build_problem. Cost: expected O(objects of the delta).
  std::optional<InputError> apply(SnapshotDelta&& delta, std::string_view prefix);

  // Specs that no pod has any more are blank in it.
  const Snapshot& snapshot() const { return snapshot_; }
  // What a cycle is planned from: a copy, which build_problem changes, with its links. Cost: that of a copy.
  Snapshot for_cycle() const;
  // None: there is no such template. Valid until the next change.
  const PodSpec* find_template(std::string_view name) const;

 private:
  // Where a delta's specs and terms are; none and -1: nowhere yet.
  struct Translation {
    std::vector<PodSpecIndex> specs;
    std::vector<std::int32_t> terms;
  };

  std::optional<InputError> find_fault(const SnapshotDelta& delta, std::string_view prefix) const;
  void remove(const DeltaRemovals& removals);
  void set_values(SnapshotDelta& delta, Translation& places);
  void set_objects(SnapshotDelta& delta, Translation& places);
  void set_pod(SnapshotDelta& delta, SnapshotPod&& pod, Translation& places);
  void remove_gang(std::string_view name);
  void remove_pod(std::string_view name);
  void set_gang(SnapshotGang&& gang);
  void set_policy(Policy&& policy, SnapshotDelta& delta, Translation& places);
  // Of a spec of the delta, with one user more.
  PodSpecIndex use_spec(SnapshotDelta& delta, PodSpecIndex spec, Translation& places);
  PodSpecIndex place_of(PodSpec&& spec);
  void release_spec(PodSpecIndex spec);
  std::int32_t use_terms(const SnapshotDelta& delta, std::int32_t terms, Translation& places);
  void release(const SnapshotPod& pod);
  PodLinks links_of(const SnapshotPod& pod) const;
  // Whether a gang and a pod without a gang have this name.
  bool is_ambiguous(std::string_view name) const;

  // The specs and the terms of pods that are gangs by themselves are freed with their last user, so that nothing which
  // is not in the cluster any more counts as asked for.
  struct Shared {
    std::vector<std::uint32_t> users;
    std::vector<std::uint32_t> free;  // positions without users
  };

  Snapshot snapshot_;
  NamePositions nodes_, namespaces_, queues_, priority_classes_, gangs_, pods_, budgets_;
  std::unordered_map<std::string_view, PodSpecIndex> templates_;
  Shared specs_, terms_;
  std::unordered_multimap<std::size_t, PodSpecIndex> spec_by_content_;
  LinkKeeper links_;
  std::size_t ambiguous_names_ = 0;
};

}  // namespace muster
