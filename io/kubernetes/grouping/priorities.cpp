#include "io/kubernetes/grouping/priorities.h"

namespace muster::kubernetes {

bool KubernetesPriorities::import(KubernetesReading& in, const KubernetesObject& object, StringPool& text,
                                  SnapshotPriorityClass& out) {
  static constexpr std::array<std::string_view, 3> kKeys = {"globalDefault", "preemptionPolicy", "value"};
  std::array<json::JsonValue, 3> found;
  bool is_default = false;
  json::JsonValue annotations, allows;
  std::string_view policy, allowed;
  std::optional<std::int32_t> value;
  if (!in.take(object.value, kKeys, found) || !in.flag(found[0], is_default) || !in.text(found[1], policy) ||
      !in.priority(found[2], value) || !in.take(object.metadata, "annotations", annotations) ||
      !in.take(annotations, "yunikorn.apache.org/allow-preemption", allows) || !in.text(allows, allowed)) {
    return false;
  }
  if (!value) return in.fail_missing(object.value, "value");
  if (!policy.empty() && policy != "Never" && policy != "PreemptLowerPriority")
    return in.fail_value(found[1], "must be Never or PreemptLowerPriority");
  values_.emplace(object.name, *value);
  if (allowed == "false") protected_.insert(object.name);
  // Of several, kube-apiserver takes the lowest.
  if (policy == "Never") never_.insert(object.name);
  if (is_default && (!global_default_ || *value < *global_default_)) {
    global_default_ = value;
    if (policy == "Never")
      never_.insert("");
    else
      never_.erase("");
  }
  out.name = text.store(object.name);
  out.value = *value;
  if (policy == "Never") out.preemption_policy = PreemptionPolicy::kNever;
  if (policy == "PreemptLowerPriority") out.preemption_policy = PreemptionPolicy::kPreemptLowerPriority;
  return true;
}

std::int32_t KubernetesPriorities::value_of(std::string_view name, std::int32_t otherwise) const {
  if (const auto known = values_.find(name); known != values_.end()) return known->second;
  if (name == "system-cluster-critical") return kSystemPriority;
  if (name == "system-node-critical") return kSystemPriority + 1000;
  return global_default_.value_or(otherwise);
}

bool KubernetesPriorities::never_preempts(std::string_view name) const { return never_.contains(name); }

}  // namespace muster::kubernetes
