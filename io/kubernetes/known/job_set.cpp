// JobSet: jobset.x-k8s.io.
#include <array>

#include "io/kubernetes/known/dialects.h"

namespace muster::kubernetes::known {

namespace {

constexpr std::string_view kDomain = "in which topology domain its pods must be, and which pods share it";

constexpr std::array<KeyRow, 20> kJobSetAnnotations = {{
    {kTemplates, "alpha.jobset.sigs.k8s.io/exclusive-topology", {Treatment::kHeld, kDomain}},
    {kLivePods | kOwners, "alpha.jobset.sigs.k8s.io/exclusive-topology", {Treatment::kHarmless}},
    {kAll, "alpha.jobset.sigs.k8s.io/node-selector", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/coordinator", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/disable-in-place-restart", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/global-replicas", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/group-name", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/group-replicas", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/in-place-restart-attempt", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/job-global-index", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/job-group-index", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/job-index", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/job-key", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/job-restart-attempt", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/jobset-controller", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/jobset-name", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/jobset-uid", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/priority", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/replicatedjob-replicas", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/restart-attempt", {Treatment::kHarmless}},
}};

constexpr std::array<KeyRow, 20> kJobSetLabels = {{
    {kAll, "alpha.jobset.sigs.k8s.io/namespaced-job", {Treatment::kHarmless}},
    {kAll, "alpha.jobset.sigs.k8s.io/no-schedule", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/coordinator", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/disable-in-place-restart", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/global-replicas", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/group-name", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/group-replicas", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/in-place-restart-attempt", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/job-global-index", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/job-group-index", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/job-index", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/job-key", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/job-restart-attempt", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/jobset-controller", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/jobset-name", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/jobset-uid", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/priority", {Treatment::kHarmless}},
    {kPods, "jobset.sigs.k8s.io/replicatedjob-name", {Treatment::kRead}},
    {kAll, "jobset.sigs.k8s.io/replicatedjob-replicas", {Treatment::kHarmless}},
    {kAll, "jobset.sigs.k8s.io/restart-attempt", {Treatment::kHarmless}},
}};

constexpr std::array<FieldRow, 14> kJobSetFields = {{
    {"JobSet", "spec.coordinator", {Treatment::kHarmless}},
    {"JobSet", "spec.failurePolicy", {Treatment::kHarmless}},
    {"JobSet", "spec.managedBy", {Treatment::kHarmless}},
    {"JobSet", "spec.network", {Treatment::kHarmless}},
    {"JobSet", "spec.replicatedJobs.dependsOn", {Treatment::kIgnored, "which pods start first"}},
    {"JobSet", "spec.replicatedJobs.groupName", {Treatment::kHarmless}},
    {"JobSet", "spec.replicatedJobs.name", {Treatment::kRead}},
    {"JobSet", "spec.replicatedJobs.replicas", {Treatment::kRead}},
    {"JobSet", "spec.replicatedJobs.template", {Treatment::kRead}},
    {"JobSet", "spec.startupPolicy.startupPolicyOrder", {Treatment::kIgnored, "which pods start first", "AnyOrder"}},
    {"JobSet", "spec.successPolicy", {Treatment::kHarmless}},
    {"JobSet", "spec.suspend", {Treatment::kRead}},
    {"JobSet", "spec.ttlSecondsAfterFinished", {Treatment::kHarmless}},
    {"JobSet", "spec.volumeClaimPolicies", {Treatment::kIgnored, "on which nodes its volumes allow its pods"}},
}};

}  // namespace

const Dialect kJobSet = {
    "JobSet",     "jobset.sigs.k8s.io jobset.x-k8s.io", "jobset.x-k8s.io", kJobSetAnnotations, kJobSetLabels, {},
    kJobSetFields};

}  // namespace muster::kubernetes::known
