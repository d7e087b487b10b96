// A pod, its gang and its devices known -> an entry of pods[]
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/kubernetes/import/gangs.h"
#include "io/kubernetes/import/queues.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

// The templates that pods with kept texts name: one for each different text.
class PodTemplates {
 public:
  // `text` outlives the object.
  std::string name_of(std::string_view text);
  // The member `podTemplates`; nothing if no pod names one.
  void write(json::JsonWriter& writer) const;

 private:
  std::unordered_map<std::string_view, std::size_t> known_;
  std::vector<std::string_view> texts_;
};

// What of a pod's entry does not depend on other objects, in the form of write_pod. Remarks: those of write_pod.
[[nodiscard]] bool write_pod_texts(KubernetesReading& reading, const KubernetesPod& pod, PodTexts& out);

// Writes the pod's name first.
[[nodiscard]] bool write_pod(KubernetesReading& reading, json::JsonWriter& writer, const KubernetesPod& pod,
                             const KubernetesGangs& gangs, KubernetesQueues& queues, PodTemplates& templates);

// A pod of which something cannot be written as the format has it: its name, gang and place, and `why` as `unclear`.
void write_unclear_pod(json::JsonWriter& writer, const KubernetesPod& pod, const KubernetesGangs& gangs,
                       std::string_view why);

}  // namespace muster::kubernetes
