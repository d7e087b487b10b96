#include "io/snapshot_writer/records.h"

#include <algorithm>

namespace muster::snapshot_writer {

namespace {

std::string_view name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::kTcp:
      return "TCP";
    case Protocol::kUdp:
      return "UDP";
    case Protocol::kSctp:
      break;
  }
  return "SCTP";
}

std::string_view name_of(PodStatus status) {
  switch (status) {
    case PodStatus::kPending:
      return "pending";
    case PodStatus::kRunning:
      return "running";
    case PodStatus::kReleasing:
      return "releasing";
    case PodStatus::kGated:
      return "gated";
    case PodStatus::kSucceeded:
      return "succeeded";
    case PodStatus::kFailed:
      break;
  }
  return "failed";
}

json::JsonWriter& write_key(json::JsonWriter& writer, std::string_view key) {
  return writer.raw(",\"").raw(key).raw("\":");
}

}  // namespace

void write_text(json::JsonWriter& writer, std::string_view key, std::string_view text) {
  if (!text.empty()) write_key(writer, key).string(text);
}

void write_number(json::JsonWriter& writer, std::string_view key, std::optional<std::int64_t> number) {
  if (number) write_key(writer, key).integer(*number);
}

void write_seconds(json::JsonWriter& writer, std::string_view key, std::optional<Nanoseconds> time) {
  if (time) write_key(writer, key).decimal(*time, kNanosecondsPerSecond);
}

void write_texts(json::JsonWriter& writer, std::string_view key, std::span<const std::string_view> texts) {
  if (texts.empty()) return;
  bool first = true;
  write_key(writer, key).raw("[");
  for (const std::string_view text : texts) writer.separate(first).string(text);
  writer.raw("]");
}

void write_gpu_request(json::JsonWriter& writer, GpuRequestKind kind, std::int64_t devices, std::int64_t share) {
  switch (kind) {
    case GpuRequestKind::kNone:
      return;
    case GpuRequestKind::kWhole:
      writer.raw(R"(,"gpu":{"count":)").integer(devices).raw("}");
      return;
    case GpuRequestKind::kFraction:
      writer.raw(R"(,"gpu":{"fraction":)").decimal(share, 1'000'000);
      break;
    case GpuRequestKind::kMemory:
      writer.raw(R"(,"gpu":{"memory":")").integer(share).raw("Mi\"");
      break;
  }
  if (devices != 1) write_number(writer, "devices", devices);
  writer.raw("}");
}

void write_devices(json::JsonWriter& writer, const SnapshotNode& node) {
  if (node.gpu_count == 0) return;
  writer.raw(R"(,"gpus":{"count":)").integer(node.gpu_count);
  if (node.gpu_memory_mib > 0) writer.raw(R"(,"memory":")").integer(node.gpu_memory_mib).raw("Mi\"");
  write_text(writer, "model", node.gpu_model);
  write_texts(writer, "ids", node.gpu_ids);
  writer.raw("}");
}

void write_host_ports(json::JsonWriter& writer, std::span<const HostPort> ports) {
  if (ports.empty()) return;
  bool first = true;
  writer.raw(R"(,"hostPorts":[)");
  for (const HostPort& port : ports) {
    writer.separate(first).raw(R"({"port":)").integer(port.port);
    if (port.protocol != Protocol::kTcp) write_text(writer, "protocol", name_of(port.protocol));
    write_text(writer, "address", port.address);
    writer.raw("}");
  }
  writer.raw("]");
}

void write_rank(json::JsonWriter& writer, const GangTerms& terms) {
  if (terms.priority_class) write_text(writer, "priorityClass", *terms.priority_class);
  write_number(writer, "priority", terms.priority);
  if (terms.preemptible) writer.raw(*terms.preemptible ? R"(,"preemptible":true)" : R"(,"preemptible":false)");
  if (!terms.preemption_policy) return;
  const bool is_never = *terms.preemption_policy == PreemptionPolicy::kNever;
  write_text(writer, "preemptionPolicy", is_never ? "Never" : "PreemptLowerPriority");
}

void write_minimum(json::JsonWriter& writer, std::optional<std::int32_t> min_member,
                   std::optional<std::int32_t> min_subgroups) {
  write_number(writer, "minMember", min_member);
  write_number(writer, "minSubgroups", min_subgroups);
}

