#include "io/kubernetes/import/pod_writer.h"

#include <algorithm>
#include <string>

#include "io/snapshot_writer/records.h"

namespace muster::kubernetes {

namespace {

// Tolerations with unknown operators are left out: tolerating less is always safe.
bool write_list_of_tolerations(KubernetesReading& in, json::JsonWriter& writer, const KubernetesPod& pod,
                               json::JsonValue list, bool& first) {
  static constexpr std::array<std::string_view, 4> kKeys = {"effect", "key", "operator", "value"};
  for (const json::JsonValue element : list.elements()) {
    std::array<json::JsonValue, 4> found;
    std::array<std::string_view, 4> words;
    if (!in.expect(element, json::JsonKind::kObject) || !in.take(element, kKeys, found)) return false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!in.text(found[i], words[i])) return false;
    }
    if (!words[2].empty() && words[2] != "Exists" && words[2] != "Equal") {
      in.remarks.add("a toleration with an operator other than Exists and Equal is ignored", pod.full_name());
      continue;
    }
    snapshot_writer::write_toleration(writer.separate(first), {words[1], words[2], words[3], words[0]});
  }
  return true;
}

bool write_tolerations(KubernetesReading& in, json::JsonWriter& writer, const KubernetesPod& pod) {
  const PodConstraints& constraints = pod.constraints;
  if (!constraints.tolerations && constraints.more_tolerations.empty()) return true;
  bool first = true;
  writer.raw(R"(,"tolerations":[)");
  if (constraints.tolerations && !write_list_of_tolerations(in, writer, pod, constraints.tolerations, first))
    return false;
  for (const json::JsonValue list : constraints.more_tolerations) {
    if (!write_list_of_tolerations(in, writer, pod, list, first)) return false;
  }
  writer.raw("]");
  return true;
}

// Those members of an object that have one of the keys.
template <std::size_t N>
bool write_known(KubernetesReading& in, json::JsonWriter& writer, json::JsonValue object,
                 const std::array<std::string_view, N>& keys) {
  std::array<json::JsonValue, N> found;
  if (!in.expect(object, json::JsonKind::kObject) || !in.take(object, keys, found)) return false;
  bool first = true;
  writer.raw("{");
  for (std::size_t i = 0; i < N; ++i) {
    if (!found[i]) continue;
    writer.separate(first).string(keys[i]).raw(":");
    write_json(writer, in.numbers, found[i]);
  }
  writer.raw("}");
  return true;
}

constexpr std::array<std::string_view, 4> kTermKeys = {"labelSelector", "namespaceSelector", "namespaces",
                                                       "topologyKey"};

constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

bool write_required_terms(KubernetesReading& in, json::JsonWriter& writer, json::JsonValue required) {
  bool first = true;
  writer.raw("[");
  for (const json::JsonValue term : required.elements()) {
    if (!write_known(in, writer.separate(first), term, kTermKeys)) return false;
  }
  writer.raw("]");
  return true;
}

