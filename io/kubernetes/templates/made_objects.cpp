#include "io/kubernetes/templates/made_objects.h"

#include <algorithm>
#include <array>

#include "io/kubernetes/grouping/volcano.h"
#include "model/base/require.h"

namespace muster::kubernetes {

namespace {

bool is_object(json::JsonValue value) { return value && value.is(json::JsonKind::kObject); }
bool is_list(json::JsonValue value) { return value && value.is(json::JsonKind::kArray); }

// The members of an object one after another; the last of one key counts.
class Members {
 public:
  Members(json::NumberCursor& numbers, std::string& out) : numbers_(numbers), writer_(out) { writer_.raw("{"); }

  json::JsonWriter& begin(std::string_view key) { return writer_.separate(first_).string(key).raw(":"); }
  void copy(std::string_view key, json::JsonValue value) { write_json(begin(key), numbers_, value); }
  void text(std::string_view key, std::string_view value) { begin(key).string(value); }
  // All members but those that `skip` says.
  template <class Skip>
  void copy_others(json::JsonValue object, Skip skip) {
    if (!is_object(object)) return;
    for (const json::JsonMember member : object.members()) {
      if (!member.value.is(json::JsonKind::kNull) && !skip(member.key)) copy(member.key, member.value);
    }
  }
  void end() { writer_.raw("}"); }

 private:
  json::NumberCursor& numbers_;
  json::JsonWriter writer_;
  bool first_ = true;
};

class PodText {
 public:
  PodText(KubernetesReading& in, const KubernetesObject& pod_template, const PodAdditions& additions,
          const RuntimeClasses& classes, std::string& held)
      : in_(in), template_(pod_template), additions_(additions), held_(held) {
    find_class(classes);
  }

  std::string write() {
    Members members(in_.numbers, text_);
    members.text("apiVersion", "v1");
    members.text("kind", "Pod");
    members.begin("metadata");
    write_metadata();
    members.begin("spec");
    write_spec();
    if (template_.status) members.copy("status", template_.status);
    members.end();
    return std::move(text_);
  }

 private:
  void find_class(const RuntimeClasses& classes) {
    const json::JsonValue name = member_of(template_.spec, "runtimeClassName");
    if (!name || !name.is(json::JsonKind::kString)) return;
    class_ = classes.find(name.string());
    if (class_ != nullptr) return;
    if (classes.empty()) {
      in_.remarks.add("runtimeClassName \"" + std::string(name.string()) +
                          "\": no RuntimeClass is in the input, so its overhead, node selector and tolerations do not "
                          "count",
                      template_);
    } else {
      held_ = "its runtimeClassName \"" + std::string(name.string()) + "\" is no RuntimeClass of the input";
    }
  }

  void write_metadata() {
    Members members(in_.numbers, text_);
    members.text("name", template_.name);
    if (!template_.namespace_name.empty()) members.text("namespace", template_.namespace_name);
    write_texts(members, "labels", additions_.labels);
    write_texts(members, "annotations", additions_.annotations);
    if (!additions_.owner_kind.empty()) {
      json::JsonWriter& writer = members.begin("ownerReferences").raw(R"([{"controller":true,"kind":)");
      writer.string(additions_.owner_kind).raw(R"(,"name":)").string(additions_.owner_name).raw("}]");
    }
    members.copy_others(template_.metadata, [this](std::string_view key) {
      const bool is_owner = key == "ownerReferences" && !additions_.owner_kind.empty();
      return is_owner || key == "name" || key == "namespace" || key == "labels" || key == "annotations";
    });
    members.end();
  }

  void write_texts(Members& members, std::string_view key, const Texts& added) {
    const json::JsonValue own = member_of(template_.metadata, key);
    if (!is_object(own) && added.empty()) {
      if (own) members.copy(key, own);  // the reader rejects it
      return;
    }
    members.begin(key);
    Members all(in_.numbers, text_);
    for (const auto& [name, value] : added) all.text(name, value);
    all.copy_others(own, [&](std::string_view name) {
      return std::ranges::any_of(added, [&](const auto& one) { return one.first == name; });
    });
    all.end();
  }

  void write_spec() {
    Members members(in_.numbers, text_);
    write_default(members, "schedulerName", additions_.scheduler);
    write_default(members, "priorityClassName", additions_.priority_class);
    if (class_ != nullptr) write_class(members);
    const bool is_changed = !additions_.changes.more_containers.empty() || additions_.changes.resources;
    const json::JsonValue containers = member_of(template_.spec, "containers");
    if (is_changed && is_list(containers)) write_containers(members, containers);
    members.copy_others(template_.spec, [&](std::string_view key) {
      return std::ranges::find(written_, key) != written_.end() ||
             (key == "containers" && is_changed && is_list(containers));
    });
    members.end();
  }

