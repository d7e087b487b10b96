// The records of a `muster/v1` snapshot line (docs/format.md) that write_snapshot puts together.
//
// Each function appends members to the object that the caller has begun, with the comma before each key, and nothing
// where the format has a default. Units as in model/snapshot/snapshot.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "io/json/json_writer.h"
#include "model/snapshot/snapshot.h"
#include "model/snapshot/unread.h"

namespace muster::snapshot_writer {

// `key`, unless the text is empty.
void write_text(json::JsonWriter& writer, std::string_view key, std::string_view text);
void write_number(json::JsonWriter& writer, std::string_view key, std::optional<std::int64_t> number);
// `key` with an instant or a duration, in seconds.
void write_seconds(json::JsonWriter& writer, std::string_view key, std::optional<Nanoseconds> time);
// `key`, unless the list is empty.
void write_texts(json::JsonWriter& writer, std::string_view key, std::span<const std::string_view> texts);

// `gpu` of a pod. `share` as in GpuRequest.
void write_gpu_request(json::JsonWriter& writer, GpuRequestKind kind, std::int64_t devices, std::int64_t share);

// `gpus` of a node.
void write_devices(json::JsonWriter& writer, const SnapshotNode& node);

// `hostPorts` of a pod.
void write_host_ports(json::JsonWriter& writer, std::span<const HostPort> ports);

// What a gang or a pod that is a gang by itself may set about its rank: `priorityClass`, `priority`, `preemptible`,
// `preemptionPolicy`. The other members of the terms are not written.
void write_rank(json::JsonWriter& writer, const GangTerms& terms);

// `minMember`, `minSubgroups` and `subgroups` of a gang.
void write_minimum(json::JsonWriter& writer, std::optional<std::int32_t> min_member,
                   std::optional<std::int32_t> min_subgroups);
void write_subgroups(json::JsonWriter& writer, std::span<const SnapshotSubgroup> subgroups);
// `topology` of a snapshot with one topology that has no name, else `topologies`.
void write_topologies(json::JsonWriter& writer, std::span<const SnapshotTopology> topologies);
// `topology` of a gang or a subgroup.
void write_topology_request(json::JsonWriter& writer, const TopologyRequest& topology);

// `disruption` of a gang.
void write_disruption(json::JsonWriter& writer, Disruption disruption);

// Where a pod is: `status`, `held`, `node`, `gpus`. A status that follows from `node` is left out.
void write_pod_place(json::JsonWriter& writer, const SnapshotPod& pod);

// `expectedDurations` of the policy, also without any history.
void write_duration_histories(json::JsonWriter& writer, std::span<const DurationHistory> histories);

// `unread`, unless the list is empty.
void write_unread(json::JsonWriter& writer, std::span<const UnreadKey> keys);

// The members of a pod and of a pod template that come from its PodSpec.
using ResourceNames = Indexed<ResourceIndex, std::string_view>;

// `"resources":{...}`, without a comma before it. `pods` is left out if it is `default_pods`.
void write_resources(json::JsonWriter& writer, const ResourceNames& names, const std::vector<ResourceAmount>& resources,
                     Amount default_pods);
// One entry of it, without a comma: cores as a number if they are whole, memory in MiB if it is whole.
void write_resource(json::JsonWriter& writer, const ResourceNames& names, const ResourceAmount& resource);

// `"key":{...}` with a comma before it, unless there are none.
void write_labels(json::JsonWriter& writer, std::string_view key, const Labels& labels);
// The same of a selector, even of an empty one.
void write_selector(json::JsonWriter& writer, std::string_view key, const LabelSelector& selector);
std::string_view taint_effect_name(TaintEffect effect);

// The object of a template: all that a template may have.
void write_template(json::JsonWriter& writer, const ResourceNames& names, const PodSpec& spec);
// The members that only a pod may have, each with the comma before it: affinity to pods, spread, volumes.
void write_own_constraints(json::JsonWriter& writer, const PodSpec& spec);

}  // namespace muster::snapshot_writer