bool write_preferred_terms(KubernetesReading& in, json::JsonWriter& writer,
                           const std::vector<json::JsonValue>& preferred) {
  static constexpr std::array<std::string_view, 2> kKeys = {"podAffinityTerm", "weight"};
  bool first = true;
  writer.raw("[");
  for (const json::JsonValue term : preferred) {
    std::array<json::JsonValue, 2> found;
    if (!in.take(term, kKeys, found)) return false;
    writer.separate(first).raw("{");
    if (found[1]) {
      writer.raw(R"("weight":)");
      write_json(writer, in.numbers, found[1]);
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
bool write_pod_terms(KubernetesReading& in, json::JsonWriter& writer, std::string_view key,
                     const PodTermValues& terms) {
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

bool write_spread(KubernetesReading& in, json::JsonWriter& writer, json::JsonValue constraints) {
  static constexpr std::array<std::string_view, 8> kKeys = {"labelSelector", "matchLabelKeys",     "maxSkew",
                                                            "minDomains",    "nodeAffinityPolicy", "nodeTaintsPolicy",
                                                            "topologyKey",   "whenUnsatisfiable"};
  if (!constraints) return true;
  bool first = true;
  writer.raw(R"(,"topologySpread":[)");
  for (const json::JsonValue constraint : constraints.elements()) {
    if (!write_known(in, writer.separate(first), constraint, kKeys)) return false;
  }
  writer.raw("]");
  return true;
}

// A pod that must not be placed must not be moved either: the node where it runs is the only one that it accepts.
void write_pin(json::JsonWriter& writer, std::string_view node) {
  writer.raw(R"(,"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)");
  writer.raw(R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":[)").string(node).raw("]}]}]}}");
}

void write_resources(json::JsonWriter& writer, const KubernetesPod& pod) {
  writer.raw(R"("resources":)");
  write_requests(writer, pod.requests);
  snapshot_writer::write_gpu_request(writer, pod.gpus.request.kind, pod.gpus.request.devices, pod.gpus.request.amount);
}

void write_node_selector(KubernetesReading& in, json::JsonWriter& writer, const KubernetesPod& pod) {
  if (!pod.constraints.node_selector) return;
  writer.raw(R"(,"nodeSelector":)");
  write_json(writer, in.numbers, pod.constraints.node_selector);
}

// What the pod asks of nodes, or Kueue's flavors in its place, and what its gang asks.
bool write_joined_affinity(KubernetesReading& in, json::JsonWriter& writer, const PodConstraints& constraints,
                           const NodeTerm& of_gang) {
  static constexpr std::array<std::string_view, 2> kStrengths = {kPreferred, kRequired};
  std::array<json::JsonValue, 2> found;
  json::JsonValue terms;
  std::optional<NodeTerms> nodes = constraints.node_terms;
  if (constraints.node_affinity && !in.take(constraints.node_affinity, kStrengths, found)) return false;
  if (!nodes && found[1]) {
    if (!in.take(found[1], "nodeSelectorTerms", terms) || !read_node_terms(in, terms, nodes.emplace())) return false;
  }
  if (!of_gang.empty()) nodes = nodes ? both(*nodes, {of_gang}) : NodeTerms{of_gang};
  writer.raw(R"(,"nodeAffinity":{)").string(kRequired).raw(":");
  write_node_terms(writer, *nodes);
  if (found[0]) {
    writer.raw(",").string(kPreferred).raw(":");
    write_json(writer, in.numbers, found[0]);
  }
  writer.raw("}");
  return true;
}

bool write_node_affinity(KubernetesReading& in, json::JsonWriter& writer, const KubernetesPod& pod,
                         const KubernetesGangs& gangs) {
  const NodeTerm of_gang = gangs.nodes(pod);
  if (!gangs.held(pod).empty() && pod.state.is_on_node()) {
    write_pin(writer, pod.state.node);
  } else if (!of_gang.empty() || pod.constraints.node_terms) {
    if (!write_joined_affinity(in, writer, pod.constraints, of_gang)) return false;
  } else if (pod.constraints.node_affinity) {
    writer.raw(R"(,"nodeAffinity":)");
    write_json(writer, in.numbers, pod.constraints.node_affinity);
  }
  if (pod.volumes.node_terms) {
    writer.raw(R"(,"volumeNodeAffinity":{"required":)");
    write_node_terms(writer, *pod.volumes.node_terms);
    writer.raw("}");
  }
  return true;
}

// With kept texts, what is in them stands in a template.
bool write_spec(KubernetesReading& in, json::JsonWriter& writer, const KubernetesPod& pod, const KubernetesGangs& gangs,
                PodTemplates& templates) {
  if (pod.source.texts != nullptr) {
    writer.raw(R"(,"template":")").raw(templates.name_of(pod.source.texts->spec)).raw("\"");
  } else {
    write_resources(writer.raw(","), pod);
    write_node_selector(in, writer, pod);
  }
  return write_node_affinity(in, writer, pod, gangs) &&
         (pod.source.texts != nullptr || write_tolerations(in, writer, pod)) &&
         write_pod_terms(in, writer, "podAffinity", pod.constraints.affinity) &&
         write_pod_terms(in, writer, "podAntiAffinity", pod.constraints.anti_affinity) &&
         write_spread(in, writer, pod.constraints.topology_spread);
}

void write_identity(json::JsonWriter& writer, const KubernetesPod& pod, const KubernetesGangs& gangs) {
  writer.raw(R"({"name":)").string(pod.full_name()).raw(R"(,"namespace":)").string(pod.namespace_name);
  if (pod.membership.gang >= 0) snapshot_writer::write_text(writer, "gang", gangs.name(pod));
  snapshot_writer::write_text(writer, "subgroup", pod.membership.subgroup);
}

// A pod with a gate of the cluster waits for that one first.
void write_state(json::JsonWriter& writer, const KubernetesPod& pod, std::string_view held) {
  const PodState& state = pod.state;
  const bool is_held = state.status == PodStatus::kPending && !held.empty();
  snapshot_writer::write_pod_place(writer,
                                   {state.status, is_held ? held : std::string_view(), state.node, pod.gpus.devices});
  snapshot_writer::write_text(writer, "started", state.started);
  snapshot_writer::write_text(writer, "created", state.created);
}

// The keys that a pod without a gang sets itself.
void write_own_terms(json::JsonWriter& writer, const KubernetesPod& pod, const KubernetesGangs& gangs,
                     KubernetesQueues& queues) {
  const std::int32_t priority = gangs.priority_of(pod);
  const std::string_view queue = pod.membership.labels.kueue_queue;
  writer.raw(R"(,"queue":)")
      .string(queue.empty() ? queues.common_queue() : queues.kueue().name_of(pod.namespace_name, queue));
  GangTerms terms;
  terms.priority = priority;
  terms.preemptible = priority < kSystemPriority && !pod.owner.is_fixed && !pod.state.is_protected &&
                      pod.membership.dialect.allows_preemption.value_or(true);
  if (pod.priority.never_preempts) terms.preemption_policy = PreemptionPolicy::kNever;
  snapshot_writer::write_rank(writer, terms);
  snapshot_writer::write_seconds(writer, "expectedDuration", pod.run_time.value());
}

// A name with a slash is none of Kubernetes.
void write_owner(json::JsonWriter& writer, const ObjectName& owner) {
  const auto is_name = [](std::string_view text) { return !text.empty() && text.find('/') == std::string_view::npos; };
  if (!is_name(owner.kind) || !is_name(owner.name)) return;
  snapshot_writer::write_text(writer, "owner", std::string(owner.kind).append("/").append(owner.name));
}

void write_labels(KubernetesReading& in, json::JsonWriter& writer, const KubernetesPod& pod) {
  if (!pod.labels.own && pod.labels.added.empty()) return;
  writer.raw(R"(,"labels":)");
  if (pod.labels.added.empty() && pod.source.texts != nullptr) {
    writer.raw(pod.source.texts->labels);
    return;
  }
  if (pod.labels.added.empty()) return write_json(writer, in.numbers, pod.labels.own);
  bool first = true;
  writer.raw("{");
  for (const auto& [key, value] : pod.labels.added) writer.separate(first).string(key).raw(":").string(value);
  if (pod.labels.own) {
    for (const json::JsonMember label : pod.labels.own.members()) {
      const bool is_added = std::ranges::find(pod.labels.added, label.key,
                                              [](const auto& added) { return added.first; }) != pod.labels.added.end();
      if (is_added || label.value.is(json::JsonKind::kNull)) continue;
      writer.separate(first).string(label.key).raw(":");
      write_json(writer, in.numbers, label.value);
    }
  }
  writer.raw("}");
}

}  // namespace

std::string PodTemplates::name_of(std::string_view text) {
  const auto [found, is_new] = known_.try_emplace(text, texts_.size());
  if (is_new) texts_.push_back(text);
  return "t" + std::to_string(found->second);
}

void PodTemplates::write(json::JsonWriter& writer) const {
  if (texts_.empty()) return;
  bool first = true;
  writer.raw(R"(,"podTemplates":{)");
  for (std::size_t i = 0; i < texts_.size(); ++i)
    writer.separate(first).raw("\"t").integer(static_cast<std::int64_t>(i)).raw("\":{").raw(texts_[i]).raw("}");
  writer.raw("}");
}

bool write_pod_texts(KubernetesReading& in, const KubernetesPod& pod, PodTexts& out) {
  out = {};
  json::JsonWriter spec(out.spec), labels(out.labels);
  write_resources(spec, pod);
  write_node_selector(in, spec, pod);
  if (pod.labels.own) write_json(labels, in.numbers, pod.labels.own);
  return write_tolerations(in, spec, pod);
}

bool write_pod(KubernetesReading& in, json::JsonWriter& writer, const KubernetesPod& pod, const KubernetesGangs& gangs,
               KubernetesQueues& queues, PodTemplates& templates) {
  const std::string_view held = gangs.held(pod);
  write_identity(writer, pod, gangs);
  if (!write_spec(in, writer, pod, gangs, templates)) return false;
  snapshot_writer::write_host_ports(writer, pod.constraints.host_ports);
  if (pod.volumes.has_unbound_claim) writer.raw(R"(,"unboundVolumes":true)");
  write_state(writer, pod, held);
  snapshot_writer::write_text(writer, "nominatedNode", pod.state.nominated_node);
  if (pod.constraints.scheduler != kDefaultScheduler)
    snapshot_writer::write_text(writer, "schedulerName", pod.constraints.scheduler);
  write_owner(writer, pod.owner.top);
  write_labels(in, writer, pod);
  if (pod.membership.gang < 0) write_own_terms(writer, pod, gangs, queues);
  snapshot_writer::write_text(writer, "unclear", pod.unclear);
  writer.raw("}");
  return true;
}

void write_unclear_pod(json::JsonWriter& writer, const KubernetesPod& pod, const KubernetesGangs& gangs,
                       std::string_view why) {
  write_identity(writer, pod, gangs);
  snapshot_writer::write_text(writer, "node", pod.state.node);
  if (pod.state.status == PodStatus::kReleasing) writer.raw(R"(,"status":"releasing")");
  writer.raw(R"(,"unclear":)").string(why).raw("}");
}

}  // namespace muster::kubernetes
