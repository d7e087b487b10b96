#include "io/kubernetes/templates/made_gangs.h"

#include <algorithm>

#include "io/kubernetes/grouping/volcano.h"

namespace muster::kubernetes {

namespace {

constexpr std::string_view kVolcano = "volcano", kCoscheduling = "scheduler-plugins-scheduler";

// The label or annotation of the object as it acts, else of the object of the input.
std::string_view text_of(const PodMaker& maker, std::string_view part, std::string_view key) {
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
          !text_of(maker, "labels", "ray.io/gang-scheduling-enabled").empty()) {
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
  const std::string_view annotated = text_of(maker, "annotations", kVolcanoQueueAnnotation);
  if (!annotated.empty()) return annotated;
  const std::string_view labelled = text_of(maker, "labels", "volcano.sh/queue-name");
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
      write_json(writer_, in.document, own);
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
    write_json(writer_, in_.document, value);
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
  const std::string_view name = text_of(maker, "labels", "ray.io/scheduler-name");
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