void write_subgroups(json::JsonWriter& writer, std::span<const SnapshotSubgroup> subgroups) {
  if (subgroups.empty()) return;
  bool first = true;
  writer.raw(R"(,"subgroups":[)");
  for (const SnapshotSubgroup& subgroup : subgroups) {
    writer.separate(first).raw(R"({"name":)").string(subgroup.name);
    write_text(writer, "parent", subgroup.parent);
    write_minimum(writer, subgroup.min_member, subgroup.min_subgroups);
    write_topology_request(writer, subgroup.topology);
    writer.raw("}");
  }
  writer.raw("]");
}

void write_topology_request(json::JsonWriter& writer, const TopologyRequest& topology) {
  if (topology.required.empty() && topology.preferred.empty()) return;
  bool first = true;
  writer.raw(R"(,"topology":{)");
  if (!topology.topology.empty()) writer.separate(first).raw(R"("name":)").string(topology.topology);
  if (!topology.required.empty()) writer.separate(first).raw(R"("required":)").string(topology.required);
  if (!topology.preferred.empty()) writer.separate(first).raw(R"("preferred":)").string(topology.preferred);
  writer.raw("}");
}

void write_topologies(json::JsonWriter& writer, std::span<const SnapshotTopology> topologies) {
  if (topologies.size() == 1 && topologies.front().name.empty())
    return write_texts(writer, "topology", topologies.front().levels);
  if (topologies.empty()) return;
  bool first = true;
  writer.raw(R"(,"topologies":[)");
  for (const SnapshotTopology& topology : topologies) {
    writer.separate(first).raw(R"({"name":)").string(topology.name).raw(R"(,"levels":[)");
    bool first_level = true;
    for (const std::string_view level : topology.levels) writer.separate(first_level).string(level);
    writer.raw("]}");
  }
  writer.raw("]");
}

void write_disruption(json::JsonWriter& writer, Disruption disruption) {
  if (disruption == Disruption::kPods) return;
  write_text(writer, "disruption", disruption == Disruption::kSurplus ? "surplus" : "whole");
}

void write_pod_place(json::JsonWriter& writer, const SnapshotPod& pod) {
  const PodStatus by_default = pod.node.empty() ? PodStatus::kPending : PodStatus::kRunning;
  if (pod.status != by_default) write_text(writer, "status", name_of(pod.status));
  write_text(writer, "held", pod.notes.held);
  write_text(writer, "node", pod.node);
  if (pod.devices.empty()) return;
  bool first = true;
  writer.raw(R"(,"gpus":[)");
  for (const std::int32_t device : pod.devices) writer.separate(first).integer(device);
  writer.raw("]");
}

void write_duration_histories(json::JsonWriter& writer, std::span<const DurationHistory> histories) {
  bool first = true;
  write_key(writer, "expectedDurations").raw("[");
  for (const DurationHistory& history : histories) {
    writer.separate(first).raw(R"({"gpus":[)").integer(history.from);
    if (history.to > 0) writer.raw(",").integer(history.to);
    writer.raw(R"(],"count":)").integer(history.count);
    write_seconds(writer, "mean", history.mean);
    write_text(writer, "queue", history.queue);
    writer.raw("}");
  }
  writer.raw("]");
}

void write_unread(json::JsonWriter& writer, std::span<const UnreadKey> keys) {
  bool first = true;
  if (keys.empty()) return;
  writer.raw(R"(,"unread":[)");
  for (const UnreadKey& key : keys) {
    writer.separate(first).raw(R"({"kind":)").string(key.kind).raw(R"(,"name":)").string(key.name);
    writer.raw(R"(,"place":)").string(key.place).raw(R"(,"key":)").string(key.key);
    write_text(writer, "value", key.value);
    writer.raw(R"(,"treatment":)").string(key.treatment).raw(R"(,"mayChange":)").string(key.may_change);
    if (key.count != 1) writer.raw(R"(,"count":)").integer(key.count);
    writer.raw("}");
  }
  writer.raw("]");
}

