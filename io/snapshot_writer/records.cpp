#include "io/snapshot_writer/records.h"

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

void write_devices(json::JsonWriter& writer, const DeviceRecord& devices) {
  if (devices.count == 0) return;
  writer.raw(R"(,"gpus":{"count":)").integer(devices.count);
  if (devices.memory > 0) writer.raw(R"(,"memory":")").integer(devices.memory).raw(devices.memory_unit).raw("\"");
  write_text(writer, "model", devices.model);
  write_texts(writer, "ids", devices.ids);
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

void write_toleration(json::JsonWriter& writer, const TolerationRecord& toleration) {
  const std::pair<std::string_view, std::string_view> members[] = {
      {"key", toleration.key}, {"operator", toleration.op}, {"value", toleration.value}, {"effect", toleration.effect}};
  bool first = true;
  writer.raw("{");
  for (const auto& [key, text] : members) {
    if (!text.empty()) writer.separate(first).raw("\"").raw(key).raw("\":").string(text);
  }
  writer.raw("}");
}

void write_requirement(json::JsonWriter& writer, std::string_view key, std::string_view op,
                       std::span<const std::string_view> values) {
  writer.raw(R"({"key":)").string(key).raw(R"(,"operator":)").string(op);
  write_texts(writer, "values", values);
  writer.raw("}");
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

void write_pod_place(json::JsonWriter& writer, const PodPlaceRecord& place) {
  const PodStatus by_default = place.node.empty() ? PodStatus::kPending : PodStatus::kRunning;
  const PodStatus status = place.held.empty() ? place.status : PodStatus::kGated;
  if (status != by_default) write_text(writer, "status", name_of(status));
  write_text(writer, "held", place.held);
  write_text(writer, "node", place.node);
  if (place.devices.empty()) return;
  bool first = true;
  writer.raw(R"(,"gpus":[)");
  for (const std::int32_t device : place.devices) writer.separate(first).integer(device);
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

}  // namespace muster::snapshot_writer
