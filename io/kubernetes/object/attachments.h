// CSINode: how many volumes of each CSI driver can be attached to a node, as kube-scheduler's NodeVolumeLimits counts.
#pragma once

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

[[nodiscard]] bool read_attach_limits(KubernetesReading& reading, const KubernetesObject& object, AttachLimits& out);

}  // namespace muster::kubernetes
