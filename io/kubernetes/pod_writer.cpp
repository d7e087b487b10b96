#include "io/kubernetes/pod_writer.h"

#include <algorithm>

#include "io/kubernetes/pod/ports.h"

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

// Tolerations with unknown operators are left out: tolerating less is always safe.
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

// Those members of an object that have one of the keys.
template <std::size_t N>
bool write_known(KubernetesReading& in, JsonWriter& writer, JsonValue object,
                 const std::array<std::string_view, N>& keys) {
  std::array<JsonValue, N> found;
  if (!in.expect(object, JsonKind::kObject) || !in.take(object, keys, found)) return false;
  bool first = true;
  writer.raw("{");
  for (std::size_t i = 0; i < N; ++i) {
    if (!found[i]) continue;
    writer.separate(first).string(keys[i]).raw(":");
    write_json(writer, in.document, found[i]);
  }
  writer.raw("}");
  return true;
}

constexpr std::array<std::string_view, 4> kTermKeys = {"labelSelector", "namespaceSelector", "namespaces",
                                                       "topologyKey"};

constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

bool write_required_terms(KubernetesReading& in, JsonWriter& writer, JsonValue required) {
  bool first = true;
  writer.raw("[");
  for (const JsonValue term : required.elements()) {
    if (!write_known(in, writer.separate(first), term, kTermKeys)) return false;
  }
  writer.raw("]");
  return true;
}

bool write_preferred_terms(KubernetesReading& in, JsonWriter& writer, const std::vector<JsonValue>& preferred) {
  static constexpr std::array<std::string_view, 2> kKeys = {"podAffinityTerm", "weight"};
  bool first = true;
  writer.raw("[");
  for (const JsonValue term : preferred) {
    std::array<JsonValue, 2> found;
    if (!in.take(term, kKeys, found)) return false;
    writer.separate(first).raw("{");
    if (found[1]) {
      writer.raw(R"("weight":)");
      write_json(writer, in.document, found[1]);
    }
    if (found[0]) {
      writer.raw(found[1] ? "," : "").raw(R"("podAffinityTerm":)");
      if (!write_known(in, writer, found[0], kTermKeys)) return false;
    }
    writer.raw("}");
  }
  writer.raw("]");
  return true;
}

// A list where all terms are required.
bool write_pod_terms(KubernetesReading& in, JsonWriter& writer, std::string_view key, const PodTermValues& terms) {
  if (!terms.required && terms.preferred.empty()) return true;
  writer.raw(",").string(key).raw(":");
  if (terms.preferred.empty()) return write_required_terms(in, writer, terms.required);
  writer.raw("{");
  if (terms.required) {
    writer.string(kRequired).raw(":");
    if (!write_required_terms(in, writer, terms.required)) return false;
    writer.raw(",");
  }
  writer.string(kPreferred).raw(":");
  if (!write_preferred_terms(in, writer, terms.preferred)) return false;
  writer.raw("}");
  return true;
}

bool write_spread(KubernetesReading& in, JsonWriter& writer, JsonValue constraints) {
  static constexpr std::array<std::string_view, 8> kKeys = {
      "labelSelector",      "matchLabelKeys",   "maxSkew",     "minDomains",
      "nodeAffinityPolicy", "nodeTaintsPolicy", "topologyKey", "whenUnsatisfiable"};
  if (!constraints) return true;
  bool first = true;
  writer.raw(R"(,"topologySpread":[)");
  for (const JsonValue constraint : constraints.elements()) {
    if (!write_known(in, writer.separate(first), constraint, kKeys)) return false;
  }
  writer.raw("]");
  return true;
}

// A pod that must not be placed must not be moved either: the node where it runs is the only one that it accepts.
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
  if (pod.volume_terms) {
    writer.raw(R"(,"volumeNodeAffinity":{"required":)");
    write_node_terms(writer, *pod.volume_terms);
    writer.raw("}");
  }
  return write_tolerations(in, writer, pod) && write_pod_terms(in, writer, "podAffinity", pod.affinity) &&
         write_pod_terms(in, writer, "podAntiAffinity", pod.anti_affinity) &&
         write_spread(in, writer, pod.topology_spread);
}

// As a snapshot writes it; empty if it can be omitted.
std::string_view status_word(PodStatus status) {
  switch (status) {
    case PodStatus::kPending:
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

// A pod with a gate of the cluster waits for that one first.
void write_status(JsonWriter& writer, const KubernetesPod& pod, std::string_view held) {
  const bool is_held = pod.status == PodStatus::kPending && !held.empty();
  const std::string_view status = status_word(is_held ? PodStatus::kGated : pod.status);
  if (!status.empty()) writer.raw(R"(,"status":)").string(status);
  if (is_held) writer.raw(R"(,"held":)").string(held);
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

// The keys that a pod without a gang sets itself.
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
  const std::string_view held = gangs.held(pod);
  writer.raw(R"({"name":)").string(pod.full_name());
  writer.raw(R"(,"namespace":)").string(pod.namespace_name);
  if (pod.gang >= 0) writer.raw(R"(,"gang":)").string(gangs.name(pod));
  if (!pod.subgroup.empty()) writer.raw(R"(,"subgroup":)").string(pod.subgroup);
  writer.raw(R"(,"resources":)");
  write_requests(writer, pod.requests);
  write_gpu(writer, pod.gpu);
  if (!write_place(in, writer, pod, !held.empty())) return false;
  write_host_ports(writer, pod.host_ports);
  if (pod.unbound_volumes) writer.raw(R"(,"unboundVolumes":true)");
  write_status(writer, pod, held);
  if (!pod.nominated_node.empty()) writer.raw(R"(,"nominatedNode":)").string(pod.nominated_node);
  if (!pod.scheduler.empty() && pod.scheduler != kDefaultScheduler)
    writer.raw(R"(,"schedulerName":)").string(pod.scheduler);
  write_labels(in, writer, pod);
  if (pod.gang < 0) write_own_terms(writer, pod, gangs, queues);
  if (!pod.unclear.empty()) writer.raw(R"(,"unclear":)").string(pod.unclear);
  writer.raw("}");
  return true;
}

}  // namespace muster
