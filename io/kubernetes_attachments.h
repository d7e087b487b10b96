// CSINode: how many volumes of each CSI driver can be attached to a node, as kube-scheduler's NodeVolumeLimits counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "io/json_writer.h"

namespace muster {

struct KubernetesObject;
struct KubernetesReading;

// A driver of which some node has a limit.
struct AttachLimit {
  std::string resource;  // that stands for an attached volume of the driver
  std::map<std::string_view, std::int64_t> of_node;
};

// Views into the document, whose drivers and nodes it names.
struct AttachLimits {
  std::map<std::string_view, AttachLimit> of_driver;
  bool is_known = false;  // there is a CSINode
};

[[nodiscard]] bool read_attach_limits(KubernetesReading& reading, const KubernetesObject& object, AttachLimits& out);

// `,"resource":limit` for each driver; a node that says nothing of it has room for as many as Kubernetes can count.
// Requires an object of resources that has begun.
void write_attach_limits(JsonWriter& writer, const AttachLimits& limits, std::string_view node, bool& first);

}  // namespace muster
