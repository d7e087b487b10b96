#include "io/kubernetes_pod_writer.h"

#include <algorithm>

namespace muster {

namespace {

void write_gpu(JsonWriter& writer, const GpuShare& gpu) {
  switch (gpu.kind) {
    case GpuRequestKind::kNone:
      return;
    case GpuRequestKind::kWhole:
      writer.raw(R"(,"gpu":{"count":)").integer(gpu.devices).raw("}");
      return;
    case GpuRequestKind::kFraction:
      writer.raw(R"(,"gpu":{"fraction":)").decimal(gpu.amount, 1'000'000);
      break;
    case GpuRequestKind::kMemory:
      writer.raw(R"(,"gpu":{"memory":")").integer(gpu.amount).raw("Mi\"");
      break;
  }
  if (gpu.devices != 1) writer.raw(R"(,"devices":)").integer(gpu.devices);
  writer.raw("}");
}

// Tolerations of operators that the format does not know are left out: what is tolerated less is never wrong.
bool write_tolerations(KubernetesReading& in, JsonWriter& writer, const KubernetesPod& pod) {
  static constexpr std::array<std::string_view, 4> kKeys = {"effect", "key", "operator", "value"};
  if (!pod.tolerations) return true;
  bool first = true;
  writer.raw(R"(,"tolerations":[)");
  for (const JsonValue element : pod.tolerations.elements()) {
    std::array<JsonValue, 4> found;
    std::array<std::string_view, 4> words;
    if (!in.expect(element, JsonKind::kObject) || !in.take(element, kKeys, found)) return false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!in.text(found[i], words[i])) return false;
    }
    if (!words[2].empty() && words[2] != "Exists" && words[2] != "Equal") {
      in.remarks.add("a toleration with an operator other than Exists and Equal is ignored", pod.full_name());
      continue;
    }
    bool first_key = true;
    writer.separate(first).raw("{");
    for (const std::size_t i : {1, 2, 3, 0}) {
      if (!words[i].empty()) writer.separate(first_key).string(kKeys[i]).raw(":").string(words[i]);
    }
    writer.raw("}");
  }
  writer.raw("]");
  return true;
}

// Which namespaces have a label is not known: all of them stand for those, which keeps apart more than is asked.
bool write_anti_affinity(KubernetesReading& in, JsonWriter& writer, JsonValue terms) {
  static constexpr std::array<std::string_view, 4> kKeys = {"labelSelector", "namespaceSelector", "namespaces",
                                                            "topologyKey"};
  if (!terms) return true;
  bool first = true;
  writer.raw(R"(,"podAntiAffinity":[)");
  for (const JsonValue term : terms.elements()) {
    std::array<JsonValue, 4> found;
    if (!in.take(term, kKeys, found)) return false;
    bool first_key = true;
    writer.separate(first).raw("{");
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if (!found[i]) continue;
      writer.separate(first_key).string(kKeys[i]).raw(":");
      if (i == 1) {
        writer.raw("{}");
      } else {
        write_json(writer, in.document, found[i]);
      }
    }
    writer.raw("}");
  }
  writer.raw("]");
  return true;
}

// What must not be placed must not be moved either: where it runs is the only node that it accepts.
void write_pin(JsonWriter& writer, std::string_view node) {
  writer.raw(R"(,"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)");
  writer.raw(R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":[)").string(node).raw("]}]}]}}");
}

bool write_place(KubernetesReading& in, JsonWriter& writer, const KubernetesPod& pod, bool is_held) {
  if (pod.node_selector) {
    writer.raw(R"(,"nodeSelector":)");
    write_json(writer, in.document, pod.node_selector);
  }
  if (is_held && pod.is_on_node()) {
    write_pin(writer, pod.node);
  } else if (pod.node_affinity) {
    writer.raw(R"(,"nodeAffinity":)");
    write_json(writer, in.document, pod.node_affinity);
  }
  return write_tolerations(in, writer, pod) && write_anti_affinity(in, writer, pod.anti_affinity);
}

