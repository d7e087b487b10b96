#include "io/kubernetes/templates/special_kinds.h"

#include <algorithm>
#include <array>
#include <utility>

namespace muster::kubernetes {

namespace {

constexpr std::string_view kDefaultAutoscaler =
    R"({"limits":{"cpu":"500m","memory":"512Mi"},"requests":{"cpu":"500m","memory":"512Mi"}})";
constexpr std::string_view kDefaultSubmitter =
    R"({"containers":[{"name":"ray-job-submitter","resources":)"
    R"({"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m","memory":"200Mi"}}}]})";

constexpr std::array<LabelPattern, 3> kIndexedJobLabels = {{{"batch.kubernetes.io/job-name", "{name}"},
                                                            {"job-name", "{name}"},
                                                            {"batch.kubernetes.io/job-completion-index", "{pod}"}}};

constexpr std::array<LabelPattern, 5> kCliqueLabels = {{{"app.kubernetes.io/managed-by", "grove-operator"},
                                                        {"app.kubernetes.io/part-of", "{name}"},
                                                        {"grove.io/podclique", "{role}"},
                                                        {"grove.io/podgang", "{gang}"},
                                                        {"grove.io/podclique-pod-index", "{pod}"}}};
constexpr RoleRow kClique = {
    .name = "", .role_label = "grove.io/podclique", .pod_name = "{role}", .is_counted = true, .labels = kCliqueLabels};
constexpr RoleRow kSubmitter = {
    .name = "submitter", .role_label = "job-name", .pod_name = "{name}", .is_counted = true};

bool limit_to_completions(KubernetesReading& in, json::JsonValue job_spec, std::int64_t succeeded, std::int64_t& pods) {
  std::optional<std::int32_t> completions, parallelism;
  if (!take_count(in, job_spec, "completions", completions) || !take_count(in, job_spec, "parallelism", parallelism))
    return false;
  if (completions) {
    pods = std::max<std::int64_t>(0, std::min<std::int64_t>(pods, *completions - succeeded));
  } else if (parallelism && succeeded > 0) {
    pods = 0;  // of a work queue that ends
  } else if (!parallelism) {
    pods = std::max<std::int64_t>(0, 1 - succeeded);
  }
  return true;
}

}  // namespace

bool adjust_job(KubernetesReading& in, const PodMaker& maker, PodRole& role) {
  std::optional<std::int32_t> succeeded;
  std::string_view mode;
  const bool has_status = maker.source.kind == maker.object.kind;
  if (has_status && !take_count(in, maker.source.status, "succeeded", succeeded)) return false;
  if (!take_text(in, role.value, "completionMode", mode)) return false;
  if (mode == "Indexed") role.names.labels = kIndexedJobLabels;
  return limit_to_completions(in, role.value, succeeded.value_or(0), role.size);
}

bool adjust_ordinals(KubernetesReading& in, const PodMaker&, PodRole& role) {
  std::optional<std::int32_t> start;
  if (!take_count(in, role.value, "ordinals.start", start)) return false;
  role.first_pod = start.value_or(0);
  return true;
}

bool adjust_replicated_job(KubernetesReading& in, const PodMaker&, PodRole& role) {
  json::JsonValue job_spec;
  return take_path(in, role.value, "template.spec", job_spec) && limit_to_completions(in, job_spec, 0, role.size);
}

bool adjust_leader(KubernetesReading& in, const PodMaker& maker, PodRole& role) {
  std::optional<std::int32_t> replicas, size;
  json::JsonValue own, of_workers;
  if (!take_count(in, maker.object.spec, "replicas", replicas) || !take_count(in, role.value, "size", size) ||
      !take_path(in, role.value, "leaderTemplate", own) || !take_path(in, role.value, "workerTemplate", of_workers)) {
    return false;
  }
  role.sets = replicas.value_or(1);
  role.size = std::min(size.value_or(1), 1);
  return own || (in.take(of_workers, "metadata", role.metadata) && in.take(of_workers, "spec", role.spec));
}

bool adjust_workers(KubernetesReading& in, const PodMaker& maker, PodRole& role) {
  std::optional<std::int32_t> replicas, size;
  if (!take_count(in, maker.object.spec, "replicas", replicas) || !take_count(in, role.value, "size", size))
    return false;
  role.sets = replicas.value_or(1);
  role.size = std::max(0, size.value_or(1) - 1);
  role.first_pod = 1;
  return true;
}

bool read_leader_policy(KubernetesReading& in, PodMaker& maker) {
  std::string_view startup;
  if (!take_text(in, maker.object.spec, "startupPolicy", startup)) return false;
  maker.policy.starts_leader_first = startup == "LeaderReady";
  maker.policy.queue = text_in(maker.object.metadata, "annotations", "scheduling.volcano.sh/queue-name");
  maker.policy.is_set = !maker.policy.queue.empty();
  constexpr std::string_view kGroup = "scheduling.k8s.io/group-name";
  maker.policy.is_set = maker.policy.is_set || !text_in(maker.object.metadata, "annotations", kGroup).empty();
  for (const PodRole& role : maker.roles)
    maker.policy.is_set = maker.policy.is_set || !text_in(role.metadata, "annotations", kGroup).empty();
  return true;
}

bool adjust_launcher(KubernetesReading& in, const PodMaker& maker, PodRole& role) {
  std::string_view policy;
  if (role.name != "launcher") return true;
  if (!take_text(in, maker.object.spec, "launcherCreationPolicy", policy)) return false;
  role.names.pattern = "{name}-{role}";
  role.names.is_counted = true;
  role.is_outside = policy == "WaitForWorkersReady";
  return true;
}

bool adjust_ray_head(KubernetesReading& in, const PodMaker& maker, PodRole& role) {
  json::JsonValue autoscales, resources;
  bool is_on = false;
  if (!in.take(maker.object.spec, "enableInTreeAutoscaling", autoscales) || !in.flag(autoscales, is_on) ||
      !take_path(in, maker.object.spec, "autoscalerOptions.resources", resources)) {
    return false;
  }
  if (!is_on) return true;
  json::JsonWriter writer(role.changes.more_containers);
  writer.raw(R"(,{"name":"autoscaler","resources":)");
  if (resources) {
    write_json(writer, in.numbers, resources);
  } else {
    writer.raw(kDefaultAutoscaler);
  }
  writer.raw("}");
  return true;
}

bool adjust_ray_workers(KubernetesReading& in, const PodMaker& maker, PodRole& role) {
  std::optional<std::int32_t> replicas, least, most;
  json::JsonValue suspended, autoscales;
  bool is_suspended = false, is_elastic = false;
  if (!take_count(in, role.value, "replicas", replicas) || !take_count(in, role.value, "minReplicas", least) ||
      !take_count(in, role.value, "maxReplicas", most) || !in.take(role.value, "suspend", suspended) ||
      !in.flag(suspended, is_suspended) || !in.take(maker.object.spec, "enableInTreeAutoscaling", autoscales) ||
      !in.flag(autoscales, is_elastic)) {
    return false;
  }
  role.sets = std::max(replicas.value_or(0), least.value_or(0));
  if (most) role.sets = std::min<std::int64_t>(role.sets, *most);
  if (is_suspended) role.sets = 0;
  if (is_elastic) role.minimum = std::min(role.sets, std::int64_t{least.value_or(0)}) * role.size;
  return true;
}

bool read_submitter(KubernetesReading& in, PodMaker& maker) {
  std::string_view mode;
  json::JsonValue selector, pod_template;
  PodRole role;
  if (!take_text(in, maker.source.spec, "submissionMode", mode) ||
      !in.take(maker.source.spec, "clusterSelector", selector) ||
      !in.take(maker.source.spec, "submitterPodTemplate", pod_template) ||
      !in.take(pod_template, "metadata", role.metadata) || !in.take(pod_template, "spec", role.spec)) {
    return false;
  }
  if (selector && selector.size() > 0) maker.cannot = "its clusterSelector names a RayCluster that exists already";
  if (!mode.empty() && mode != "K8sJobMode") return true;
  role.row = &kSubmitter;
  role.name = kSubmitter.name;
  role.names.pattern = "{name}-submitter";
  role.names.is_counted = role.is_outside = true;
  if (!role.spec) role.changes.spec_text = kDefaultSubmitter;
  maker.roles.push_back(std::move(role));
  return true;
}

bool adjust_task(KubernetesReading& in, const PodMaker&, PodRole& role) {
  std::optional<std::int32_t> least, parts, part_size;
  if (!take_count(in, role.value, "minAvailable", least) ||
      !take_count(in, role.value, "partitionPolicy.minPartitions", parts) ||
      !take_count(in, role.value, "partitionPolicy.partitionSize", part_size)) {
    return false;
  }
  if (least) role.minimum = *least;
  if (!least && parts.value_or(0) > 0 && part_size.value_or(0) > 0) role.minimum = std::int64_t{*parts} * *part_size;
  if (parts || part_size) role.held = "partitionPolicy";
  return true;
}

namespace {

// The scaling group that a clique belongs to.
struct ScalingGroup {
  std::string_view name;
  std::int64_t replicas = 1, least = 1;
};

bool read_scaling_group(KubernetesReading& in, json::JsonValue groups, std::string_view clique, ScalingGroup& out) {
  bool has_any = false;
  if (!in.has_elements(groups, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue group : groups.elements()) {
    json::JsonValue names;
    bool has_names = false, is_found = false;
    if (!in.expect(group, json::JsonKind::kObject) || !in.take(group, "cliqueNames", names) ||
        !in.has_elements(names, has_names)) {
      return false;
    }
    if (!has_names) continue;
    for (const json::JsonValue name : names.elements()) {
      std::string_view text;
      if (!in.text(name, text)) return false;
      is_found = is_found || text == clique;
    }
    if (!is_found) continue;
    std::optional<std::int32_t> replicas, least;
    if (!take_text(in, group, "name", out.name) || !take_count(in, group, "replicas", replicas) ||
        !take_count(in, group, "minAvailable", least)) {
      return false;
    }
    out.replicas = replicas.value_or(1);
    out.least = least.value_or(1);
  }
  return true;
}

// Whether a topology is required; one that is only preferred is no reason to hold anything.
bool requires_topology(json::JsonValue holder) {
  const json::JsonValue constraint = member_of(holder, "topologyConstraint");
  return member_of(constraint, "packDomain") || member_of(member_of(constraint, "pack"), "required");
}

class Cliques {
 public:
  Cliques(KubernetesReading& in, PodMaker& maker) : in_(in), maker_(maker) {}

  bool read() {
    static constexpr std::array<std::string_view, 2> kKeys = {"cliques", "podCliqueScalingGroups"};
    std::array<json::JsonValue, 2> found;
    json::JsonValue pod_template;
    std::optional<std::int32_t> replicas;
    bool has_any = false;
    if (!take_count(in_, maker_.object.spec, "replicas", replicas) ||
        !in_.take(maker_.object.spec, "template", pod_template) || !in_.take(pod_template, kKeys, found) ||
        !take_text(in_, pod_template, "priorityClassName", maker_.policy.priority_class) ||
        !in_.has_elements(found[0], has_any)) {
      return false;
    }
    groups_ = found[1];
    is_held_ = requires_topology(pod_template) || any_group_requires_topology();
    if (!has_any) return true;
    for (std::int64_t replica = 0; replica < replicas.value_or(1); ++replica) {
      for (const json::JsonValue clique : found[0].elements()) {
        if (!read_clique(clique, replica)) return false;
        if (maker_.pods() > kMostMadePods || maker_.roles.size() > kMostMadePods) return true;  // an error later
      }
    }
    return true;
  }

 private:
  bool any_group_requires_topology() const {
    if (!groups_ || !groups_.is(json::JsonKind::kArray)) return false;
    for (const json::JsonValue group : groups_.elements()) {
      if (requires_topology(group)) return true;
    }
    return false;
  }

  bool read_clique(json::JsonValue clique, std::int64_t replica) {
    static constexpr std::array<std::string_view, 3> kKeys = {"minAvailable", "podSpec", "replicas"};
    json::JsonValue spec;
    std::array<json::JsonValue, 3> found;
    std::string_view name;
    std::optional<std::int32_t> least, pods;
    ScalingGroup group;
    if (!in_.expect(clique, json::JsonKind::kObject) || !in_.take(clique, "spec", spec) ||
        !take_text(in_, clique, "name", name) || !in_.take(spec, kKeys, found) || !in_.count(found[0], least) ||
        !in_.count(found[2], pods) || !read_scaling_group(in_, groups_, name, group)) {
      return false;
    }
    PodRole role;
    role.row = &kClique;
    role.value = role.metadata = clique;
    role.spec = found[1];
    role.size = pods.value_or(1);
    role.minimum = least.value_or(pods.value_or(1));
    role.names.pattern = kClique.pod_name;
    role.names.labels = kClique.labels;
    role.names.is_counted = true;
    if (!role.spec && role.size > 0) return in_.fail_missing(spec ? spec : clique, "podSpec");
    if (is_held_ || requires_topology(clique)) role.held = "topologyConstraint";
    const std::string base = std::string(maker_.name) + "-" + std::to_string(replica);
    if (group.name.empty()) {
      add(std::move(role), base, base, name);
      return true;
    }
    const std::string scaled = base + "-" + std::string(group.name) + "-";
    for (std::int64_t i = 0; i < group.replicas && i <= kMostMadePods; ++i) {
      const std::string gang = i < group.least ? base : scaled + std::to_string(i - group.least);
      add(role, gang, scaled + std::to_string(i), name);
    }
    return true;
  }

  void add(PodRole role, const std::string& gang, const std::string& prefix, std::string_view name) {
    role.gang = gang;
    role.name = prefix + "-" + std::string(name);
    maker_.roles.push_back(std::move(role));
  }

  KubernetesReading& in_;
  PodMaker& maker_;
  json::JsonValue groups_;
  bool is_held_ = false;
};

bool is_of_trainer(const PodRole& role) {
  return text_in(member_of(member_of(role.value, "template"), "metadata"), "labels",
                 "trainer.kubeflow.org/trainjob-ancestor-step") == "trainer";
}

}  // namespace

bool read_cliques(KubernetesReading& in, PodMaker& maker) { return Cliques(in, maker).read(); }

bool act_as_runtime(KubernetesReading& in, const FindObject& find, PodMaker& maker) {
  std::string_view kind = "ClusterTrainingRuntime", name;
  json::JsonValue jobs, policies;
  if (!take_text(in, maker.source.spec, "runtimeRef.kind", kind) ||
      !take_text(in, maker.source.spec, "runtimeRef.name", name)) {
    return false;
  }
  const KubernetesObject* runtime = find(kind, name);
  if (runtime == nullptr) {
    maker.cannot = "its runtime, " + std::string(kind) + " " + std::string(name) + ", is not in the input";
    return true;
  }
  if (!in.take(runtime->spec, "template", jobs) || !in.take(jobs, "metadata", maker.object.metadata) ||
      !in.take(jobs, "spec", maker.object.spec) || !in.take(runtime->spec, "podGroupPolicy", policies)) {
    return false;
  }
  maker.runtime_spec = runtime->spec;
  for (const std::string_view system : {"coscheduling", "volcano"}) {
    const json::JsonValue policy = member_of(policies, system);
    if (!policy) continue;
    maker.policy.system = system;
    maker.policy.network_topology = member_of(policy, "networkTopology");
    maker.policy.timeout = member_of(policy, "scheduleTimeoutSeconds");
  }
  return true;
}

bool apply_train_job(KubernetesReading& in, PodMaker& maker) {
  static constexpr std::array<std::string_view, 3> kPatches = {"podSpecOverrides", "podTemplateOverrides",
                                                               "runtimePatches"};
  std::optional<std::int32_t> nodes;
  json::JsonValue resources;
  std::array<json::JsonValue, 3> patches;
  if (!take_count(in, maker.runtime_spec, "mlPolicy.numNodes", nodes) ||
      !take_count(in, maker.source.spec, "trainer.numNodes", nodes) ||
      !take_path(in, maker.source.spec, "trainer.resourcesPerNode", resources) ||
      !in.take(maker.source.spec, kPatches, patches)) {
    return false;
  }
  const bool is_mpi = static_cast<bool>(member_of(member_of(maker.runtime_spec, "mlPolicy"), "mpi"));
  for (PodRole& role : maker.roles) {
    for (std::size_t i = 0; i < patches.size(); ++i) {
      if (patches[i] && patches[i].size() > 0) role.held = kPatches[i];
    }
    if (!is_of_trainer(role) && !(is_mpi && role.name == "node")) continue;
    role.sets = 1;
    role.changes.resources = resources;
    role.changes.resources_of = "node";
    if (nodes && (!is_mpi || role.name == "node")) role.size = *nodes;
  }
  maker.policy.queue = text_in(maker.source.metadata, "annotations", "scheduling.volcano.sh/queue-name");
  if (maker.policy.queue.empty())
    maker.policy.queue = text_in(maker.object.metadata, "annotations", "scheduling.volcano.sh/queue-name");
  maker.policy.is_set = !maker.policy.system.empty();
  return true;
}

bool split_disaggregated_set(KubernetesReading& in, const PodMaker& whole, std::vector<PodMaker>& out) {
  json::JsonValue roles;
  std::optional<std::int32_t> slices;
  std::string_view placement;
  bool has_any = false;
  if (!take_count(in, whole.source.spec, "slices", slices) ||
      !take_text(in, whole.source.spec, "placementPolicy.type", placement) ||
      !in.take(whole.source.spec, "roles", roles) || !in.has_elements(roles, has_any)) {
    return false;
  }
  if (!has_any) return true;
  for (std::int64_t slice = 0; slice < std::min(slices.value_or(1), 100); ++slice) {
    for (const json::JsonValue role : roles.elements()) {
      PodMaker part = whole;
      std::string_view name, scaling;
      if (!in.expect(role, json::JsonKind::kObject) || !take_text(in, role, "name", name) ||
          !take_text(in, role, "scaling.mode", scaling) || !in.take(role, "metadata", part.object.metadata) ||
          !in.take(role, "spec", part.object.spec)) {
        return false;
      }
      if (scaling == "External")
        in.remarks.add("the number of replicas that an external scaler sets is unknown; spec.replicas counts",
                       whole.source);
      part.name.append("-").append(std::to_string(slice)).append("-").append(name);
      if (!read_pods_of(in, part)) return false;
      for (PodRole& made : part.roles) {
        if (!placement.empty() && placement != "None") made.held = "placementPolicy";
      }
      out.push_back(std::move(part));
    }
  }
  return true;
}

}  // namespace muster::kubernetes