namespace {

constexpr std::string_view kRequired = R"("requiredDuringSchedulingIgnoredDuringExecution":)";
constexpr std::string_view kPreferred = R"("preferredDuringSchedulingIgnoredDuringExecution":)";
constexpr Amount kMebi = Amount{1} << 20;

std::string_view name_of(SelectorOperator op) {
  switch (op) {
    case SelectorOperator::kIn:
      return "In";
    case SelectorOperator::kNotIn:
      return "NotIn";
    case SelectorOperator::kExists:
      return "Exists";
    case SelectorOperator::kDoesNotExist:
      return "DoesNotExist";
    case SelectorOperator::kGt:
      return "Gt";
    case SelectorOperator::kLt:
      break;
  }
  return "Lt";
}

// Calls `write` for each element, between brackets and with commas.
template <class Elements, class Write>
void write_list(json::JsonWriter& writer, const Elements& elements, const Write& write) {
  bool first = true;
  writer.raw("[");
  for (const auto& element : elements) {
    writer.separate(first);
    write(element);
  }
  writer.raw("]");
}

void write_requirements(json::JsonWriter& writer, const std::vector<SelectorRequirement>& requirements) {
  write_list(writer, requirements, [&](const SelectorRequirement& requirement) {
    writer.raw(R"({"key":)").string(requirement.key);
    write_text(writer, "operator", name_of(requirement.op));
    write_texts(writer, "values", requirement.values);
    writer.raw("}");
  });
}

void write_node_term(json::JsonWriter& writer, const NodeSelectorTerm& term) {
  bool first = true;
  writer.raw("{");
  if (!term.match_expressions.empty()) {
    writer.separate(first).raw(R"("matchExpressions":)");
    write_requirements(writer, term.match_expressions);
  }
  if (!term.match_fields.empty()) {
    writer.separate(first).raw(R"("matchFields":)");
    write_requirements(writer, term.match_fields);
  }
  writer.raw("}");
}

void write_node_terms(json::JsonWriter& writer, const std::vector<NodeSelectorTerm>& terms) {
  writer.raw(R"({"nodeSelectorTerms":)");
  write_list(writer, terms, [&](const NodeSelectorTerm& term) { write_node_term(writer, term); });
  writer.raw("}");
}

void write_node_affinity(json::JsonWriter& writer, const NodeAffinity& affinity) {
  if (!affinity.required && affinity.preferred.empty()) return;
  bool first = true;
  writer.raw(R"(,"nodeAffinity":{)");
  if (affinity.required) {
    writer.separate(first).raw(kRequired);
    write_node_terms(writer, *affinity.required);
  }
  if (!affinity.preferred.empty()) {
    writer.separate(first).raw(kPreferred);
    write_list(writer, affinity.preferred, [&](const PreferredNodeTerm& preferred) {
      writer.raw(R"({"weight":)").integer(preferred.weight).raw(R"(,"preference":)");
      write_node_term(writer, preferred.term);
      writer.raw("}");
    });
  }
  writer.raw("}");
}

void write_tolerations(json::JsonWriter& writer, const std::vector<Toleration>& tolerations) {
  if (tolerations.empty()) return;
  writer.raw(R"(,"tolerations":)");
  write_list(writer, tolerations, [&](const Toleration& toleration) {
    bool first = true;
    writer.raw("{");
    if (!toleration.key.empty()) writer.separate(first).raw(R"("key":)").string(toleration.key);
    writer.separate(first).raw(R"("operator":)").string(toleration.exists ? "Exists" : "Equal");
    write_text(writer, "value", toleration.value);
    if (toleration.effect) write_text(writer, "effect", taint_effect_name(*toleration.effect));
    writer.raw("}");
  });
}

void write_pod_term(json::JsonWriter& writer, const PodTerm& term) {
  writer.raw(R"({"topologyKey":)").string(term.topology_key);
  if (term.match_gang) writer.raw(R"(,"matchGang":true)");
  if (term.selector) write_selector(writer, "labelSelector", *term.selector);
  write_texts(writer, "namespaces", term.namespaces);
  if (term.all_namespaces) writer.raw(R"(,"namespaceSelector":{})");
  if (term.namespace_selector) write_selector(writer, "namespaceSelector", *term.namespace_selector);
  writer.raw("}");
}

void write_pod_terms(json::JsonWriter& writer, const std::vector<PodTerm>& terms) {
  write_list(writer, terms, [&](const PodTerm& term) { write_pod_term(writer, term); });
}

// One required term by itself, several as a list, preferred ones as Kubernetes writes them.
void write_pod_affinity(json::JsonWriter& writer, std::string_view key, const std::vector<PodTerm>& required,
                        const std::vector<PreferredPodTerm>& preferred) {
  if (required.empty() && preferred.empty()) return;
  writer.raw(",\"").raw(key).raw("\":");
  if (preferred.empty() && required.size() == 1) return write_pod_term(writer, required.front());
  if (preferred.empty()) return write_pod_terms(writer, required);
  writer.raw("{");
  if (!required.empty()) {
    writer.raw(kRequired);
    write_pod_terms(writer, required);
    writer.raw(",");
  }
  writer.raw(kPreferred);
  write_list(writer, preferred, [&](const PreferredPodTerm& one) {
    writer.raw(R"({"weight":)").integer(one.weight).raw(R"(,"podAffinityTerm":)");
    write_pod_term(writer, one.term);
    writer.raw("}");
  });
  writer.raw("}");
}

void write_spread(json::JsonWriter& writer, const SpreadConstraint& spread) {
  const bool is_hard = spread.when_unsatisfiable == Unsatisfiable::kDoNotSchedule;
  writer.raw(R"({"maxSkew":)").integer(spread.max_skew);
  write_text(writer, "topologyKey", spread.topology_key);
  write_text(writer, "whenUnsatisfiable", is_hard ? "DoNotSchedule" : "ScheduleAnyway");
  if (spread.selector) write_selector(writer, "labelSelector", *spread.selector);
  if (spread.min_domains > 1) write_number(writer, "minDomains", spread.min_domains);
  write_texts(writer, "matchLabelKeys", spread.match_label_keys);
  if (!spread.honors_affinity) writer.raw(R"(,"nodeAffinityPolicy":"Ignore")");
  if (spread.honors_taints) writer.raw(R"(,"nodeTaintsPolicy":"Honor")");
  writer.raw("}");
}

}  // namespace