// As a snapshot says it; empty where it need not be said.
std::string_view status_word(PodStatus status, bool is_held) {
  switch (status) {
    case PodStatus::kPending:
      return is_held ? "gated" : "";
    case PodStatus::kRunning:
      return "";
    case PodStatus::kGated:
      return "gated";
    case PodStatus::kReleasing:
      return "releasing";
    case PodStatus::kSucceeded:
      return "succeeded";
    case PodStatus::kFailed:
      return "failed";
  }
  return "";
}

void write_status(JsonWriter& writer, const KubernetesPod& pod, bool is_held) {
  const std::string_view status = status_word(pod.status, is_held);
  if (!status.empty()) writer.raw(R"(,"status":)").string(status);
  if (!pod.node.empty()) writer.raw(R"(,"node":)").string(pod.node);
  if (!pod.devices.empty()) {
    bool first = true;
    writer.raw(R"(,"gpus":[)");
    for (const std::int32_t device : pod.devices) writer.separate(first).integer(device);
    writer.raw("]");
  }
  if (!pod.started.empty()) writer.raw(R"(,"started":)").string(pod.started);
  if (!pod.created.empty()) writer.raw(R"(,"created":)").string(pod.created);
}

// What a pod without a gang says in place of one.
void write_own_terms(JsonWriter& writer, const KubernetesPod& pod, const KubernetesGangs& gangs,
                     KubernetesQueues& queues) {
  const std::int32_t priority = gangs.priority_of(pod);
  const std::string_view queue = pod.words.kueue_queue;
  writer.raw(R"(,"queue":)")
      .string(queue.empty() ? queues.common_queue() : queues.kueue().name_of(pod.namespace_name, queue));
  writer.raw(R"(,"priority":)").integer(priority);
  writer.raw(priority < kSystemPriority && !pod.is_fixed ? R"(,"preemptible":true)" : R"(,"preemptible":false)");
  if (pod.never_preempts) writer.raw(R"(,"preemptionPolicy":"Never")");
}

void write_labels(KubernetesReading& in, JsonWriter& writer, const KubernetesPod& pod) {
  if (!pod.labels && pod.added_labels.empty()) return;
  writer.raw(R"(,"labels":)");
  if (pod.added_labels.empty()) return write_json(writer, in.document, pod.labels);
  bool first = true;
  writer.raw("{");
  for (const auto& [key, value] : pod.added_labels) writer.separate(first).string(key).raw(":").string(value);
  if (pod.labels) {
    for (const JsonMember label : pod.labels.members()) {
      const bool is_added = std::ranges::find(pod.added_labels, label.key,
                                              [](const auto& added) { return added.first; }) != pod.added_labels.end();
      if (is_added || label.value.is(JsonKind::kNull)) continue;
      writer.separate(first).string(label.key).raw(":");
      write_json(writer, in.document, label.value);
    }
  }
  writer.raw("}");
}

}  // namespace

bool write_pod(KubernetesReading& in, JsonWriter& writer, const KubernetesPod& pod, const KubernetesGangs& gangs,
               KubernetesQueues& queues) {
  const bool is_held = gangs.is_held(pod);
  writer.raw(R"({"name":)").string(pod.full_name());
  writer.raw(R"(,"namespace":)").string(pod.namespace_name);
  if (pod.gang >= 0) writer.raw(R"(,"gang":)").string(gangs.name(pod));
  if (!pod.subgroup.empty()) writer.raw(R"(,"subgroup":)").string(pod.subgroup);
  writer.raw(R"(,"resources":)");
  write_requests(writer, pod.requests);
  write_gpu(writer, pod.gpu);
  if (!write_place(in, writer, pod, is_held)) return false;
  write_status(writer, pod, is_held);
  if (!pod.nominated_node.empty()) writer.raw(R"(,"nominatedNode":)").string(pod.nominated_node);
  write_labels(in, writer, pod);
  if (pod.gang < 0) write_own_terms(writer, pod, gangs, queues);
  if (!pod.unclear.empty()) writer.raw(R"(,"unclear":)").string(pod.unclear);
  writer.raw("}");
  return true;
}

}  // namespace muster
