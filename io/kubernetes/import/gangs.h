// The gang of each pod, and the terms of a gang from all its pods -> gangs[]
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "io/kubernetes/grouping/groups.h"
#include "io/kubernetes/grouping/kai.h"
#include "io/kubernetes/grouping/metadata.h"
#include "io/kubernetes/grouping/priorities.h"
#include "io/kubernetes/import/gang_pods.h"
#include "io/kubernetes/import/queues.h"
#include "io/kubernetes/kueue/admission.h"
#include "io/kubernetes/pod/pod.h"
#include "io/muster_v1/snapshot_input.h"
#include "model/snapshot/subgroup_names.h"

namespace muster::kubernetes {

class KubernetesGangs {
 public:
  // `now`: the time of the snapshot.
  KubernetesGangs(const KubernetesPriorities& priorities, KubernetesQueues& queues, const KaiNodePools& pools,
                  Nanoseconds now)
      : priorities_(priorities), queues_(queues), pools_(pools), now_(now) {}

  // A group that an object defines. Errors: DuplicateName, of the pod groups of one Workload.
  [[nodiscard]] bool add(KubernetesReading& reading, const KubernetesGroup& group);
  // A group that no object defines yet; an existing one stays.
  void add_made(const KubernetesGroup& group);

  // Sets `gang` and `subgroup` of the pod, `held` if its group requires it, and whether it may be preempted. Requires
  // all groups to be added.
  void join(KubernetesPod& pod);

  // Names and terms, once all pods have joined. Requires each pod to keep its place.
  void finish(std::vector<KubernetesPod>& pods, const KubernetesTopologies& topologies, KubernetesRemarks& remarks);

  std::size_t size() const { return gangs_.size(); }
  const std::string& name(const KubernetesPod& pod) const {
    return gangs_[static_cast<std::size_t>(pod.membership.gang)].name;
  }
  // For KAI's groups that do not set theirs; none: that of the format.
  void set_default_grace_period(std::optional<Nanoseconds> period) { default_grace_period_ = period; }
  // As KubernetesOptions::awaits_groups; before the first pod joins.
  void await_groups() { awaits_groups_ = true; }
  // Holds the gang of a pod that was held after it had joined.
  void hold(const KubernetesPod& pod);
  // The policy of the pod's queue of Kueue forbids that anything is evicted for it.
  void forbid_evictions(KubernetesPod& pod);
  // Why the pod must not be placed, or moved if it runs; empty: it may be.
  std::string_view held(const KubernetesPod& pod) const;
  std::int32_t priority_of(const KubernetesPod& pod) const;
  // What the gang asks of the nodes of its pods, in addition to what they ask themselves; empty: nothing.
  NodeTerm nodes(const KubernetesPod& pod) const {
    return pod.membership.gang < 0 ? NodeTerm() : gangs_[static_cast<std::size_t>(pod.membership.gang)].settled.nodes;
  }

  // Appends the gangs to the snapshot. One that cannot be read is an error of a strict snapshot, else it is held.
  // Errors are those of `out`; the message begins with the name of the gang.
  [[nodiscard]] bool add_to(muster_v1::SnapshotInput& out) const;

 private:
  struct Gang {
    KubernetesGroup group;
    std::string name;
    bool is_written = true;
    GangPods pods;
    SubgroupNames subgroups;  // since its first pod
    KueuePodSets sets;
    GangSettlement settled;
  };
  std::size_t find_or_add(const KubernetesPod& pod);
  std::size_t append(const KubernetesGroup& group);
  void count(const KubernetesPod& pod, Gang& gang);
  void set_subgroup(KubernetesPod& pod, Gang& gang);
  // dialect_gangs.cpp: gangs of Koordinator and YuniKorn, of which only all pods together tell what they need.
  void settle_dialects(std::vector<KubernetesPod>& pods);
  void settle_application(Gang& gang, std::vector<KubernetesPod*>& pods);
  void settle_koordinator(Gang& gang, std::int64_t running) const;
  void bundle(std::vector<KubernetesPod>& pods);
  void merge(const std::vector<std::size_t>& gangs, std::vector<KubernetesPod>& pods);
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  void settle_names();
  void settle(Gang& gang);
  void give_own_gangs(std::vector<KubernetesPod>& pods);
  std::int32_t settled_priority(const Gang& gang) const;
  [[nodiscard]] bool read_gang(muster_v1::SnapshotInput& out, const Gang& gang, SnapshotGang& entry) const;

  const KubernetesPriorities& priorities_;
  KubernetesQueues& queues_;
  const KaiNodePools& pools_;
  std::vector<Gang> gangs_;
  std::unordered_map<std::string, std::size_t> positions_;  // by system and full name
  GroupReference last_reference_;
  std::string_view last_namespace_;
  std::optional<Nanoseconds> default_grace_period_;
  std::size_t last_ = 0;
  Nanoseconds now_ = 0;
  KeptTexts texts_;            // names that no object has
  bool has_dialects_ = false;  // a gang of Koordinator or YuniKorn
  bool awaits_groups_ = false;
  bool has_joined_ = false;  // a pod; no group of an object comes after that
};

}  // namespace muster::kubernetes
