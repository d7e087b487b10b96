#include "io/kubernetes/grouping/volcano.h"

#include <charconv>
#include <limits>

#include "io/kubernetes/grouping/metadata.h"

namespace muster::kubernetes {

namespace {

constexpr std::string_view kMinMember = "scheduling.volcano.sh/group-min-member";
constexpr Billionths kMostAmount = Billionths{std::numeric_limits<std::int64_t>::max()} * 1'000'000'000;

// As the controller takes it: what is no number of at least 0 counts as 1.
std::int32_t min_member_of(const std::vector<const KubernetesObject*>& above) {
  if (above.empty()) return 1;
  const std::string_view text = text_at(annotations_of(above.front()->metadata), kMinMember);
  std::int32_t value = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = !text.empty() && error == std::errc{} && end == text.data() + text.size();
  return is_number && value >= 0 ? value : 1;
}

// Of so many such pods.
RequestedAmounts amounts_of(const KubernetesPod& pod, std::int64_t pods) {
  RequestedAmounts amounts;
  if (pods <= 0) return amounts;
  for (const auto& [resource, amount] : pod.requests)
    amounts.push_back({resource, std::min(kMostAmount, std::min(kMostAmount, amount) * pods)});
  if (pod.gpus.request.kind == GpuRequestKind::kWhole && pod.gpus.request.devices > 0)
    amounts.push_back({"gpu", Billionths{pod.gpus.request.devices} * pods * 1'000'000'000});
  return amounts;
}

}  // namespace

bool VolcanoPodGrouper::awaits_group(const KubernetesPod& pod) {
  return pod.membership.reference.system == GroupSystem::kNone && !pod.owner.is_fixed &&
         pod.constraints.scheduler == kVolcanoScheduler && pod.membership.labels.kueue_queue.empty();
}

void VolcanoPodGrouper::add_namespace(const KubernetesObject& object) {
  const std::string_view queue = text_at(annotations_of(object.metadata), kVolcanoQueueAnnotation);
  if (!queue.empty()) queues_[object.name] = queue;
}

void VolcanoPodGrouper::settle_queue(KubernetesGroup& group) const {
  const auto found = queues_.find(group.identity.namespace_name);
  if (found != queues_.end() && group.queue == "default") group.queue = found->second;
}

KubernetesGroup VolcanoPodGrouper::join(KubernetesPod& pod, const std::vector<const KubernetesObject*>& above) const {
  const bool is_alone = pod.owner.name.empty();
  GroupReference& reference = pod.membership.reference;
  reference = {GroupSystem::kVolcanoOwner,
               is_alone ? pod.name : pod.owner.name,
               is_alone ? std::string_view("Pod") : pod.owner.kind,
               {}};
  KubernetesGroup group;
  group.identity = {reference.system, pod.namespace_name, reference.name, reference.group, {}};
  group.minimum.members = min_member_of(above);
  if (*group.minimum.members > 1) group.minimum.amounts = amounts_of(pod, *group.minimum.members);
  const json::JsonValue metadata = metadata_of(pod);
  group.queue = text_at(annotations_of(metadata), kVolcanoQueueAnnotation);
  if (group.queue.empty()) group.queue = "default";
  settle_queue(group);
  read_volcano_metadata(metadata, group);
  if (!above.empty()) read_volcano_metadata(above.front()->metadata, group);
  return group;
}

}  // namespace muster::kubernetes
