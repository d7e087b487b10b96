// The host ports of a pod, as kube-scheduler counts them (NodePorts, v1.37): those of its containers and of its
// restartable init containers. With `hostNetwork` every container port is one, as the API server writes it.
#pragma once

#include <vector>

#include "io/kubernetes_object.h"
#include "io/kubernetes_pod.h"

namespace muster {

// The parts of a pod's spec that ask for ports; each may be absent.
struct PortParts {
  JsonValue containers, init_containers, host_network;
};

// Sorted, each once. Errors: WrongType, InvalidValue (no port, no protocol).
[[nodiscard]] bool read_host_ports(KubernetesReading& reading, const PortParts& parts, std::vector<HostPort>& out);

// `,"hostPorts":[...]`, or nothing.
void write_host_ports(JsonWriter& writer, const std::vector<HostPort>& ports);

// Resources that host ports of Kubernetes objects may become: each costs a number for every node and class of pods.
inline constexpr std::size_t kMostPortResources = 256;

// Holds pods so that the host ports of all others are at most so many resources (model/host_ports.h): the pods whose
// port has the fewest users first.
void hold_rare_ports(std::vector<KubernetesPod>& pods, std::size_t most_resources);

}  // namespace muster
