// Objects that create pods from a template: which pods are theirs, and what those inherit.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "io/kubernetes/object/items.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

using OwnerKey = std::tuple<std::string_view, std::string_view, std::string_view>;  // namespace, kind, name

class KubernetesOwners {
 public:
  // An object of a kind that makes pods.
  [[nodiscard]] bool add(KubernetesReading& reading, KubernetesKind kind, const KubernetesObject& object);

  // A Workload of Kueue: its annotation and its maximum execution time count for its owners, which are pods or create
  // them. Of several Workloads of one owner, the longest annotation and the shortest time count. A value that cannot be
  // read causes a remark.
  void add_workload(KubernetesReading& reading, const KubernetesObject& object);

  // An object that another one, which has been added, is going to make, and by which its pods are made.
  void add_made(const KubernetesObject& object, const OwnerKey& controller);

  // Passes the queue, the annotated duration and the deadlines of its owners on to the pod. Sets its outermost owner:
  // of the last object of the list above it the controller, which may itself not be in the list. Objects that are added
  // later do not count for it.
  void join(KubernetesPod& pod);

  // Objects that no other object of the list controls, and those that one controls; in the order of their keys. Objects
  // in a circle are no roots.
  std::vector<OwnerKey> roots() const;
  std::vector<OwnerKey> controlled_by(const OwnerKey& key) const;
  const KubernetesObject* find_object(const OwnerKey& key) const;
  // The objects of the list above the pod, the nearest first: by its owners, else by its labels.
  std::vector<OwnerKey> makers_of(const KubernetesPod& pod) const;
  // The same objects, but by the owners alone.
  std::vector<const KubernetesObject*> above(const KubernetesPod& pod) const;

 private:
  struct Owner {
    KubernetesKind kind;
    KubernetesObject object;
    OwnerKey controller;  // with an empty kind: none
    std::string_view kueue_queue, kai_queue;
    ExpectedRunTime run_time;
  };
  const Owner* owner_of(KubernetesPod& pod) const;
  const Owner* find(const OwnerKey& key) const;
  OwnerKey nearest_owner(const KubernetesPod& pod) const;
  ObjectName top_of(OwnerKey key) const;
  static void pass_on_queues(const Owner& owner, GroupMembership& out);
  void add_admitted(OwnerKey key, ExpectedRunTime& run_time) const;

  std::map<OwnerKey, Owner> owners_;
  std::map<OwnerKey, std::vector<OwnerKey>> controlled_;  // by their controller, which may not be in the list
  std::map<OwnerKey, ExpectedRunTime> admitted_;          // what Workloads tell about their owners
};

}  // namespace muster::kubernetes
