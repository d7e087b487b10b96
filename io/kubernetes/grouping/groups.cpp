#include "io/kubernetes/grouping/groups.h"

#include "model/snapshot/subgroup_names.h"

namespace muster::kubernetes {

namespace {

void begin_group(const KubernetesObject& object, KubernetesGroup& group) {
  group.identity.namespace_name = object.namespace_name;
  group.identity.name = object.name;
  group.object = object.value;
  group.times.created = object.created;
}

// KAI plans no pod of a group that asks for a Topology, or a level of it, that does not exist.
bool read_topology(KubernetesReading& in, json::JsonValue constraint, const KubernetesTopologies& topologies,
                   TopologyRequest& out, std::string_view& held) {
  static constexpr std::array<std::string_view, 3> kKeys = {"preferredTopologyLevel", "requiredTopologyLevel",
                                                            "topology"};
  std::array<json::JsonValue, 3> found;
  std::string_view preferred, required, topology;
  if (!in.take(constraint, kKeys, found) || !in.text(found[0], preferred) || !in.text(found[1], required) ||
      !in.text(found[2], topology)) {
    return false;
  }
  if (required.empty() && preferred.empty()) return true;
  out = topologies.of_kai(topology, required, preferred);
  if (!topology.empty() && !topologies.has_kai(topology)) {
    held = "its group names a Topology that is not in the input";
  } else if (required.empty() != out.required.empty() || preferred.empty() != out.preferred.empty()) {
    held = topology.empty() ? "its group asks for a topology level that no Topology in the input has"
                            : "its group asks for a topology level that its Topology does not have";
  }
  return true;
}

bool read_kai_subgroup(KubernetesReading& in, json::JsonValue object, const KubernetesTopologies& topologies,
                       SnapshotSubgroup& out, std::string_view& held) {
  static constexpr std::array<std::string_view, 5> kKeys = {"minMember", "minSubGroup", "name", "parent",
                                                            "topologyConstraint"};
  std::array<json::JsonValue, 5> found;
  if (!in.expect(object, json::JsonKind::kObject) || !in.take(object, kKeys, found) ||
      !in.count(found[0], out.min_member) || !in.count(found[1], out.min_subgroups) || !in.text(found[2], out.name) ||
      !in.text(found[3], out.parent) || !read_topology(in, found[4], topologies, out.topology, held)) {
    return false;
  }
  return !out.name.empty() || in.fail_missing(object, "name");
}

bool read_kai_subgroups(KubernetesReading& in, json::JsonValue list, const KubernetesTopologies& topologies,
                        KubernetesGroup& group) {
  bool has_any = false;
  if (!in.has_elements(list, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue element : list.elements()) {
    if (!read_kai_subgroup(in, element, topologies, group.subgroups.emplace_back(), group.held)) return false;
  }
  const SubgroupNames names(group.subgroups);
  for (SnapshotSubgroup& subgroup : group.subgroups) {
    if (names.is_inner(subgroup.name)) {
      subgroup.min_member.reset();
    } else {
      subgroup.min_subgroups.reset();
      if (!subgroup.min_member) subgroup.min_member = 1;  // as the group itself
    }
  }
  return true;
}

// A negative one delays nothing.
bool read_preemption_delay(KubernetesReading& in, json::JsonValue value, KubernetesGroup& group) {
  if (!value || (value.is(json::JsonKind::kString) && value.string().starts_with('-'))) return true;
  return in.read_duration(value, group.times.preemption_delay);
}

// A word that is unknown protects the pods of the group.
bool read_preemptibility(KubernetesReading& in, const KubernetesObject& object, json::JsonValue value,
                         KubernetesGroup& group) {
  std::string_view word;
  if (!in.text(value, word)) return false;
  if (word.empty() || set_preemptibility(word, group)) return true;
  if (in.strict) return in.fail_value(value, "preemptibility must be preemptible, non-preemptible or semi-preemptible");
  group.priority.preemptible = false;
  in.remarks.add(
      "spec.preemptibility \"" + std::string(word) + "\" is unknown: Muster does not evict the pods of its gang",
      object);
  return true;
}

bool read_min_resources(KubernetesReading& in, json::JsonValue value, KubernetesGroup& group) {
  if (value && !in.expect(value, json::JsonKind::kObject)) return false;
  group.minimum.resources = value;
  return true;
}

// Each task with its own minimum. A minimum beyond their sum cannot be expressed.
bool read_tasks(KubernetesReading& in, json::JsonValue tasks, KubernetesGroup& group) {
  if (!tasks) return true;
  if (!in.expect(tasks, json::JsonKind::kObject)) return false;
  SubgroupNames names(group.subgroups);
  std::int64_t sum = 0;
  for (const json::JsonMember member : tasks.members()) {
    if (!names.add(member.key)) return in.fail_duplicate(member.value, member.key);
    SnapshotSubgroup& task = group.subgroups.emplace_back();
    task.name = member.key;
    if (task.name.empty()) return in.fail_value(member.value, "a task must have a name");
    if (!in.count(member.value, task.min_member)) return false;
    sum += *task.min_member;
  }
  if (!group.subgroups.empty() && *group.minimum.members > sum)
    group.held = "its PodGroup has a minMember greater than the sum of minTaskMember";
  return true;
}

bool read_network_topology(KubernetesReading& in, const KubernetesObject& object, json::JsonValue value,
                           KubernetesGroup& group) {
  if (!value) return true;
  json::JsonValue mode;
  std::string_view word = "hard";  // Volcano's default
  if (!in.take(value, "mode", mode) || !in.text(mode, word)) return false;
  if (word == "soft") {
    in.remarks.add("networkTopology of mode soft is ignored", object);
  } else {
    group.held = "its PodGroup has networkTopology of mode hard, which Muster does not plan";
  }
  return true;
}

// The condition on pods of a group of the Workload API: all of a gang, or independent pods. `timeout` of a gang is in
// no release but in use.
bool read_policy(KubernetesReading& in, json::JsonValue policy, KubernetesGroup& group) {
  static constexpr std::array<std::string_view, 2> kKeys = {"basic", "gang"};
  static constexpr std::array<std::string_view, 2> kGangKeys = {"minCount", "timeout"};
  std::array<json::JsonValue, 2> found, gang;
  if (!in.take(policy, kKeys, found) || !in.take(found[1], kGangKeys, gang)) return false;
  group.is_basic = found[0] && !found[1];
  if (!found[0] && !found[1]) group.held = "its pod group has neither a basic nor a gang policy";
  Nanoseconds duration = 0;
  if (gang[1] && !in.read_duration(gang[1], duration)) return false;
  group.times.timeout = gang[1];
  return in.count(gang[0], group.minimum.members);
}

// Of the Workload API: pods of the group leave one by one, or all together; objects of their names, or words. Another
// one protects its pods.
bool read_disruption_mode(KubernetesReading& in, const KubernetesObject& object, json::JsonValue value,
                          KubernetesGroup& group) {
  static constexpr std::array<std::string_view, 2> kModes = {"all", "single"};
  if (!value) return true;
  std::array<json::JsonValue, 2> found;
  std::string_view word;
  if (value.is(json::JsonKind::kString)) {
    word = value.string();
  } else if (!in.take(value, kModes, found)) {
    return false;
  } else if (found[0] && !found[1]) {
    word = "all";
  } else if (found[1] && !found[0]) {
    word = "single";
  }
  if (word == "single" || word == "Pod") return true;
  if (word == "all" || word == "PodGroup") {
    group.disruption = Disruption::kWhole;
    if (group.is_basic) group.minimum.members = 0;  // its pods start one by one
    group.is_basic = false;
    return true;
  }
  if (value.is(json::JsonKind::kObject) && value.size() == 0) return true;
  group.priority.preemptible = false;
  in.remarks.add("a disruptionMode other than single and all is unknown: Muster does not evict the pods of its gang",
                 object);
  return true;
}

}  // namespace

bool set_preemptibility(std::string_view word, KubernetesGroup& group) {
  if (word != "preemptible" && word != "non-preemptible" && word != "semi-preemptible") return false;
  group.priority.preemptible = word != "non-preemptible";
  if (word == "semi-preemptible") group.disruption = Disruption::kSurplus;
  return true;
}

bool read_grace_period(KubernetesReading& in, json::JsonValue value, KubernetesGroup& group) {
  if (!value) return true;
  if (!in.expect(value, json::JsonKind::kString)) return false;
  group.times.grace_period = value;
  if (value.string().starts_with('-')) return true;
  Nanoseconds duration = 0;
  return in.read_duration(value, duration);
}

std::string GroupIdentity::full_name() const {
  std::string text(namespace_name);
  text.append("/").append(name);
  if (system == GroupSystem::kWorkload) text.append("/").append(group);
  if (!replica.empty()) text.append("/").append(replica);
  return text;
}

bool read_kai_group(KubernetesReading& in, const KubernetesObject& object, const KubernetesTopologies& topologies,
                    KubernetesGroup& group) {
  static constexpr std::array<std::string_view, 9> kSpec = {
      "minMember", "minSubGroup",        "preemptibility", "priorityClassName", "queue", "stalenessGracePeriod",
      "subGroups", "topologyConstraint", "preemptionDelay"};
  static constexpr std::array<std::string_view, 2> kAnnotations = {"kai.scheduler/last-eviction-timestamp",
                                                                   "kai.scheduler/stale-podgroup-timestamp"};
  const std::array<std::string_view, 3> label_keys = {in.kai.queue_label, "runai/queue", kKaiPoolLabel};
  begin_group(object, group);
  group.identity.system = GroupSystem::kKai;
  std::array<json::JsonValue, 9> spec;
  std::array<json::JsonValue, 3> labelled;
  std::array<json::JsonValue, 2> annotated;
  json::JsonValue labels, annotations;
  if (!in.take(object.spec, kSpec, spec) || !in.take(object.metadata, "labels", labels) ||
      !in.take(labels, label_keys, labelled) || !in.take(object.metadata, "annotations", annotations) ||
      !in.take(annotations, kAnnotations, annotated) || !in.instant(annotated[0], group.times.last_eviction) ||
      !in.instant(annotated[1], group.times.stale_since) || !read_preemption_delay(in, spec[8], group) ||
      !in.count(spec[0], group.minimum.members) || !in.count(spec[1], group.minimum.subgroups) ||
      !read_preemptibility(in, object, spec[2], group) || !in.text(spec[3], group.priority.class_name) ||
      !in.text(spec[4], group.queue) || !read_grace_period(in, spec[5], group) ||
      !read_kai_subgroups(in, spec[6], topologies, group) ||
      !read_topology(in, spec[7], topologies, group.topology, group.held)) {
    return false;
  }
  if (!group.minimum.members) group.minimum.members = 1;
  if (group.subgroups.empty()) {
    group.minimum.subgroups.reset();
  } else {
    group.minimum.members.reset();
  }
  if (group.queue.empty() && !in.text(labelled[0], group.queue)) return false;
  return in.text(labelled[1], group.runai_queue) && in.text(labelled[2], group.node_pool);
}

bool delay_preemption(KubernetesGroup& group, Nanoseconds now) {
  Nanoseconds since = group.times.created.empty() ? 0 : *parse_instant(group.times.created);
  if (!group.times.last_eviction.empty()) since = std::max(since, *parse_instant(group.times.last_eviction));
  if (group.times.preemption_delay == 0 || now - since >= group.times.preemption_delay) return false;
  return group.priority.never_preempts = group.priority.has_policy = true;
}

// Annotations and labels of a PodGroup, or of a pod or owner whose group does not exist yet.
void read_volcano_metadata(json::JsonValue metadata, KubernetesGroup& group) {
  for (const std::string_view part : {"annotations", "labels"}) {
    const json::JsonValue value = member_of(member_of(metadata, part), "volcano.sh/preemptable");
    if (!value || !value.is(json::JsonKind::kString) || group.priority.preemptible) continue;
    group.priority.preemptible = allows_preemption(value.string());
  }
}

bool read_volcano_group(KubernetesReading& in, const KubernetesObject& object, KubernetesGroup& group) {
  static constexpr std::array<std::string_view, 7> kSpec = {
      "minMember", "minResources", "minTaskMember", "networkTopology", "priorityClassName", "queue", "subGroupPolicy"};
  begin_group(object, group);
  group.identity.system = GroupSystem::kVolcano;
  std::array<json::JsonValue, 7> spec;
  if (!in.take(object.spec, kSpec, spec) || !in.count(spec[0], group.minimum.members)) return false;
  if (!group.minimum.members) group.minimum.members = 0;
  if (!read_min_resources(in, spec[1], group) || !read_tasks(in, spec[2], group) ||
      !read_network_topology(in, object, spec[3], group) || !in.text(spec[4], group.priority.class_name) ||
      !in.text(spec[5], group.queue)) {
    return false;
  }
  read_volcano_metadata(object.metadata, group);
  if (spec[6] && !(spec[6].is(json::JsonKind::kArray) && spec[6].size() == 0))
    group.held = "its PodGroup has subGroupPolicy, which Muster does not plan";
  if (group.queue.empty()) group.queue = "default";
  if (!group.subgroups.empty()) group.minimum.members.reset();
  return true;
}

bool read_coscheduling_group(KubernetesReading& in, const KubernetesObject& object, KubernetesGroup& group) {
  static constexpr std::array<std::string_view, 4> kSpec = {"minMember", "minResources", "priorityClassName",
                                                            "scheduleTimeoutSeconds"};
  begin_group(object, group);
  std::array<json::JsonValue, 4> spec;
  json::JsonValue started;
  if (!in.take(object.spec, kSpec, spec) || !in.take(object.status, "scheduleStartTime", started) ||
      !in.instant(started, group.times.created) || !in.count(spec[0], group.minimum.members) ||
      !read_min_resources(in, spec[1], group)) {
    return false;
  }
  Nanoseconds duration = 0;
  if (spec[3] && !in.read_duration(spec[3], duration)) return false;
  group.times.timeout = spec[3];
  return group.identity.system != GroupSystem::kCoschedulingSigs || in.text(spec[2], group.priority.class_name);
}

bool read_pod_group(KubernetesReading& in, const KubernetesObject& object, KubernetesTopologies& topologies,
                    KubernetesGroup& group) {
  static constexpr std::array<std::string_view, 8> kSpec = {
      "parentCompositePodGroupName", "preemptionPolicy", "priority",      "priorityClassName", "resourceClaims",
      "schedulingConstraints",       "schedulingPolicy", "disruptionMode"};
  begin_group(object, group);
  group.identity.system = GroupSystem::kPodGroup;
  std::array<json::JsonValue, 8> spec;
  json::JsonValue levels;
  std::string_view parent, policy;
  bool has_claims = false, has_levels = false;
  if (!in.take(object.spec, kSpec, spec) || !in.text(spec[0], parent) || !in.text(spec[1], policy) ||
      !in.priority(spec[2], group.priority.value) || !in.text(spec[3], group.priority.class_name) ||
      !in.has_elements(spec[4], has_claims) || !in.take(spec[5], "topology", levels) ||
      !in.has_elements(levels, has_levels) || !read_policy(in, spec[6], group) ||
      !read_disruption_mode(in, object, spec[7], group)) {
    return false;
  }
  group.priority.has_policy = !policy.empty() && object.version != "v1alpha2";
  group.priority.never_preempts = group.priority.has_policy && policy == "Never";
  if (!parent.empty()) group.held = "its PodGroup is part of a CompositePodGroup, which Muster does not plan";
  if (has_claims) group.held = "its PodGroup has resource claims, which Muster does not plan";
  if (!has_levels) return true;
  const json::JsonValue first = *levels.elements().begin();
  json::JsonValue key;
  if (!in.expect(first, json::JsonKind::kObject) || !in.take(first, "key", key) ||
      !in.text(key, group.topology.required))
    return false;
  if (group.topology.required.empty()) return in.fail_missing(first, "key");
  group.topology.topology = topologies.add_key(group.topology.required);
  if (group.is_basic) group.held = "its pod group has a topology constraint without a gang, which Muster does not plan";
  return true;
}

bool read_workload(KubernetesReading& in, const KubernetesObject& object, std::vector<KubernetesGroup>& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"name", "policy"};
  json::JsonValue groups;
  bool has_any = false;
  if (!in.take(object.spec, "podGroups", groups) || !in.has_elements(groups, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue element : groups.elements()) {
    KubernetesGroup group;
    begin_group(object, group);
    group.identity.system = GroupSystem::kWorkload;
    group.times.created = {};  // that of its pods
    std::array<json::JsonValue, 2> found;
    if (!in.expect(element, json::JsonKind::kObject) || !in.take(element, kKeys, found) ||
        !in.text(found[0], group.identity.group) || !read_policy(in, found[1], group)) {
      return false;
    }
    if (group.identity.group.empty()) return in.fail_missing(element, "name");
    out.push_back(std::move(group));
  }
  return true;
}

}  // namespace muster::kubernetes
