// Apache YuniKorn: yunikorn.apache.org.
#include <array>

#include "io/kubernetes/known/dialects.h"

namespace muster::kubernetes::known {

namespace {

constexpr std::string_view kTogether = "how many pods must start together";
constexpr std::string_view kQueue = "the queue of its pods";
constexpr std::string_view kQuota = "how much pods of the namespace may use";

constexpr std::array<KeyRow, 17> kYuniKornAnnotations = {{
    {kAll, "internal.yunikorn.apache.org/placeholder", {Treatment::kRead}},
    {kOthers, "yunikorn.apache.org/allow-preemption", {Treatment::kRead}},
    {kPods | kOwners, "yunikorn.apache.org/app-id", {Treatment::kRead}},
    {kOthers, "yunikorn.apache.org/namespace.enableYuniKorn", {Treatment::kHarmless}},
    {kOthers, "yunikorn.apache.org/namespace.generateAppId", {Treatment::kHarmless}},
    {kOthers, "yunikorn.apache.org/namespace.guaranteed", {Treatment::kIgnored, kQuota}},
    {kOthers, "yunikorn.apache.org/namespace.max.cpu", {Treatment::kHeld, kQuota}},
    {kOthers, "yunikorn.apache.org/namespace.max.memory", {Treatment::kHeld, kQuota}},
    {kOthers, "yunikorn.apache.org/namespace.maxApps", {Treatment::kHeld, "how many gangs of the namespace run"}},
    {kOthers, "yunikorn.apache.org/namespace.quota", {Treatment::kHeld, kQuota}},
    {kPods | kOwners | kQueues, "yunikorn.apache.org/parentqueue", {Treatment::kIgnored, kQueue}},
    {kOthers, "yunikorn.apache.org/parentqueue", {Treatment::kIgnored, kQueue}},
    {kAll, "yunikorn.apache.org/placeholder", {Treatment::kRead}},
    {kPods | kOwners, "yunikorn.apache.org/queue", {Treatment::kIgnored, kQueue}},
    {kPods | kOwners, "yunikorn.apache.org/schedulingPolicyParameters", {Treatment::kRead}},
    {kPods | kOwners, "yunikorn.apache.org/task-group-name", {Treatment::kRead}},
    {kPods | kOwners, "yunikorn.apache.org/task-groups", {Treatment::kRead}},
}};

constexpr std::array<KeyRow, 3> kYuniKornLabels = {{
    {kAll, "internal.yunikorn.apache.org/placeholder", {Treatment::kRead}},
    {kPods | kOwners, "yunikorn.apache.org/app-id", {Treatment::kRead}},
    {kPods | kOwners, "yunikorn.apache.org/queue", {Treatment::kIgnored, kQueue}},
}};

}  // namespace

const Dialect kYuniKorn = {"YuniKorn", "yunikorn.apache.org", "", kYuniKornAnnotations, kYuniKornLabels, {}, {}};

}  // namespace muster::kubernetes::known
