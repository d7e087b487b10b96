// The kinds that make pods: a row each. Sources: the controllers of these projects, as of August 2026.
#include <algorithm>
#include <array>

#include "io/kubernetes/templates/pod_maker.h"
#include "io/kubernetes/templates/special_kinds.h"

namespace muster::kubernetes {

namespace {

// ---- Kubernetes

constexpr std::array<LabelPattern, 2> kJobLabels = {
    {{"batch.kubernetes.io/job-name", "{name}"}, {"job-name", "{name}"}}};
constexpr std::array<LabelPattern, 2> kSetLabels = {
    {{"statefulset.kubernetes.io/pod-name", "{name}-{pod}"}, {"apps.kubernetes.io/pod-index", "{pod}"}}};

constexpr std::array<RoleRow, 1> kReplicas = {
    {{.at = "", .name = "", .pod_template = "template", .size = "replicas", .pod_name = "{name}", .is_counted = true}}};
constexpr std::array<RoleRow, 1> kOrdinals = {{{.at = "",
                                                .name = "",
                                                .pod_template = "template",
                                                .size = "replicas",
                                                .pod_name = "{name}-{pod}",
                                                .labels = kSetLabels,
                                                .adjust = adjust_ordinals}}};
constexpr std::array<RoleRow, 1> kJob = {{{.at = "",
                                           .name = "",
                                           .pod_template = "template",
                                           .size = "parallelism",
                                           .pod_name = "{name}",
                                           .is_counted = true,
                                           .labels = kJobLabels,
                                           .adjust = adjust_job}}};

// ---- LeaderWorkerSet

constexpr std::array<LabelPattern, 3> kLeaderLabels = {{{"leaderworkerset.sigs.k8s.io/name", "{name}"},
                                                        {"leaderworkerset.sigs.k8s.io/group-index", "{set}"},
                                                        {"leaderworkerset.sigs.k8s.io/worker-index", "{pod}"}}};
constexpr std::array<RoleRow, 2> kLeaderWorkers = {{{.at = "leaderWorkerTemplate",
                                                     .name = "leader",
                                                     .pod_template = "leaderTemplate",
                                                     .set_label = "leaderworkerset.sigs.k8s.io/group-index",
                                                     .pod_name = "{name}-{set}",
                                                     .labels = kLeaderLabels,
                                                     .adjust = adjust_leader},
                                                    {.at = "leaderWorkerTemplate",
                                                     .name = "worker",
                                                     .pod_template = "workerTemplate",
                                                     .set_label = "leaderworkerset.sigs.k8s.io/group-index",
                                                     .pod_name = "{name}-{set}-{pod}",
                                                     .labels = kLeaderLabels,
                                                     .adjust = adjust_workers}}};
constexpr std::array<std::string_view, 2> kLeaderExclusive = {
    "leaderworkerset.sigs.k8s.io/exclusive-topology", "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"};

// ---- JobSet

constexpr std::array<LabelPattern, 5> kJobSetLabels = {{{"jobset.sigs.k8s.io/jobset-name", "{name}"},
                                                        {"jobset.sigs.k8s.io/replicatedjob-name", "{role}"},
                                                        {"jobset.sigs.k8s.io/replicatedjob-replicas", "{sets}"},
                                                        {"jobset.sigs.k8s.io/job-index", "{set}"},
                                                        {"batch.kubernetes.io/job-completion-index", "{pod}"}}};
constexpr std::array<RoleRow, 1> kReplicatedJobs = {{{.at = "replicatedJobs",
                                                      .shape = RoleShape::kList,
                                                      .name = "name",
                                                      .pod_template = "template.spec.template",
                                                      .sets = "replicas",
                                                      .size = "template.spec.parallelism",
                                                      .role_label = "jobset.sigs.k8s.io/replicatedjob-name",
                                                      .set_label = "jobset.sigs.k8s.io/job-index",
                                                      .pod_name = "{name}-{role}-{set}",
                                                      .is_counted = true,
                                                      .labels = kJobSetLabels,
                                                      .adjust = adjust_replicated_job}}};
constexpr std::array<std::string_view, 1> kJobSetExclusive = {"alpha.jobset.sigs.k8s.io/exclusive-topology"};

// ---- Kubeflow

constexpr std::array<LabelPattern, 3> kTrainingLabels = {{{"training.kubeflow.org/job-name", "{name}"},
                                                          {"training.kubeflow.org/replica-type", "{role}"},
                                                          {"training.kubeflow.org/replica-index", "{pod}"}}};
constexpr std::array<LabelPattern, 4> kMpiLabels = {{{"training.kubeflow.org/job-name", "{name}"},
                                                     {"training.kubeflow.org/job-role", "{role}"},
                                                     {"training.kubeflow.org/replica-type", "{role}"},
                                                     {"training.kubeflow.org/replica-index", "{pod}"}}};

constexpr RoleRow training_role(std::string_view at) {
  return {.at = at,
          .shape = RoleShape::kMap,
          .pod_template = "template",
          .size = "replicas",
          .role_label = "training.kubeflow.org/replica-type",
          .pod_name = "{name}-{role}-{pod}",
          .labels = kTrainingLabels};
}
constexpr std::array<RoleRow, 1> kTorch = {training_role("pytorchReplicaSpecs")};
constexpr std::array<RoleRow, 1> kTensorFlow = {training_role("tfReplicaSpecs")};
constexpr std::array<RoleRow, 1> kXgBoost = {training_role("xgbReplicaSpecs")};
constexpr std::array<RoleRow, 1> kJax = {training_role("jaxReplicaSpecs")};
constexpr std::array<RoleRow, 1> kPaddle = {training_role("paddleReplicaSpecs")};
constexpr std::array<RoleRow, 1> kMpi = {{{.at = "mpiReplicaSpecs",
                                           .shape = RoleShape::kMap,
                                           .pod_template = "template",
                                           .size = "replicas",
                                           .role_label = "training.kubeflow.org/job-role",
                                           .pod_name = "{name}-{role}-{pod}",
                                           .labels = kMpiLabels,
                                           .adjust = adjust_launcher}}};

// ---- Ray

constexpr std::array<LabelPattern, 4> kHeadLabels = {{{"ray.io/cluster", "{name}"},
                                                      {"ray.io/group", "{role}"},
                                                      {"ray.io/node-type", "head"},
                                                      {"ray.io/is-ray-node", "yes"}}};
constexpr std::array<LabelPattern, 4> kRayWorkerLabels = {{{"ray.io/cluster", "{name}"},
                                                           {"ray.io/group", "{role}"},
                                                           {"ray.io/node-type", "worker"},
                                                           {"ray.io/is-ray-node", "yes"}}};
constexpr std::array<RoleRow, 2> kRay = {{{.at = "headGroupSpec",
                                           .name = "headgroup",
                                           .pod_template = "template",
                                           .role_label = "ray.io/group",
                                           .pod_name = "{name}-head",
                                           .is_counted = true,
                                           .labels = kHeadLabels,
                                           .adjust = adjust_ray_head},
                                          {.at = "workerGroupSpecs",
                                           .shape = RoleShape::kList,
                                           .name = "groupName",
                                           .pod_template = "template",
                                           .sets = "replicas",
                                           .size = "numOfHosts",
                                           .role_label = "ray.io/group",
                                           .pod_name = "{name}-{role}-worker",
                                           .is_counted = true,
                                           .labels = kRayWorkerLabels,
                                           .adjust = adjust_ray_workers}}};

// ---- Volcano

constexpr std::array<LabelPattern, 3> kTaskLabels = {
    {{"volcano.sh/job-name", "{name}"}, {"volcano.sh/task-spec", "{role}"}, {"volcano.sh/task-index", "{pod}"}}};
constexpr std::array<RoleRow, 1> kTasks = {{{.at = "tasks",
                                             .shape = RoleShape::kList,
                                             .name = "name",
                                             .pod_template = "template",
                                             .size = "replicas",
                                             .role_label = "volcano.sh/task-spec",
                                             .pod_name = "{name}-{role}-{pod}",
                                             .labels = kTaskLabels,
                                             .adjust = adjust_task}}};

constexpr std::string_view kTrainingDone = " Succeeded Failed ", kTrainingSuspend = "runPolicy.suspend",
                           kTrainingPolicy = "runPolicy.schedulingPolicy";

constexpr MakerRow training(std::string_view kind, std::span<const RoleRow> roles) {
  return {.group = "kubeflow.org",
          .kind = kind,
          .roles = roles,
          .suspend = kTrainingSuspend,
          .end = {.conditions = kTrainingDone},
          .gang = GangMaker::kOperator,
          .policy = kTrainingPolicy,
          .name_label = "training.kubeflow.org/job-name"};
}

const std::array<MakerRow, 23> kRows = {{
    {.group = "", .kind = "ReplicationController", .roles = kReplicas},
    {.group = "apps", .kind = "Deployment", .roles = kReplicas},
    {.group = "apps", .kind = "ReplicaSet", .roles = kReplicas},
    {.group = "apps", .kind = "StatefulSet", .roles = kOrdinals},
    {.group = "apps",
     .kind = "DaemonSet",
     .cannot = "it has a pod on each node that its constraints allow, which Muster does not make"},
    {.group = "batch",
     .kind = "Job",
     .roles = kJob,
     .suspend = "suspend",
     .end = {.conditions = " Complete Failed SuccessCriteriaMet "}},
    {.group = "batch",
     .kind = "CronJob",
     .acting = {.as = "Job", .at = "jobTemplate", .has_metadata = true, .suffix = "-next", .makes_another = true},
     .suspend = "suspend"},
    {.group = "leaderworkerset.x-k8s.io",
     .kind = "LeaderWorkerSet",
     .roles = kLeaderWorkers,
     .gang = GangMaker::kLeaderWorkerSet,
     .exclusive = kLeaderExclusive,
     .name_label = "leaderworkerset.sigs.k8s.io/name",
     .read = read_leader_policy},
    {.group = "disaggregatedset.x-k8s.io",
     .kind = "DisaggregatedSet",
     .acting = {.as = "LeaderWorkerSet", .split = split_disaggregated_set}},
    {.group = "jobset.x-k8s.io",
     .kind = "JobSet",
     .roles = kReplicatedJobs,
     .suspend = "suspend",
     .end = {.conditions = " Completed Failed "},
     .gang = GangMaker::kRuntime,
     .exclusive = kJobSetExclusive,
     .name_label = "jobset.sigs.k8s.io/jobset-name"},
    {.group = "trainer.kubeflow.org",
     .kind = "TrainJob",
     .acting = {.as = "JobSet", .act = act_as_runtime},
     .suspend = "suspend",
     .end = {.conditions = " Complete Failed "},
     .read = apply_train_job},
    training("PyTorchJob", kTorch),
    training("TFJob", kTensorFlow),
    training("XGBoostJob", kXgBoost),
    training("JAXJob", kJax),
    training("PaddleJob", kPaddle),
    training("MPIJob", kMpi),
    {.group = "ray.io",
     .kind = "RayCluster",
     .roles = kRay,
     .suspend = "suspend",
     .gang = GangMaker::kRay,
     .name_label = "ray.io/cluster"},
    {.group = "ray.io",
     .kind = "RayJob",
     .acting = {.as = "RayCluster", .at = "rayClusterSpec"},
     .suspend = "suspend",
     .end = {.phase = "jobDeploymentStatus", .words = " Complete Failed "},
     .gang = GangMaker::kRay,
     .read = read_submitter},
    {.group = "ray.io",
     .kind = "RayService",
     .acting = {.as = "RayCluster", .at = "rayClusterConfig"},
     .gang = GangMaker::kRay},
    {.group = "batch.volcano.sh",
     .kind = "Job",
     .roles = kTasks,
     .end = {.phase = "state.phase", .words = " Aborted Aborting Completed Completing Failed Terminated Terminating "},
     .gang = GangMaker::kVolcanoJob,
     .policy = "."},
    {.group = "grove.io", .kind = "PodCliqueSet", .name_label = "app.kubernetes.io/part-of", .read = read_cliques},
    {.group = "kubeflow.org", .kind = "Notebook", .cannot = "Muster does not know how its controller makes its pod"},
}};

}  // namespace

const MakerRow* find_maker_row(std::string_view group, std::string_view kind) {
  const auto found = std::ranges::find_if(
      kRows, [&](const MakerRow& row) { return row.kind == kind && (group.empty() || row.group == group); });
  return found == kRows.end() ? nullptr : &*found;
}

std::span<const MakerRow> maker_rows() { return kRows; }

}  // namespace muster::kubernetes
