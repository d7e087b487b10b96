// PriorityClass (scheduling.k8s.io/v1) -> priorityClasses[], and the value of a name.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

// From here on nothing is preemptible.
inline constexpr std::int32_t kSystemPriority = 2'000'000'000;

class KubernetesPriorities {
 public:
  // Fills one entry of priorityClasses[].
  [[nodiscard]] bool import(KubernetesReading& reading, const KubernetesObject& object, StringPool& text,
                            SnapshotPriorityClass& out);

  // The value of a class; "" is the class of objects that name none. A missing class has the value of the global
  // default, else `otherwise`. Names are case-sensitive.
  std::int32_t value_of(std::string_view name, std::int32_t otherwise) const;
  // Whether new pods of the class get the preemption policy `Never`. "": those of the global default.
  bool never_preempts(std::string_view name) const;
  // Whether a class of this name exists, or may: the list has no classes at all.
  bool may_have(std::string_view name) const {
    return values_.empty() || values_.contains(name) || name.starts_with("system-");
  }

  // Whether YuniKorn preempts no pod of this class: its annotation yunikorn.apache.org/allow-preemption is "false".
  bool forbids_preemption(std::string_view name) const { return protected_.contains(name); }

 private:
  std::unordered_set<std::string_view> protected_;
  std::unordered_map<std::string_view, std::int32_t> values_;
  std::optional<std::int32_t> global_default_;
  std::unordered_set<std::string_view> never_;  // "": the global default
};

}  // namespace muster::kubernetes
