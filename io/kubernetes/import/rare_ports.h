// Which host ports of the pods of a cluster become resources.
#pragma once

#include <cstddef>
#include <vector>

#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

// Resources that host ports of Kubernetes objects may become: each costs a number for every node and class of pods.
inline constexpr std::size_t kMostPortResources = 256;

// Holds pods so that the host ports of all others are at most so many resources (model/snapshot/host_ports.h): the
// pods whose
// port has the fewest users first.
void hold_rare_ports(std::vector<KubernetesPod>& pods, std::size_t most_resources);

}  // namespace muster::kubernetes