  void write_default(Members& members, std::string_view key, std::string_view value) {
    if (value.empty() || member_of(template_.spec, key)) return;
    members.text(key, value);
  }

  void write_class(Members& members) {
    if (class_->overhead && !member_of(template_.spec, "overhead")) members.copy("overhead", class_->overhead);
    if (is_object(class_->node_selector)) write_selector(members);
    if (!is_list(class_->tolerations)) return;
    bool first = true;
    json::JsonWriter& writer = members.begin("tolerations").raw("[");
    for (const json::JsonValue list : {member_of(template_.spec, "tolerations"), class_->tolerations}) {
      if (!is_list(list)) continue;
      for (const json::JsonValue element : list.elements()) write_json(writer.separate(first), in_.numbers, element);
    }
    writer.raw("]");
    written_.push_back("tolerations");
  }

  // Where the two differ, the API server rejects the pod.
  void write_selector(Members& members) {
    const json::JsonValue own = member_of(template_.spec, "nodeSelector");
    members.begin("nodeSelector");
    Members all(in_.numbers, text_);
    all.copy_others(own, [](std::string_view) { return false; });
    all.copy_others(class_->node_selector, [&](std::string_view key) {
      const json::JsonValue one = member_of(own, key), other = member_of(class_->node_selector, key);
      if (!one) return false;
      const bool is_same =
          one.is(json::JsonKind::kString) && other.is(json::JsonKind::kString) && one.string() == other.string();
      if (!is_same) held_ = "its node selector contradicts that of its RuntimeClass: " + std::string(key);
      return true;
    });
    all.end();
    written_.push_back("nodeSelector");
  }

  void write_containers(Members& members, json::JsonValue containers) {
    bool first = true;
    json::JsonWriter& writer = members.begin("containers").raw("[");
    for (const json::JsonValue container : containers.elements()) {
      const json::JsonValue name = member_of(container, "name");
      writer.separate(first);
      const bool is_changed = additions_.changes.resources && name && name.is(json::JsonKind::kString) &&
                              name.string() == additions_.changes.resources_of;
      if (!is_changed) {
        write_json(writer, in_.numbers, container);
        continue;
      }
      Members all(in_.numbers, text_);
      all.copy("resources", additions_.changes.resources);
      all.copy_others(container, [](std::string_view key) { return key == "resources"; });
      all.end();
    }
    writer.raw(additions_.changes.more_containers).raw("]");
  }

