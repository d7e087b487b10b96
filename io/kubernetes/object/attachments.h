// CSINode: how many volumes of each CSI driver can be attached to a node, as kube-scheduler's NodeVolumeLimits counts.
#pragma once

#include <string_view>

#include "io/json/json_writer.h"
#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

[[nodiscard]] bool read_attach_limits(KubernetesReading& reading, const KubernetesObject& object, AttachLimits& out);

// `,"resource":limit` for each driver; a node without a limit has as many as Kubernetes can count. Requires an object
// of resources that has begun.
void write_attach_limits(json::JsonWriter& writer, const AttachLimits& limits, std::string_view node, bool& first);

}  // namespace muster::kubernetes
