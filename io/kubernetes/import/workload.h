// The part of a list that runs in the cluster or waits for it: pods, with their gangs, owners, volumes and bindings.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "io/kubernetes/grouping/kai.h"
#include "io/kubernetes/grouping/volcano.h"
#include "io/kubernetes/import/cluster.h"
#include "io/kubernetes/import/gangs.h"
#include "io/kubernetes/import/named_objects.h"
#include "io/kubernetes/kueue/admission.h"
#include "io/kubernetes/kueue/workloads.h"
#include "io/kubernetes/pod/bind_request.h"
#include "io/kubernetes/pod/pod.h"
#include "io/kubernetes/pod/storage.h"
#include "io/kubernetes/templates/expansion.h"
#include "io/kubernetes/templates/made_objects.h"
#include "io/kubernetes/templates/owners.h"

namespace muster::kubernetes {

class ImportedWorkload {
 public:
  // Refers to the cluster, which must be read. `now`: the time of the snapshot.
  ImportedWorkload(ImportedCluster& cluster, Nanoseconds now)
      : cluster_(cluster),
        gangs_(cluster.priorities(), cluster.queues(), cluster.node_pools(), now),
        admission_(cluster.queues().kueue(), cluster.flavors()) {}

  // As KubernetesGangs.
  void set_default_grace_period(std::optional<Nanoseconds> period) { gangs_.set_default_grace_period(period); }
  // Of a cluster that is watched to act on its plans: then only pods that exist are planned.
  void await_groups() {
    gangs_.await_groups();
    kueue_.expand_nothing();
  }

  // Titles of the objects whose templates are expanded, and of the pods that are about to be created, so that admission
  // changes them; empty: all templates, and no such pods. They outlive this object. To be called before read().
  void expand_only(const std::vector<std::string>& titles) {
    titles_ = &titles;
    created_.insert(titles.begin(), titles.end());
  }

  // Groups, owners and pods, in this order. With `kExpand` the pods that templates have not made yet are there, too.
  // Errors: those of the objects; UnknownNode. Cost: one pass over the objects.
  enum class Templates : std::uint8_t { kIgnore, kPassOver, kExpand };  // kIgnore: with a remark
  [[nodiscard]] bool read(ObjectVisitor& visitor, Templates templates);

  // Devices, volumes, host ports, and the terms of gangs, once everything is read. Errors: InvalidValue, WrongType.
  [[nodiscard]] bool settle(ObjectVisitor& visitor);

  const std::vector<KubernetesPod>& pods() const { return pods_; }
  const KubernetesGangs& gangs() const { return gangs_; }

 private:
  [[nodiscard]] bool read_group(KubernetesReading& reading, KubernetesKind kind, const KubernetesObject& object,
                                KubernetesGroup& out);
  [[nodiscard]] bool add_groups(ObjectVisitor& visitor, KubernetesKind kind);
  [[nodiscard]] bool read_workloads(ObjectVisitor& visitor);
  [[nodiscard]] bool read_groups(ObjectVisitor& visitor);
  [[nodiscard]] bool read_owners(ObjectVisitor& visitor, Templates templates);
  [[nodiscard]] bool read_kueue(ObjectVisitor& visitor);
  [[nodiscard]] bool read_storage(ObjectVisitor& visitor);
  [[nodiscard]] bool read_bindings(ObjectVisitor& visitor);
  [[nodiscard]] bool read_references(ObjectVisitor& visitor);
  [[nodiscard]] bool read_pods(ObjectVisitor& visitor);
  void heed_surroundings(KubernetesReading& reading, KubernetesPod& pod) const;
  void heed_template(KubernetesReading& reading, KubernetesPod& pod) const;
  bool is_created(const KubernetesObject& pod) const;
  KubernetesObject as_created(KubernetesReading& reading, const KubernetesObject& pod, std::string_view& held);
  void admit(KubernetesPod& pod) const;
  [[nodiscard]] bool expand(KubernetesReading& reading, Templates templates);
  [[nodiscard]] bool expand_templates(KubernetesReading& reading, const std::vector<std::string>& titles);
  [[nodiscard]] bool expand_workloads(KubernetesReading& reading);
  void bind(KubernetesPod& pod) const;
  void stand_in(const LackingCard& card);
  void join(KubernetesReading& reading, KubernetesPod& pod);
  void forbid_evictions(KubernetesRemarks& remarks);

  using PodName = std::pair<std::string_view, std::string_view>;
  struct PodNameHash {
    std::size_t operator()(const PodName& name) const {
      return std::hash<std::string_view>()(name.first) * 31 + std::hash<std::string_view>()(name.second);
    }
  };

  ImportedCluster& cluster_;
  KubernetesGangs gangs_;
  KubernetesOwners owners_;
  MadeObjects made_objects_;
  TemplateReferences references_;
  KueueWorkloads kueue_;
  KueueAdmission admission_;
  struct Groupers {
    std::optional<KaiPodGrouper> kai;  // once the reading is known
    VolcanoPodGrouper volcano;
  };
  Groupers groupers_;
  KubernetesStorage storage_;
  std::unordered_map<PodName, KubernetesBinding, PodNameHash> bindings_;
  std::vector<KubernetesPod> pods_;
  std::deque<std::string> texts_;  // names that no object has
  std::size_t made_ = 0;           // position of the first pod that does not exist yet
  const std::vector<std::string>* titles_ = nullptr;
  std::unordered_set<std::string> created_;  // the same
};

}  // namespace muster::kubernetes