  KubernetesReading& in_;
  const KubernetesObject& template_;
  const PodAdditions& additions_;
  std::string& held_;
  const RuntimeClass* class_ = nullptr;
  std::vector<std::string_view> written_;  // keys of the spec
  std::string text_;
};

}  // namespace

KubernetesObject MadeObjects::add(const std::string& text) {
  static constexpr std::size_t kDepth = 1024;
  const auto broken = parsed_.parse(text, {text.size() + 1, kDepth});
  MUSTER_REQUIRE(!broken);
  KubernetesObject object;
  object.value = kept_.emplace_back(parsed_).root();
  for (const json::JsonMember member : object.value.members()) {
    if (member.key == "kind") object.kind = member.value.string();
    if (member.key == "apiVersion") split_api_version(member.value.string(), object);
    if (member.key == "metadata") object.metadata = member.value;
    if (member.key == "spec") object.spec = member.value;
    if (member.key == "status") object.status = member.value;
  }
  const json::JsonValue name = member_of(object.metadata, "name"), space = member_of(object.metadata, "namespace");
  if (name) object.name = name.string();
  if (space) object.namespace_name = space.string();
  return object;
}

bool RuntimeClasses::add(KubernetesReading& in, const KubernetesObject& object) {
  static constexpr std::array<std::string_view, 2> kKeys = {"overhead", "scheduling"},
                                                   kScheduling = {"nodeSelector", "tolerations"};
  std::array<json::JsonValue, 2> found, scheduling;
  RuntimeClass& made = classes_[object.name];
  if (!in.take(object.value, kKeys, found) || !in.take(found[0], "podFixed", made.overhead) ||
      !in.take(found[1], kScheduling, scheduling)) {
    return false;
  }
  made.node_selector = scheduling[0];
  made.tolerations = scheduling[1];
  bool has_any = false;
  return (!made.node_selector || in.expect(made.node_selector, json::JsonKind::kObject)) &&
         in.has_elements(made.tolerations, has_any);
}

const RuntimeClass* RuntimeClasses::find(std::string_view name) const {
  const auto found = classes_.find(name);
  return found == classes_.end() ? nullptr : &found->second;
}

std::string pod_text(KubernetesReading& in, const KubernetesObject& pod_template, const PodAdditions& additions,
                     const RuntimeClasses& classes, std::string& held) {
  return PodText(in, pod_template, additions, classes, held).write();
}

namespace {

constexpr std::string_view kVolcano = "volcano", kCoscheduling = "scheduler-plugins-scheduler";

// The label or annotation of the object as it acts, else of the object of the input.
std::string_view text_with(const PodMaker& maker, std::string_view part, std::string_view key) {
  const std::string_view own = text_in(maker.object.metadata, part, key);
  return own.empty() ? text_in(maker.source.metadata, part, key) : own;
}

bool is_of_set(const PodMaker& maker) { return maker.row->gang == GangMaker::kLeaderWorkerSet; }

std::int64_t pods_of_a_set(const PodMaker& maker) {
  std::int64_t pods = 0;
  for (const PodRole& role : maker.roles) pods += role.size;
  return pods;
}

// Gangs of a job of Volcano that may start with fewer pods need its minimum, or those of its tasks.
std::int64_t members_of_policy(const PodMaker& maker) {
  return maker.policy.min_available ? *maker.policy.min_available : maker.least();
}

bool has_task_minimum(const PodMaker& maker) {
  return std::ranges::any_of(maker.roles, [](const PodRole& role) { return role.minimum.has_value(); });
}

// A policy without a scheduler: the operator may have been told of one.
GangSystem system_of_policy(KubernetesReading& in, const PodMaker& maker) {
  in.remarks.add("schedulingPolicy: its pods are taken for a gang, which is so if their operator has a gang scheduler",
                 maker.source);
  return GangSystem::kCoscheduling;
}

GangSystem system_of(KubernetesReading& in, const PodMaker& maker, std::string_view scheduler, bool in_groups) {
  switch (maker.row->gang) {
    case GangMaker::kVolcanoJob:
      return GangSystem::kVolcano;
    case GangMaker::kLeaderWorkerSet:
      if (in_groups || maker.policy.is_set) return GangSystem::kVolcano;
      break;
    case GangMaker::kRuntime:
      if (maker.policy.system == "volcano") return GangSystem::kVolcano;
      if (maker.policy.system == "coscheduling") return GangSystem::kCoscheduling;
      return GangSystem::kNone;
    case GangMaker::kOperator:
      if (scheduler == kCoscheduling) return GangSystem::kCoscheduling;
      if (scheduler.empty() && maker.policy.is_set) return system_of_policy(in, maker);
      break;
    case GangMaker::kRay:
      if (scheduler != kVolcano && scheduler != in.kai.scheduler &&
          !text_with(maker, "labels", "ray.io/gang-scheduling-enabled").empty()) {
        return GangSystem::kCoscheduling;
      }
      break;
    case GangMaker::kNone:
      return GangSystem::kNone;
  }
  return scheduler == kVolcano ? GangSystem::kVolcano : GangSystem::kNone;
}

std::int64_t members_of(const PodMaker& maker) {
  switch (maker.row->gang) {
    case GangMaker::kVolcanoJob:
    case GangMaker::kOperator:
      return members_of_policy(maker);
    case GangMaker::kRay:
      return maker.least();
    case GangMaker::kRuntime:
      return maker.pods();
    case GangMaker::kLeaderWorkerSet:
      return maker.policy.starts_leader_first ? 1 : pods_of_a_set(maker);
    case GangMaker::kNone:
      break;
  }
  return 1;
}

std::string_view volcano_queue(const PodMaker& maker) {
  if (!maker.policy.queue.empty()) return maker.policy.queue;
  const std::string_view annotated = text_with(maker, "annotations", kVolcanoQueueAnnotation);
  if (!annotated.empty()) return annotated;
  const std::string_view labelled = text_with(maker, "labels", "volcano.sh/queue-name");
  if (!labelled.empty()) return labelled;
  for (const PodRole& role : maker.roles) {
    const std::string_view of_pods = text_in(role.metadata, "annotations", kVolcanoQueueAnnotation);
    if (!of_pods.empty()) return of_pods;
  }
  return {};
}

class GroupText {
 public:
  GroupText(KubernetesReading& in, const PodMaker& maker, std::string_view api_version, const std::string& name)
      : in_(in), writer_(text_) {
    writer_.raw(R"({"apiVersion":)").string(api_version).raw(R"(,"kind":"PodGroup","metadata":{"name":)").string(name);
    writer_.raw(R"(,"namespace":)").string(maker.source.namespace_name);
    for (const std::string_view part : {"annotations", "labels"}) {
      const json::JsonValue own = member_of(maker.source.metadata, part);
      if (!own || !own.is(json::JsonKind::kObject)) continue;
      writer_.raw(",").string(part).raw(":");
      write_json(writer_, in.numbers, own);
    }
    writer_.raw("}");
  }

