// How many pods of an owner must run together, and in which subgroups, as KAI's pod grouper takes it from the owner's
// spec (pkg/podgrouper/podgrouper/plugins of KAI).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/kubernetes/grouping/metadata.h"
#include "io/kubernetes/grouping/topology.h"
#include "io/kubernetes/pod/pod.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

struct KaiShape {
  std::optional<std::int32_t> members;    // without subgroups; none: all pods of the group
  std::optional<std::int32_t> subgroups;  // of those at the top; none: all
  std::vector<SnapshotSubgroup> tree;     // parents before children; empty: none
  std::string held;                       // why KAI makes no such group; empty: it does
};

// The objects that tell of a group.
struct KaiOwner {
  std::string_view kind;     // of the owner whose pods form the group
  json::JsonValue metadata;  // absent: the owner is not in the list
  json::JsonValue spec;
  json::JsonValue ray_spec;  // of the RayCluster that a RayJob or RayService has made, or is going to make
  bool is_of_cron_job = false;
};

class KaiShapes {
 public:
  // All outlive the object and what it returns.
  KaiShapes(KubernetesReading& in, const KubernetesTopologies& topologies, KeptTexts& texts)
      : in_(in), topologies_(topologies), texts_(texts) {}

  // `pod`: the first of the group. Cost: O(owner's spec + subgroups).
  KaiShape shape_of(const KaiOwner& owner, const KubernetesPod& pod);
  // The subgroup of a pod, if its group has subgroups. Empty: none. Cost: O(labels).
  std::string_view leaf_of(const KaiOwner& owner, const KubernetesPod& pod);
  // The constraint of three annotations, kai.scheduler/topology and two levels. A level that does not exist holds the
  // group.
  TopologyRequest topology_of(std::string_view topology, std::string_view required, std::string_view preferred,
                              std::string& held) const;

 private:
  std::optional<std::int64_t> whole(json::JsonValue value) const;
  std::optional<std::int64_t> digits(std::string_view key, std::string_view text, std::int64_t least,
                                     KaiShape& shape) const;
  KaiShape of_job(const KaiOwner& owner) const;
  KaiShape of_replicas(const KaiOwner& owner) const;
  KaiShape of_pytorch(const KaiOwner& owner, const KubernetesPod& pod);
  void add_segments(const KaiOwner& owner, const KubernetesPod& pod, std::int64_t size, std::int64_t workers,
                    std::int64_t needed, KaiShape& shape);
  KaiShape of_ray(const KaiOwner& owner);
  KaiShape of_leader_worker_set(const KaiOwner& owner, const KubernetesPod& pod);
  void add_worker_segments(const KaiOwner& owner, const KubernetesPod& pod, std::int64_t size, std::int64_t segment,
                           KaiShape& shape);
  KaiShape of_job_set(const KaiOwner& owner);
  void add_replicated_job(json::JsonValue job, KaiShape& shape);
  TopologyRequest template_topology(json::JsonValue annotations, std::string& held) const;
  TopologyRequest segment_topology(const KaiOwner& owner, const KubernetesPod& pod, json::JsonValue worker_template,
                                   std::string& held) const;
  std::string_view leaf_of_worker(const KaiOwner& owner, const KubernetesPod& pod);
  std::string_view leaf_of_leader_worker_set(const KaiOwner& owner, const KubernetesPod& pod);
  void add_leaf(std::string_view name, std::string_view parent, std::int64_t minimum, const TopologyRequest& topology,
                KaiShape& shape);
  void add_inner(std::string_view name, std::string_view parent, std::int64_t minimum, const TopologyRequest& topology,
                 KaiShape& shape);
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  KubernetesReading& in_;
  const KubernetesTopologies& topologies_;
  KeptTexts& texts_;
};

}  // namespace muster::kubernetes
