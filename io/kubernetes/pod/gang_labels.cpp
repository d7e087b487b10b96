#include "io/kubernetes/pod/gang_labels.h"

#include <limits>

namespace muster::kubernetes {

namespace {

constexpr std::string_view kGangGroups = "gang.scheduling.koordinator.sh/groups";
constexpr std::string_view kMatchPolicy = "gang.scheduling.koordinator.sh/match-policy";
constexpr std::string_view kMatchPolicyAlias = "pod-group.scheduling.sigs.k8s.io/match-policy";
constexpr std::string_view kNetworkTopology = "gang.scheduling.koordinator.sh/network-topology-spec";
constexpr std::string_view kYunikorn = "yunikorn";
constexpr std::string_view kUnnamedApplication = "yunikorn-autogen";  // of the pods that name none

// Layers of the network in which all of a gang must be; preferred ones do not restrict it.
bool read_network_topology(KubernetesReading& in, json::JsonValue value, std::string_view& held) {
  std::string_view text;
  if (!in.text(value, text)) return false;
  if (text.find("MustGather") != std::string_view::npos) {
    keep_first_reason(
        held,
        "its annotation gang.scheduling.koordinator.sh/network-topology-spec has a layer with MustGather, "
        "which Muster does not plan");
  }
  return true;
}

// The first text that is set. In the order of YuniKorn.
bool read_first(KubernetesReading& in, std::initializer_list<json::JsonValue> values, std::string_view& out) {
  for (const json::JsonValue value : values) {
    if (!out.empty()) return true;
    if (!in.text(value, out)) return false;
  }
  return true;
}

struct KoordinatorParts {
  json::JsonValue name, min_available, groups, match_policy, match_policy_alias, network_topology, pod_group;
};

bool read_koordinator(KubernetesReading& in, const KoordinatorParts& parts, GroupMembership& out,
                      std::string_view& held) {
  std::string_view pod_group, name;
  DialectLabels& labels = out.dialect;
  if (!in.text(parts.pod_group, pod_group) || !in.text(parts.name, name) ||
      !in.text(parts.groups, labels.gang_groups) ||
      !read_first(in, {parts.match_policy, parts.match_policy_alias}, labels.match_policy)) {
    return false;
  }
  if (out.reference.system != GroupSystem::kNone || (pod_group.empty() && name.empty())) return true;
  if (!pod_group.empty()) {
    out.reference = {GroupSystem::kCoschedulingSigs, pod_group, {}, {}};
    return true;
  }
  out.reference = {GroupSystem::kKoordinator, name, {}, {}};
  std::int64_t least = 0;
  if (!parts.min_available) {
    keep_first_reason(held, "it has no annotation gang.scheduling.koordinator.sh/min-available, which its gang needs");
  } else if (!in.digits(parts.min_available, least)) {
    return false;
  } else if (least > std::numeric_limits<std::int32_t>::max()) {
    return in.fail_value(parts.min_available, "is too large for a number of pods");
  }
  out.labels.min_available = static_cast<std::int32_t>(least);
  return read_network_topology(in, parts.network_topology, held);
}

// Pods of an application; whether it has task groups is known when all its pods are.
void join_application(std::string_view scheduler, std::string_view application, GroupMembership& out) {
  const bool has_group = !out.dialect.task_group.empty() || !out.dialect.task_groups.empty();
  if (out.reference.system != GroupSystem::kNone || (scheduler != kYunikorn && !has_group)) return;
  if (application.empty() && !has_group) return;
  out.reference = {GroupSystem::kYunikorn, application.empty() ? kUnnamedApplication : application, {}, {}};
}

}  // namespace

bool read_dialect_labels(KubernetesReading& in, const PodParts& parts, GroupMembership& out, std::string_view& held) {
  static constexpr std::array<std::string_view, 13> kAnnotations = {"gang.scheduling.koordinator.sh/name",
                                                                    "gang.scheduling.koordinator.sh/min-available",
                                                                    kGangGroups,
                                                                    kMatchPolicy,
                                                                    kMatchPolicyAlias,
                                                                    kNetworkTopology,
                                                                    "yunikorn.apache.org/allow-preemption",
                                                                    "yunikorn.apache.org/app-id",
                                                                    "yunikorn.apache.org/placeholder",
                                                                    "internal.yunikorn.apache.org/placeholder",
                                                                    "yunikorn.apache.org/schedulingPolicyParameters",
                                                                    "yunikorn.apache.org/task-group-name",
                                                                    "yunikorn.apache.org/task-groups"};
  static constexpr std::array<std::string_view, 6> kLabels = {"applicationId",
                                                              "pod-group.scheduling.sigs.k8s.io",
                                                              "quota.scheduling.koordinator.sh/preemptible",
                                                              "scheduling.koordinator.sh/disable-preemptible",
                                                              "spark-app-selector",
                                                              "yunikorn.apache.org/app-id"};
  std::array<json::JsonValue, 13> noted;
  std::array<json::JsonValue, 6> labelled;
  if (!in.take(parts.all_annotations, kAnnotations, noted) || !in.take(parts.all_labels, kLabels, labelled))
    return false;
  DialectLabels& labels = out.dialect;
  std::string_view allows, application, placeholder, preemptible, fixed, scheduler;
  if (!in.text(noted[6], allows) || !read_first(in, {noted[8], noted[9]}, placeholder) ||
      !in.text(noted[10], labels.policy_parameters) || !in.text(noted[11], labels.task_group) ||
      !in.text(noted[12], labels.task_groups) || !in.text(labelled[2], preemptible) || !in.text(labelled[3], fixed) ||
      !in.text(parts.spec[PodParts::kSchedulerName], scheduler) ||
      !read_first(in, {labelled[5], noted[7], labelled[0], labelled[4]}, application)) {
    return false;
  }
  labels.is_placeholder = placeholder == "true";
  labels.is_koordinator = scheduler == "koord-scheduler";
  if (allows == "true" || allows == "false") labels.allows_preemption = allows == "true";
  if (preemptible == "false" || fixed == "true") labels.allows_preemption = false;
  if (!read_koordinator(in, {noted[0], noted[1], noted[2], noted[3], noted[4], noted[5], labelled[1]}, out, held))
    return false;
  join_application(scheduler, application, out);
  return true;
}

bool read_koordinator_annotations(KubernetesReading& in, const KubernetesObject& object, DialectLabels& out,
                                  std::string_view& held) {
  static constexpr std::array<std::string_view, 5> kKeys = {kGangGroups, kMatchPolicy, kMatchPolicyAlias,
                                                            kNetworkTopology, "gang.scheduling.koordinator.sh/mode"};
  json::JsonValue annotations;
  std::array<json::JsonValue, 5> found;
  if (!in.take(object.metadata, "annotations", annotations) || !in.take(annotations, kKeys, found) ||
      !in.text(found[0], out.gang_groups) || !read_first(in, {found[1], found[2]}, out.match_policy)) {
    return false;
  }
  out.is_koordinator = found[0] || found[1] || found[2] || found[3] || found[4];
  return read_network_topology(in, found[3], held);
}

}  // namespace muster::kubernetes
