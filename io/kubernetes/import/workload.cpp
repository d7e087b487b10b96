#include "io/kubernetes/import/workload.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "io/kubernetes/grouping/groups.h"
#include "io/kubernetes/grouping/kai.h"
#include "io/kubernetes/grouping/volcano.h"
#include "io/kubernetes/import/devices.h"
#include "io/kubernetes/import/rare_ports.h"
#include "io/kubernetes/import/unreadable_kinds.h"
#include "io/kubernetes/kueue/preemption.h"
#include "io/kubernetes/pod/card_settling.h"
#include "io/kubernetes/pod/gang_labels.h"
#include "io/kubernetes/pod/volumes.h"
#include "model/base/large_pages.h"

namespace muster::kubernetes {

namespace {

bool is_known_by_label(KubernetesKind kind) {
  return kind == KubernetesKind::kCoschedulingGroup || kind == KubernetesKind::kCoschedulingSigsGroup;
}

// Whether KAI places the pod, but has not made its PodGroup yet.
bool awaits_kai_group(const KubernetesReading& in, const KubernetesQueues& queues, const KubernetesPod& pod) {
  if (pod.membership.reference.system != GroupSystem::kNone || pod.owner.is_fixed) return false;
  const GroupLabels& labels = pod.membership.labels;
  const bool has_queue = !labels.kai_queue.empty() || !labels.runai_queue.empty();
  if (pod.constraints.scheduler == in.kai.scheduler) return has_queue || labels.kueue_queue.empty();
  return queues.is_of_kai(labels.kai_queue) || queues.is_of_kai(labels.runai_queue);
}

}  // namespace

bool ImportedWorkload::read(ObjectVisitor& visitor, Templates templates) {
  groupers_.kai.emplace(visitor.reading(), cluster_.topologies(), cluster_.priorities(),
                        [this](std::string_view space, std::string_view kind, std::string_view name) {
                          return owners_.find_object({space, kind, name});
                        });
  if (!read_kueue(visitor) || !read_groups(visitor) || !read_owners(visitor, templates) || !read_references(visitor) ||
      !read_storage(visitor) || !read_bindings(visitor) || !read_pods(visitor)) {
    return false;
  }
  made_ = pods_.size();
  return expand(visitor.reading(), templates);
}

bool ImportedWorkload::read_group(KubernetesReading& in, KubernetesKind kind, const KubernetesObject& object,
                                  KubernetesGroup& group) {
  switch (kind) {
    case KubernetesKind::kPodGroup:
      return read_pod_group(in, object, cluster_.topologies(), group);
    case KubernetesKind::kKaiGroup:
      return read_kai_group(in, object, cluster_.topologies(), group);
    case KubernetesKind::kVolcanoGroup:
      return read_volcano_group(in, object, group);
    default:
      group.identity.system =
          kind == KubernetesKind::kCoschedulingGroup ? GroupSystem::kCoscheduling : GroupSystem::kCoschedulingSigs;
      return read_coscheduling_group(in, object, group) &&
             read_koordinator_annotations(in, object, group.dialect, group.held);
  }
}

bool ImportedWorkload::add_groups(ObjectVisitor& visitor, KubernetesKind kind) {
  KubernetesReading& in = visitor.reading();
  return visitor.each(kind, [&](const KubernetesObject& object) {
    KubernetesGroup group;
    if (read_group(in, kind, object, group)) {
      group.heed(object.hold.always);
      return gangs_.add(in, group);
    }
    if (in.strict || !is_known_by_label(kind)) return false;  // pods of others that do not find theirs are held
    const GroupSystem system = group.identity.system;
    group = {};
    group.identity = {system, object.namespace_name, object.name, {}, {}};
    group.held = "its PodGroup cannot be read";
    in.warn(object, "its pods are held");
    return gangs_.add(in, group);
  });
}

bool ImportedWorkload::read_workloads(ObjectVisitor& visitor) {
  KubernetesReading& in = visitor.reading();
  return visitor.each(KubernetesKind::kWorkload, [&](const auto& object) {
    std::vector<KubernetesGroup> groups;
    if (!read_workload(in, object, groups)) return false;
    return std::ranges::all_of(groups, [&](auto& group) {
      group.heed(object.hold.always);
      return gangs_.add(in, group);
    });
  });
}

bool ImportedWorkload::read_groups(ObjectVisitor& visitor) {
  return add_groups(visitor, KubernetesKind::kPodGroup) && read_workloads(visitor) &&
         add_groups(visitor, KubernetesKind::kKaiGroup) && add_groups(visitor, KubernetesKind::kVolcanoGroup) &&
         add_groups(visitor, KubernetesKind::kCoschedulingGroup) &&
         add_groups(visitor, KubernetesKind::kCoschedulingSigsGroup);
}

bool ImportedWorkload::read_owners(ObjectVisitor& visitor, Templates templates) {
  constexpr std::array<KubernetesKind, 6> kKinds = {KubernetesKind::kDeployment,      KubernetesKind::kReplicaSet,
                                                    KubernetesKind::kStatefulSet,     KubernetesKind::kJob,
                                                    KubernetesKind::kLeaderWorkerSet, KubernetesKind::kPodMaker};
  KubernetesReading& in = visitor.reading();
  return std::ranges::all_of(kKinds, [&](KubernetesKind kind) {
    return visitor.each(kind, [&](const auto& object) {
      if (templates == Templates::kIgnore) in.remarks.add(std::string(object.kind) + " is ignored", object);
      return owners_.add(in, kind, object) && kueue_.add_owner(in, object);
    });
  });
}

bool ImportedWorkload::read_kueue(ObjectVisitor& visitor) {
  KubernetesReading& in = visitor.reading();
  for (const KubernetesObject& object : visitor.items().of(KubernetesKind::kKueueWorkload)) {
    owners_.add_workload(in, object);
    kueue_.add(in, object);
  }
  return visitor.each(KubernetesKind::kWorkloadPriorityClass, [&](const auto& object) {
    return kueue_.add_priority_class(in, object);
  }) && visitor.each(KubernetesKind::kNamespace, [&](const auto& object) {
    groupers_.volcano.add_namespace(object);
    return admission_.add_namespace(in, object);
  });
}

bool ImportedWorkload::read_references(ObjectVisitor& visitor) {
  return visitor.each(KubernetesKind::kRuntimeClass, [&](const auto& object) {
    return references_.classes.add(visitor.reading(), object);
  }) && visitor.each(KubernetesKind::kTrainingRuntime, [&](const auto& object) {
    references_.runtimes.emplace(OwnerKey{object.namespace_name, object.kind, object.name}, object);
    return true;
  });
}

bool ImportedWorkload::read_storage(ObjectVisitor& visitor) {
  KubernetesReading& in = visitor.reading();
  return visitor.each(KubernetesKind::kVolumeClaim, [&](const auto& object) {
    return storage_.add_claim(in, object);
  }) && visitor.each(KubernetesKind::kVolume, [&](const auto& object) {
    return storage_.add_volume(in, object);
  }) && visitor.each(KubernetesKind::kStorageClass, [&](const auto& object) { return storage_.add_class(in, object); });
}

bool ImportedWorkload::read_bindings(ObjectVisitor& visitor) {
  return visitor.each(KubernetesKind::kBindRequest, [&](const auto& object) {
    KubernetesBinding binding;
    if (!read_bind_request(visitor.reading(), object, binding)) return false;
    if (!binding.pod.empty()) bindings_[{binding.namespace_name, binding.pod}] = binding;
    return true;
  });
}

bool ImportedWorkload::read_pods(ObjectVisitor& visitor) {
  KubernetesReading& in = visitor.reading();
  pods_.reserve(visitor.items().of(KubernetesKind::kPod).size());
  ask_for_large_pages(pods_);
  return visitor.each(KubernetesKind::kPod, [&](const auto& object) {
    KubernetesPod& pod = pods_.emplace_back();
    const bool is_new = is_created(object);
    std::string_view held;
    if (object.as_pod != nullptr && in.has_namespaces) {
      pod = *object.as_pod;
    } else if (!read_pod(in, is_new ? as_created(in, object, held) : object, pod)) {
      if (in.strict) return false;
      read_what_can_be_read(in, object, in.take_reason(object), pod);
    }
    if (!held.empty()) pod.hold(held);
    if (is_new) admit(pod);
    pod.heed(object.hold);
    heed_surroundings(in, pod);
    bind(pod);
    if (in.strict && pod.state.is_on_node() && !cluster_.has_node(pod.state.node)) {
      return in.fail(object.value, ErrorCode::kUnknownNode,
                     "it runs on " + std::string(pod.state.node) + ", a node that is not in the input");
    }
    owners_.join(pod);
    join(in, pod);
    return true;
  });
}

// What its requests, its namespace and its priority class have and the import does not read.
void ImportedWorkload::heed_surroundings(KubernetesReading& in, KubernetesPod& pod) const {
  heed_resources(in, pod);
  if (!cluster_.has_effects()) return;
  pod.heed(cluster_.effect_of(KubernetesKind::kNamespace, pod.namespace_name));
  pod.heed(cluster_.effect_of(KubernetesKind::kPriorityClass, pod.priority.class_name));
}

// The same of a pod that is to be made: it has what its template has, and its makers may tell how to make it.
void ImportedWorkload::heed_template(KubernetesReading& in, KubernetesPod& pod) const {
  const json::JsonValue object = pod.source.object;
  std::vector<known::Unread> found;
  known::find_unread(known::TemplateSubject{member_of(object, "metadata"), member_of(object, "spec"), {}}, found);
  for (const OwnerKey& key : owners_.makers_of(pod)) {
    const KubernetesObject* maker = owners_.find_object(key);
    if (maker != nullptr) known::find_unread(known::TemplateSubject{{}, {}, maker->metadata}, found);
  }
  if (!found.empty()) pod.heed(in.unread.add("Pod", pod.full_name(), found));
  heed_surroundings(in, pod);
}

bool ImportedWorkload::is_created(const KubernetesObject& pod) const {
  return !created_.empty() && created_.contains(pod.title());
}

// What admission adds to a pod for its RuntimeClass.
KubernetesObject ImportedWorkload::as_created(KubernetesReading& in, const KubernetesObject& pod,
                                              std::string_view& held) {
  const json::JsonValue runtime_class = member_of(pod.spec, "runtimeClassName");
  if (!runtime_class || !runtime_class.is(json::JsonKind::kString)) return pod;
  std::string why;
  KubernetesObject created = made_objects_.add(pod_text(in, pod, {}, references_.classes, why));
  created.created = pod.created;
  if (!why.empty()) held = made_objects_.keep(std::move(why));
  return created;
}

// A pod that is about to be created has the preemption policy of its class.
void ImportedWorkload::admit(KubernetesPod& pod) const {
  pod.priority.never_preempts =
      pod.priority.never_preempts || cluster_.priorities().never_preempts(pod.priority.class_name);
}

// A pod with a request that did not fail counts as running there.
void ImportedWorkload::bind(KubernetesPod& pod) const {
  if (bindings_.empty() || !pod.state.waits() || pod.state.is_left_out) return;
  const auto found = bindings_.find({pod.namespace_name, pod.name});
  if (found == bindings_.end()) return;
  pod.state.status = PodStatus::kRunning;
  pod.state.node = found->second.node;
  if (pod.gpus.request.is_shared() && !found->second.gpu_groups.empty()) pod.gpus.groups = found->second.gpu_groups;
}

void ImportedWorkload::join(KubernetesReading& in, KubernetesPod& pod) {
  GroupLabels& labels = pod.membership.labels;
  KueueQueues& kueue = cluster_.queues().kueue();
  kueue_.join(in, kueue, awaits_kai_group(in, cluster_.queues(), pod), pod);
  if (!in.tried(admission_.settle(in, pod))) pod.hold("its node affinity or its tolerations cannot be read");
  if (!labels.kueue_queue.empty()) kueue.use(pod.namespace_name, labels.kueue_queue, pod.requests);
  if (pod.membership.reference.system == GroupSystem::kKueue) {
    pod.hold(labels.kueue_held);
    for (const std::string_view level : {labels.kueue_required, labels.kueue_preferred}) {
      if (!level.empty()) cluster_.topologies().add_kueue_level(level);
    }
  }
  if (pod.membership.reference.system == GroupSystem::kNone && !labels.kueue_queue.empty()) {
    pod.hold(kueue.held(pod.namespace_name, labels.kueue_queue));
    pod.heed(cluster_.queues().hold_of_local(pod.namespace_name, labels.kueue_queue));
  }
  const auto add = [this](const KubernetesGroup& group) { gangs_.add_made(group); };
  if (awaits_kai_group(in, cluster_.queues(), pod)) {
    groupers_.kai->join(pod, owners_.above(pod), add);
  } else if (VolcanoPodGrouper::awaits_group(pod)) {
    add(groupers_.volcano.join(pod, owners_.above(pod)));
  }
  if (in.unreadable != nullptr) in.unreadable->heed(pod);
  gangs_.join(pod);
}

// What templates and the admission of their pods make; of the objects with these titles, or of all.
bool ImportedWorkload::expand_templates(KubernetesReading& in, const std::vector<std::string>& titles) {
  const auto add_group = [&](KubernetesKind kind, const KubernetesObject& object, const RequestedAmounts& all_pods) {
    KubernetesGroup group;
    if (!read_group(in, kind, object, group)) return false;
    group.minimum.amounts = all_pods;
    if (kind == KubernetesKind::kVolcanoGroup) groupers_.volcano.settle_queue(group);
    gangs_.add_made(group);
    return true;
  };
  return TemplateExpansion(in, owners_, made_objects_, references_, titles, add_group).expand(pods_);
}

// Without `kExpand` only what Kueue has suspended: it waits like a pod.
bool ImportedWorkload::expand(KubernetesReading& in, Templates templates) {
  const bool is_all = templates == Templates::kExpand, is_restricted = is_all && !created_.empty();
  const std::vector<std::string> suspended = kueue_.suspended_owners();
  if (!is_all && !in.planned_gate.empty()) return true;
  if ((is_all || !suspended.empty()) && !expand_templates(in, is_all ? *titles_ : suspended)) return false;
  for (std::size_t i = made_; i < pods_.size(); ++i) {
    KubernetesPod& pod = pods_[i];
    if (pod.state.status == PodStatus::kGated && !is_restricted && kueue_.is_suspended(pod))
      pod.state.status = PodStatus::kPending;
    admit(pod);
    owners_.join(pod);
    join(in, pod);
  }
  return is_restricted || expand_workloads(in);
}

bool ImportedWorkload::expand_workloads(KubernetesReading& in) {
  const std::size_t before = pods_.size();
  if (!kueue_.expand(in, pods_)) return false;
  for (std::size_t i = before; i < pods_.size(); ++i) {
    admit(pods_[i]);
    heed_template(in, pods_[i]);
    owners_.join(pods_[i]);
    join(in, pods_[i]);
  }
  return true;
}

// A snapshot has devices of one size on a node. What a smaller card lacks is taken by a pod that stays there, as those
// of a DaemonSet do; no pod of Kubernetes has such a name.
void ImportedWorkload::stand_in(const LackingCard& card) {
  KubernetesPod& pod = pods_.emplace_back();
  pod.namespace_name = "muster";
  pod.name = texts_.emplace_back(std::string(card.node).append("/card/").append(std::to_string(card.device)));
  pod.owner.top = {"DaemonSet", "cards"};
  pod.owner.is_fixed = true;
  pod.gpus.request = {GpuRequestKind::kMemory, 1, card.memory};
  pod.gpus.devices = {card.device};
  pod.state.status = PodStatus::kRunning;
  pod.state.node = card.node;
  pod.hold("it stands for the memory that a card lacks to the largest one of its node");
}

// What Kueue's policies forbid is known once all pods are.
void ImportedWorkload::forbid_evictions(KubernetesRemarks& remarks) {
  KueuePreemption preemption(cluster_.queues().kueue());
  const auto is_of_kueue = [](const KubernetesPod& pod) {
    return !pod.membership.labels.kueue_queue.empty() && !pod.state.is_left_out;
  };
  for (const KubernetesPod& pod : pods_) {
    if (is_of_kueue(pod) && pod.state.status == PodStatus::kRunning)
      preemption.add_running(pod, gangs_.priority_of(pod));
  }
  for (KubernetesPod& pod : pods_) {
    if (is_of_kueue(pod) && preemption.forbids(pod, gangs_.priority_of(pod), remarks)) gangs_.forbid_evictions(pod);
  }
}

bool ImportedWorkload::settle(ObjectVisitor& visitor) {
  KubernetesReading& in = visitor.reading();
  std::size_t culprit = 0;
  if (!assign_devices(in, pods_, culprit)) return visitor.fail("Pod " + pods_[culprit].full_name());
  const SettledCards settled = settle_cards(in.remarks, cluster_.card_nodes(), pods_);
  cluster_.change_cards(settled.changes);
  for (const LackingCard& card : settled.lacking) stand_in(card);
  cluster_.queues().settle_kueue_names();
  forbid_evictions(in.remarks);
  admission_.hold_beyond_flavors(in, pods_);
  if (!settle_volumes(in, storage_, pods_, made_)) return false;
  hold_rare_ports(pods_, kMostPortResources);
  for (const KubernetesPod& pod : pods_) gangs_.hold(pod);
  gangs_.finish(pods_, cluster_.topologies(), in.remarks);
  return true;
}

}  // namespace muster::kubernetes
