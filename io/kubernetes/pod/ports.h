// The host ports of a pod, as kube-scheduler counts them (NodePorts, v1.37): those of its containers and of its
// restartable init containers. With `hostNetwork` every container port is one, as the API server writes it.
#pragma once

#include <vector>

#include "io/kubernetes/object/object.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

// The parts of a pod's spec that ask for ports; each may be absent.
struct PortParts {
  json::JsonValue containers, init_containers, host_network;
};

// Sorted, each once. Errors: WrongType, InvalidValue (no port, no protocol).
[[nodiscard]] bool read_host_ports(KubernetesReading& reading, const PortParts& parts, std::vector<HostPort>& out);

}  // namespace muster::kubernetes