  void begin_spec(std::int64_t members) { writer_.raw(R"(,"spec":{"minMember":)").integer(members); }
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) writer_.raw(",").string(key).raw(":").string(value);
  }
  void copy(std::string_view key, json::JsonValue value) {
    if (!value) return;
    writer_.raw(",").string(key).raw(":");
    write_json(writer_, in_.numbers, value);
  }
  void tasks(const PodMaker& maker) {
    bool first = true;
    writer_.raw(R"(,"minTaskMember":{)");
    for (const PodRole& role : maker.roles) writer_.separate(first).string(role.name).raw(":").integer(role.least());
    writer_.raw("}");
  }
  std::string end() {
    writer_.raw("}}");
    return std::move(text_);
  }

 private:
  KubernetesReading& in_;
  std::string text_;
  json::JsonWriter writer_;
};

}  // namespace

bool choose_gang(KubernetesReading& in, const PodMaker& maker, std::string_view scheduler, bool in_groups,
                 GangChoice& out) {
  out.system = system_of(in, maker, scheduler, in_groups);
  if (out.system == GangSystem::kNone) return true;
  out.is_per_set = is_of_set(maker);
  out.members =
      out.system == GangSystem::kCoscheduling && !maker.policy.min_available ? maker.least() : members_of(maker);
  out.counts_all_resources = out.is_per_set || maker.row->gang == GangMaker::kRay;
  return true;
}

std::string_view default_scheduler(const PodMaker& maker) {
  if (maker.row->gang == GangMaker::kVolcanoJob) {
    const json::JsonValue name = member_of(maker.object.spec, "schedulerName");
    return name && name.is(json::JsonKind::kString) ? name.string() : kVolcano;
  }
  if (maker.row->gang != GangMaker::kRay) return {};
  const std::string_view name = text_with(maker, "labels", "ray.io/scheduler-name");
  return name == "scheduler-plugins" ? kCoscheduling : name;
}

std::string gang_name(const PodMaker& maker, const GangChoice& choice, std::int64_t set) {
  return choice.is_per_set ? maker.name + "-" + std::to_string(set) : maker.name;
}

void mark_members(const GangChoice& choice, const PodRole& role, const std::string& gang, PodAdditions& additions) {
  switch (choice.system) {
    case GangSystem::kVolcano:
      additions.annotations.emplace_back("scheduling.k8s.io/group-name", gang);
      if (!role.name.empty()) additions.annotations.emplace_back("volcano.sh/task-spec", role.name);
      return;
    case GangSystem::kCoscheduling:
      additions.labels.emplace_back("scheduling.x-k8s.io/pod-group", gang);
      return;
    case GangSystem::kNone:
      return;
  }
}

std::string group_text(KubernetesReading& in, const PodMaker& maker, const GangChoice& choice, const std::string& gang,
                       KubernetesKind& kind) {
  if (choice.system == GangSystem::kVolcano) {
    kind = KubernetesKind::kVolcanoGroup;
    GroupText group(in, maker, "scheduling.volcano.sh/v1beta1", gang);
    group.begin_spec(choice.members);
    // A minimum below the sum of the tasks' minimums counts alone.
    if (maker.row->gang == GangMaker::kVolcanoJob && has_task_minimum(maker) && maker.least() <= choice.members)
      group.tasks(maker);
    group.text("queue", volcano_queue(maker));
    group.text("priorityClassName", maker.policy.priority_class);
    group.copy("minResources", maker.policy.min_resources);
    group.copy("networkTopology", maker.policy.network_topology);
    return group.end();
  }
  if (choice.system != GangSystem::kCoscheduling) return {};
  kind = KubernetesKind::kCoschedulingGroup;
  GroupText group(in, maker, "scheduling.x-k8s.io/v1alpha1", gang);
  group.begin_spec(choice.members);
  group.copy("minResources", maker.policy.min_resources);
  group.copy("scheduleTimeoutSeconds", maker.policy.timeout);
  return group.end();
}

}  // namespace muster::kubernetes
