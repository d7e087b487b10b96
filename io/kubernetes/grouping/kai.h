// The PodGroup that KAI's pod grouper is going to make for a pod which has none yet. As pkg/podgrouper of KAI does it,
// as far as the pod and its owners tell; docs/kubernetes.md, "Pods without a PodGroup".
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/kubernetes/grouping/groups.h"
#include "io/kubernetes/grouping/kai_shape.h"
#include "io/kubernetes/grouping/priorities.h"
#include "io/kubernetes/object/node_terms.h"
#include "io/kubernetes/object/object.h"
#include "io/kubernetes/pod/pod.h"
#include "model/snapshot/subgroup_names.h"

namespace muster::kubernetes {

// The queue of pods whose labels name none.
inline constexpr std::string_view kKaiDefaultQueue = "default-queue";

// kKaiPod, a group of the pod alone, or kKaiOwner, of all pods of an owner: the outermost one that is known so far.
// Cost: O(labels of the pod).
GroupReference kai_group_of(const KubernetesPod& pod, const std::vector<const KubernetesObject*>& above);

// Makes pods members of the groups that KAI is going to make for them.
class KaiPodGrouper {
 public:
  // All outlive the object. `find`: an object of the list by namespace, kind and name; none: the list has none.
  using FindObject = std::function<const KubernetesObject*(std::string_view, std::string_view, std::string_view)>;
  KaiPodGrouper(KubernetesReading& in, const KubernetesTopologies& topologies, const KubernetesPriorities& priorities,
                FindObject find)
      : in_(in), priorities_(priorities), find_(std::move(find)), shapes_(in, topologies, texts_) {}

  // Sets the reference of the pod, its subgroup, its queue and its priority class. The group itself is passed to
  // `add_group` when its first pod comes. `above`: the objects above the pod that the list has, the nearest first.
  using Above = std::vector<const KubernetesObject*>;
  template <class AddGroup>
  void join(KubernetesPod& pod, const Above& above, const AddGroup& add_group) {
    KubernetesGroup group;
    if (is_first(pod, above, group)) add_group(group);
  }

 private:
  struct Known {
    KaiOwner owner;
    SubgroupNames subgroups;
  };
  struct Terms;
  bool is_first(KubernetesPod& pod, const Above& above, KubernetesGroup& group);
  KaiOwner owner_of(const KubernetesPod& pod, const Above& above) const;
  json::JsonValue ray_spec_of(const KubernetesObject& object) const;
  Terms terms_of(const KubernetesPod& pod, const KaiOwner& owner, const Above& above) const;
  void set_queue(KubernetesPod& pod, const Terms& terms);
  std::string_view class_of(const KubernetesPod& pod, const Terms& terms, const KaiOwner& owner) const;
  void set_preemption(const KubernetesPod& pod, const Terms& terms, KubernetesGroup& group);
  void set_leaf(KubernetesPod& pod, const Known& known);
  void hold(KubernetesPod& pod, std::string why) { pod.hold(texts_.emplace_back(std::move(why))); }

  KubernetesReading& in_;
  const KubernetesPriorities& priorities_;
  FindObject find_;
  KeptTexts texts_;
  KaiShapes shapes_;
  std::unordered_map<std::string, Known> known_;  // by namespace, kind, name and part
};

// Node pools of KAI: each SchedulingShard is a scheduler of its own, for the nodes, queues and groups with the value of
// its label; one without a value is for those without the label.
class KaiNodePools {
 public:
  // Errors: WrongType, InvalidValue.
  [[nodiscard]] bool add_shard(KubernetesReading& reading, const KubernetesObject& object);
  void add_node(json::JsonValue labels);
  void add_queue(std::string_view queue, std::string_view pool) { of_queue_[queue] = pool; }

  // The default of queues of the pool, a duration; absent: none.
  json::JsonValue preempt_min_runtime(std::string_view pool) const { return shard_of(pool).preempt_min_runtime; }
  json::JsonValue reclaim_min_runtime(std::string_view pool) const { return shard_of(pool).reclaim_min_runtime; }

  // Why no scheduler places a group of the pool in the queue; empty: one does. Without any shard in the list, there is
  // one for each pool.
  std::string objection(std::string_view pool, std::string_view queue) const;
  // What it asks of nodes; empty: nothing.
  NodeTerm nodes_of(std::string_view pool) const;
  // Whether nodes of several pools are in the list, so that what a queue is entitled to depends on the pool.
  bool divide_the_nodes() const { return pools_of_nodes_.size() > 1; }

 private:
  struct Shard {
    json::JsonValue preempt_min_runtime, reclaim_min_runtime;
  };
  Shard shard_of(std::string_view pool) const {
    const auto found = shards_.find(pool);
    return found == shards_.end() ? Shard() : found->second;
  }

  std::unordered_map<std::string_view, Shard> shards_;  // by value; "": without one
  std::unordered_map<std::string_view, std::string_view> of_queue_;
  std::set<std::string_view> pools_of_nodes_;
};

}  // namespace muster::kubernetes
