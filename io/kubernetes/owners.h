// Objects that create pods from a template: what their pods inherit, and the pods that they have not created yet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "io/kubernetes/groups.h"
#include "io/kubernetes/items.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

// Pods that templates make at most, in one document.
inline constexpr std::int64_t kMostMadePods = 1'000'000;

class KubernetesOwners {
 public:
  // Deployment, ReplicaSet, StatefulSet, Job or LeaderWorkerSet.
  [[nodiscard]] bool add(KubernetesReading& reading, KubernetesKind kind, const KubernetesObject& object);

  // A Workload of Kueue: its annotation and its maximum execution time count for its owners, which are pods or create
  // them. Of several Workloads of one owner, the longest annotation and the shortest time count. A value that cannot be
  // read causes a remark.
  void add_workload(KubernetesReading& reading, const KubernetesObject& object);

  // Counts the pod with its owners, and passes their queue, their annotated duration and their deadlines on to it. Sets
  // its outermost owner: of the last object of the list above it the controller, which may itself not be in the list.
  // Objects that are added later do not count for it.
  void join(KubernetesPod& pod);

  // Titles of the objects that are expanded; empty: all. They outlive this object.
  void expand_only(const std::vector<std::string>& titles) { expanded_ = &titles; }

  // The pods that are still to be created, once all existing ones have joined; appended, pending, or gated if their Job
  // is suspended. Groups that are created with them are passed to `add_group`. Errors: those of the templates;
  // TooLarge.
  using AddGroup = std::function<void(const KubernetesGroup&)>;
  [[nodiscard]] bool expand(KubernetesReading& reading, std::vector<KubernetesPod>& pods, const AddGroup& add_group);

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;  // namespace, kind, name
  struct Owner {
    KubernetesKind kind;
    KubernetesObject object;
    Key controller;  // with an empty kind: none
    std::string_view kueue_queue, kai_queue;
    ExpectedRunTime run_time;
    std::int64_t active = 0;  // its pods that are neither finished nor left out
  };
  Owner* owner_of(const KubernetesPod& pod);
  Owner* find(const Key& key);
  Key nearest_owner(const KubernetesPod& pod) const;
  ObjectName top_of(Key key) const;
  static void pass_on_queues(const Owner& owner, GroupMembership& out);
  void add_admitted(Key key, ExpectedRunTime& run_time) const;
  [[nodiscard]] bool expand(KubernetesReading& reading, const Owner& owner);
  [[nodiscard]] bool expand_set(KubernetesReading& reading, const Owner& owner);
  [[nodiscard]] bool expand_job(KubernetesReading& reading, const Owner& owner);
  [[nodiscard]] bool expand_stateful_set(KubernetesReading& reading, const Owner& owner);
  [[nodiscard]] bool expand_leader_worker_set(KubernetesReading& reading, const Owner& owner);
  struct LeaderWorkers;
  [[nodiscard]] bool read_leader_workers(KubernetesReading& reading, const Owner& owner, LeaderWorkers& out) const;
  bool has_groups(const Owner& owner, std::int64_t replicas) const;
  void make_group(const Owner& owner, const LeaderWorkers& set, std::int64_t index);
  [[nodiscard]] bool read_template(KubernetesReading& reading, const Owner& owner, json::JsonValue pod_template,
                                   KubernetesPod& out) const;
  [[nodiscard]] bool check_room(KubernetesReading& reading, const Owner& owner, std::int64_t more) const;
  void make_free(const KubernetesPod& pod, std::string_view prefix, std::int64_t count);
  KubernetesPod* make(const KubernetesPod& pod, const std::string& name);
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  bool is_expanded(const Owner& owner) const {
    return expanded_ == nullptr || expanded_->empty() ||
           std::ranges::find(*expanded_, owner.object.title()) != expanded_->end();
  }

  std::map<Key, Owner> owners_;
  std::map<Key, ExpectedRunTime> admitted_;  // what Workloads tell about their owners
  std::deque<std::string> texts_;            // names that no object has
  const std::vector<std::string>* expanded_ = nullptr;
  // While expanding:
  std::vector<KubernetesPod>* pods_ = nullptr;
  const AddGroup* add_group_ = nullptr;
  std::size_t there_ = 0;  // pods before any was made
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> names_;
};

}  // namespace muster::kubernetes
