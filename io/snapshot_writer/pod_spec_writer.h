// The members of a pod and of a pod template that come from its PodSpec.
#pragma once

#include "io/json/json_writer.h"
#include "model/snapshot/snapshot.h"

namespace muster::snapshot_writer {

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