std::string_view taint_effect_name(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule:
      return "NoSchedule";
    case TaintEffect::kNoExecute:
      return "NoExecute";
    case TaintEffect::kPreferNoSchedule:
      break;
  }
  return "PreferNoSchedule";
}

void write_resource(json::JsonWriter& writer, const ResourceNames& names, const ResourceAmount& resource) {
  const Amount amount = resource.amount;
  writer.string(names[resource.resource]).raw(":");
  if (resource.resource == kCpu && amount % 1000 == 0) {
    writer.integer(amount / 1000);
  } else if (resource.resource == kCpu) {
    writer.raw("\"").integer(amount).raw("m\"");
  } else if (resource.resource == kMemory && amount % kMebi == 0) {
    writer.raw("\"").integer(amount / kMebi).raw("Mi\"");
  } else {
    writer.integer(amount);
  }
}

void write_resources(json::JsonWriter& writer, const ResourceNames& names, const std::vector<ResourceAmount>& resources,
                     Amount default_pods) {
  const auto pods = std::ranges::find(resources, kPods, &ResourceAmount::resource);
  bool first = true;
  writer.raw(R"("resources":{)");
  for (const ResourceAmount& resource : resources) {
    if (resource.resource != kPods || resource.amount != default_pods)
      write_resource(writer.separate(first), names, resource);
  }
  if (pods == resources.end() && default_pods != 0) write_resource(writer.separate(first), names, {kPods, 0});
  writer.raw("}");
}

void write_labels(json::JsonWriter& writer, std::string_view key, const Labels& labels) {
  if (labels.empty()) return;
  bool first = true;
  writer.raw(",\"").raw(key).raw("\":{");
  for (const auto& [name, value] : labels) writer.separate(first).string(name).raw(":").string(value);
  writer.raw("}");
}

void write_selector(json::JsonWriter& writer, std::string_view key, const LabelSelector& selector) {
  writer.raw(",\"").raw(key).raw("\":{");
  if (!selector.requirements.empty()) {
    writer.raw(R"("matchExpressions":)");
    write_requirements(writer, selector.requirements);
  }
  writer.raw("}");
}

void write_template(json::JsonWriter& writer, const ResourceNames& names, const PodSpec& spec) {
  writer.raw("{");
  write_resources(writer, names, spec.resources, 1);
  write_gpu_request(writer, spec.gpu.kind, spec.gpu.devices, spec.gpu.share);
  write_texts(writer, "gpuModels", spec.gpu_models);
  write_labels(writer, "nodeSelector", spec.node_selector);
  write_node_affinity(writer, spec.node_affinity);
  write_tolerations(writer, spec.tolerations);
  write_host_ports(writer, spec.host_ports);
  writer.raw("}");
}

void write_own_constraints(json::JsonWriter& writer, const PodSpec& spec) {
  write_pod_affinity(writer, "podAntiAffinity", spec.anti_affinity, spec.preferred_anti_affinity);
  write_pod_affinity(writer, "podAffinity", spec.affinity, spec.preferred_affinity);
  if (!spec.topology_spread.empty()) {
    writer.raw(R"(,"topologySpread":)");
    write_list(writer, spec.topology_spread, [&](const SpreadConstraint& spread) { write_spread(writer, spread); });
  }
  if (spec.volume_terms) {
    writer.raw(R"(,"volumeNodeAffinity":{"required":)");
    write_node_terms(writer, *spec.volume_terms);
    writer.raw("}");
  }
}

}  // namespace muster::snapshot_writer
