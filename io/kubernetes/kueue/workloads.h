// Workloads of Kueue and the objects for which it makes them: the priority, the queue and the gang of each pod, and the
// pods of Workloads that wait for their admission.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "io/kubernetes/kueue/queues.h"
#include "io/kubernetes/object/items.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

class KueueWorkloads {
 public:
  [[nodiscard]] bool add_priority_class(KubernetesReading& reading, const KubernetesObject& object);
  // An object that creates pods: what its labels and annotations tell Kueue. Errors: WrongType, InvalidValue.
  [[nodiscard]] bool add_owner(KubernetesReading& reading, const KubernetesObject& object);
  // A Workload. One that cannot be read causes a remark, and its pods count without it.
  void add(KubernetesReading& reading, const KubernetesObject& object);

  // What Kueue makes of a pod whose owner is known: its queue, its priority, and the gang with which it is admitted,
  // unless that is left to another one. A pod that no queue of Kueue has stays as it is. Objects that are added
  // later do not count for it.
  void join(KubernetesReading& reading, const KueueQueues& queues, bool is_grouped_otherwise, KubernetesPod& pod);

  // Only pods that exist are planned.
  void expand_nothing() { expands_ = false; }
  // Titles of the objects that wait for Kueue and have no Workload, to be expanded from their templates.
  std::vector<std::string> suspended_owners() const;
  // Whether Kueue has suspended the object that makes the pod.
  bool is_suspended(const KubernetesPod& pod) const;

  // Appends the pods of the Workloads that wait for their quota and have none, once all pods have joined. Errors: those
  // of the templates; TooLarge.
  [[nodiscard]] bool expand(KubernetesReading& reading, std::vector<KubernetesPod>& pods);

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;  // namespace, kind, name
  struct Owner {
    KubernetesObject object;
    std::string_view queue, priority_class;
    std::optional<std::int32_t> least_pods;  // with partial admission
    bool is_suspended = false, is_gated = false, has_controller = false;
  };
  struct Workload {
    KubernetesObject object;
    std::string_view queue, priority_class, index;  // the last: of a LeaderWorkerSet's group
    std::optional<std::int32_t> priority;
    bool is_active = true, is_gated = false, is_finished = false, is_reserved = false, never_preempts = false;
    json::JsonValue pod_sets;
    std::vector<Key> owners;
    std::string_view owner_kind, owner_name;  // the controller, else the first
    bool has_pods = false;
  };
  struct PodSet {
    std::string_view name;
    std::int64_t count = 1;
    std::optional<std::int32_t> least;  // with partial admission
    KubernetesPod pod;
  };
  [[nodiscard]] static bool read_spec(KubernetesReading& reading, Workload& out);
  [[nodiscard]] static bool read_state(KubernetesReading& reading, Workload& out);
  [[nodiscard]] static bool read_owners(KubernetesReading& reading, Workload& out);
  Workload* find(const KubernetesPod& pod);
  Workload* find_of_owner(const KubernetesPod& pod, const Key& key);
  const Owner* owner_of(const KubernetesPod& pod) const;
  static std::string_view pod_set_of(const KubernetesPod& pod);
  bool is_grouped(const KubernetesPod& pod, const Workload* workload, GroupReference& out) const;
  void set_priority(KubernetesReading& reading, const Workload* workload, const Owner* owner, KubernetesPod& pod) const;
  [[nodiscard]] bool read_pod_set(KubernetesReading& reading, const Workload& workload, json::JsonValue pod_set,
                                  PodSet& out) const;
  void make(const Workload& workload, const PodSet& set, bool is_only, std::vector<KubernetesPod>& pods);
  [[nodiscard]] bool expand(KubernetesReading& reading, const Workload& workload, std::vector<KubernetesPod>& pods);
  bool is_expanded(const Workload& workload) const;

  std::map<std::string_view, std::int32_t> classes_;
  std::map<Key, Owner> owners_;
  std::deque<Workload> workloads_;
  std::map<std::pair<std::string_view, std::string_view>, Workload*> by_name_;
  std::map<Key, std::vector<Workload*>> by_owner_;
  std::set<Key> with_pods_;                                        // owners of pods that exist
  std::set<std::pair<std::string_view, std::string_view>> taken_;  // names of pods
  std::deque<std::string> texts_;                                  // names that no object has
  bool expands_ = true;
  std::int64_t made_ = 0;  // pods of Workloads
};

}  // namespace muster::kubernetes
