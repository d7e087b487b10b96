// What the rows of kind_table.cpp cannot express: numbers that depend on other numbers, and kinds whose pods are
// described elsewhere. Errors of all of these: those of the values.
#pragma once

#include "io/kubernetes/templates/pod_maker.h"

namespace muster::kubernetes {

// A Job runs at most as many pods as completions are missing; pods of an indexed Job have the index as a label.
[[nodiscard]] bool adjust_job(KubernetesReading& reading, const PodMaker& maker, PodRole& role);
[[nodiscard]] bool adjust_ordinals(KubernetesReading& reading, const PodMaker& maker, PodRole& role);
[[nodiscard]] bool adjust_replicated_job(KubernetesReading& reading, const PodMaker& maker, PodRole& role);

// LeaderWorkerSet: `replicas` sets of a leader and `size` - 1 workers. A leader without a template has that of workers.
[[nodiscard]] bool adjust_leader(KubernetesReading& reading, const PodMaker& maker, PodRole& role);
[[nodiscard]] bool adjust_workers(KubernetesReading& reading, const PodMaker& maker, PodRole& role);
[[nodiscard]] bool read_leader_policy(KubernetesReading& reading, PodMaker& maker);

// The launcher of an MPIJob is the pod of a Job, and may start after the workers.
[[nodiscard]] bool adjust_launcher(KubernetesReading& reading, const PodMaker& maker, PodRole& role);

// Ray: bounds of an autoscaler, groups that are suspended, the autoscaler's container in the head.
[[nodiscard]] bool adjust_ray_head(KubernetesReading& reading, const PodMaker& maker, PodRole& role);
[[nodiscard]] bool adjust_ray_workers(KubernetesReading& reading, const PodMaker& maker, PodRole& role);
// The pod that submits the job of a RayJob, once its cluster runs.
[[nodiscard]] bool read_submitter(KubernetesReading& reading, PodMaker& maker);

[[nodiscard]] bool adjust_task(KubernetesReading& reading, const PodMaker& maker, PodRole& role);

// Grove: a PodClique for each clique of each replica, and one PodGang for what has to start together.
[[nodiscard]] bool read_cliques(KubernetesReading& reading, PodMaker& maker);

// A TrainJob fills in a JobSet of its runtime. If `find` has no such runtime, `maker` cannot be expanded.
[[nodiscard]] bool act_as_runtime(KubernetesReading& reading, const FindObject& find, PodMaker& maker);
// After the roles of the runtime are read: what the TrainJob changes of them.
[[nodiscard]] bool apply_train_job(KubernetesReading& reading, PodMaker& maker);

// A DisaggregatedSet makes a LeaderWorkerSet for each role of each slice; these are appended, without their pods.
[[nodiscard]] bool split_disaggregated_set(KubernetesReading& reading, const PodMaker& whole,
                                           std::vector<PodMaker>& out);

}  // namespace muster::kubernetes
