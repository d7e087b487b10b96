// LeaderWorkerSet and DisaggregatedSet: leaderworkerset.x-k8s.io, disaggregatedset.x-k8s.io.
#include <array>

#include "io/kubernetes/known/dialects.h"

namespace muster::kubernetes::known {

namespace {

constexpr std::string_view kDomain = "in which topology domain its pods must be, and which pods share it";

constexpr std::array<KeyRow, 17> kLeaderWorkerSetAnnotations = {{
    {kAll, "disaggregatedset.x-k8s.io/initial-replicas", {Treatment::kHarmless}},
    {kAll, "disaggregatedset.x-k8s.io/name", {Treatment::kHarmless}},
    {kAll, "disaggregatedset.x-k8s.io/revision", {Treatment::kHarmless}},
    {kAll, "disaggregatedset.x-k8s.io/role", {Treatment::kHarmless}},
    {kAll, "disaggregatedset.x-k8s.io/slice", {Treatment::kHarmless}},
    {kTemplates, "leaderworkerset.sigs.k8s.io/exclusive-topology", {Treatment::kHeld, kDomain}},
    {kLivePods | kOwners, "leaderworkerset.sigs.k8s.io/exclusive-topology", {Treatment::kHarmless}},
    {kAll, "leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start", {Treatment::kHarmless}},
    {kAll, "leaderworkerset.sigs.k8s.io/leader-name", {Treatment::kHarmless}},
    {kAll, "leaderworkerset.sigs.k8s.io/leader-requests-tpus", {Treatment::kHarmless}},
    {kAll, "leaderworkerset.sigs.k8s.io/replicas", {Treatment::kHarmless}},
    {kAll, "leaderworkerset.sigs.k8s.io/size", {Treatment::kHarmless}},
    {kAll, "leaderworkerset.sigs.k8s.io/subdomainPolicy", {Treatment::kHarmless}},
    {kTemplates, "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", {Treatment::kHeld, kDomain}},
    {kLivePods | kOwners, "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", {Treatment::kHarmless}},
    {kAll, "leaderworkerset.sigs.k8s.io/subgroup-policy-type", {Treatment::kHarmless}},
    {kAll, "leaderworkerset.sigs.k8s.io/subgroup-size", {Treatment::kHarmless}},
}};

constexpr std::array<KeyRow, 11> kLeaderWorkerSetLabels = {{
    {kAll, "disaggregatedset.x-k8s.io/name", {Treatment::kHarmless}},
    {kAll, "disaggregatedset.x-k8s.io/revision", {Treatment::kHarmless}},
    {kAll, "disaggregatedset.x-k8s.io/role", {Treatment::kHarmless}},
    {kAll, "disaggregatedset.x-k8s.io/slice", {Treatment::kHarmless}},
    {kPods | kOwners, "leaderworkerset.sigs.k8s.io/group-index", {Treatment::kRead}},
    {kAll, "leaderworkerset.sigs.k8s.io/group-key", {Treatment::kHarmless}},
    {kAll, "leaderworkerset.sigs.k8s.io/name", {Treatment::kRead}},
    {kAll, "leaderworkerset.sigs.k8s.io/subgroup-index", {Treatment::kHarmless}},
    {kAll, "leaderworkerset.sigs.k8s.io/subgroup-key", {Treatment::kHarmless}},
    {kAll, "leaderworkerset.sigs.k8s.io/template-revision-hash", {Treatment::kHarmless}},
    {kAll, "leaderworkerset.sigs.k8s.io/worker-index", {Treatment::kHarmless}},
}};

constexpr std::array<FieldRow, 19> kLeaderWorkerSetFields = {{
    {"LeaderWorkerSet", "spec.leaderWorkerTemplate.leaderTemplate", {Treatment::kRead}},
    {"LeaderWorkerSet", "spec.leaderWorkerTemplate.persistentVolumeClaimRetentionPolicy", {Treatment::kHarmless}},
    {"LeaderWorkerSet", "spec.leaderWorkerTemplate.restartPolicy", {Treatment::kHarmless}},
    {"LeaderWorkerSet", "spec.leaderWorkerTemplate.size", {Treatment::kRead}},
    {"LeaderWorkerSet", "spec.leaderWorkerTemplate.subGroupPolicy", {Treatment::kHarmless}},
    {"LeaderWorkerSet",
     "spec.leaderWorkerTemplate.volumeClaimTemplates",
     {Treatment::kIgnored, "on which nodes its volumes allow its pods"}},
    {"LeaderWorkerSet", "spec.leaderWorkerTemplate.workerTemplate", {Treatment::kRead}},
    {"LeaderWorkerSet", "spec.networkConfig", {Treatment::kHarmless}},
    {"LeaderWorkerSet", "spec.replicas", {Treatment::kRead}},
    {"LeaderWorkerSet", "spec.rolloutStrategy", {Treatment::kHarmless}},
    {"LeaderWorkerSet", "spec.startupPolicy", {Treatment::kRead}},
    {"DisaggregatedSet", "spec.placementPolicy", {Treatment::kHeld, "on which nodes its pods may run"}},
    {"DisaggregatedSet", "spec.roles", {Treatment::kRead}},
    {"DisaggregatedSet", "spec.roles.metadata", {Treatment::kRead}},
    {"DisaggregatedSet", "spec.roles.name", {Treatment::kRead}},
    {"DisaggregatedSet", "spec.roles.scaling", {Treatment::kHarmless}},
    {"DisaggregatedSet", "spec.slices", {Treatment::kRead}},
    {"DisaggregatedSetRoleScaler", "", {Treatment::kHarmless}},
    {"DisaggregatedSetRoleScaler", "spec", {Treatment::kHarmless}},
}};

}  // namespace

const Dialect kLeaderWorkerSet = {"LeaderWorkerSet",
                                  "leaderworkerset.sigs.k8s.io leaderworkerset.x-k8s.io disaggregatedset.x-k8s.io",
                                  "leaderworkerset.x-k8s.io disaggregatedset.x-k8s.io",
                                  kLeaderWorkerSetAnnotations,
                                  kLeaderWorkerSetLabels,
                                  {},
                                  kLeaderWorkerSetFields};

}  // namespace muster::kubernetes::known
