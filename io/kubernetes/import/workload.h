// The part of a list that runs in the cluster or waits for it: pods, with their gangs, owners, volumes and bindings.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/kubernetes/gangs.h"
#include "io/kubernetes/import/cluster.h"
#include "io/kubernetes/import/object_visitor.h"
#include "io/kubernetes/owners.h"
#include "io/kubernetes/pod/bind_request.h"
#include "io/kubernetes/pod/pod.h"
#include "io/kubernetes/pod/storage.h"

namespace muster::kubernetes {

class ImportedWorkload {
 public:
  // Refers to the cluster, which must be read. `now`: the time of the snapshot.
  ImportedWorkload(ImportedCluster& cluster, Nanoseconds now)
      : cluster_(cluster), gangs_(cluster.priorities(), cluster.queues(), now), now_(now) {}

  // For KAI's groups that do not set theirs; empty: none.
  void set_default_grace_period(std::string_view period) { gangs_.set_default_grace_period(period); }
  void await_groups() { gangs_.await_groups(); }

  // Titles of the objects whose templates are expanded; empty: all. They outlive this object.
  void expand_only(const std::vector<std::string>& titles) { owners_.expand_only(titles); }

  // Groups, owners and pods, in this order. With `kExpand` the pods that templates have not made yet are there, too.
  // Errors: those of the objects; UnknownNode. Cost: one pass over the objects.
  enum class Templates : std::uint8_t { kIgnore, kPassOver, kExpand };  // kIgnore: with a remark
  [[nodiscard]] bool read(ObjectVisitor& visitor, Templates templates);

  // Devices, volumes, host ports, and the terms of gangs, once everything is read. Errors: InvalidValue, WrongType.
  [[nodiscard]] bool settle(ObjectVisitor& visitor);

  const std::vector<KubernetesPod>& pods() const { return pods_; }
  const KubernetesGangs& gangs() const { return gangs_; }

 private:
  template <class Read>
  [[nodiscard]] bool add_groups(ObjectVisitor& visitor, KubernetesKind kind, Read read);
  [[nodiscard]] bool read_workloads(ObjectVisitor& visitor);
  [[nodiscard]] bool read_groups(ObjectVisitor& visitor);
  [[nodiscard]] bool read_owners(ObjectVisitor& visitor, Templates templates);
  void read_deadlines(ObjectVisitor& visitor);
  [[nodiscard]] bool read_storage(ObjectVisitor& visitor);
  [[nodiscard]] bool read_bindings(ObjectVisitor& visitor);
  [[nodiscard]] bool read_pods(ObjectVisitor& visitor);
  [[nodiscard]] bool expand(KubernetesReading& reading);
  void bind(KubernetesPod& pod) const;
  bool awaits_kai_group(const KubernetesReading& reading, const KubernetesPod& pod) const;
  void join(const KubernetesReading& reading, KubernetesPod& pod);
  void stand_in(const LackingCard& card);

  using PodName = std::pair<std::string_view, std::string_view>;
  struct PodNameHash {
    std::size_t operator()(const PodName& name) const {
      return std::hash<std::string_view>()(name.first) * 31 + std::hash<std::string_view>()(name.second);
    }
  };

  ImportedCluster& cluster_;
  KubernetesGangs gangs_;
  KubernetesOwners owners_;
  KubernetesStorage storage_;
  std::unordered_map<PodName, KubernetesBinding, PodNameHash> bindings_;
  std::vector<KubernetesPod> pods_;
  std::deque<std::string> texts_;  // names that no object has
  std::size_t made_ = 0;           // position of the first pod that does not exist yet
  Nanoseconds now_ = 0;
};

}  // namespace muster::kubernetes
