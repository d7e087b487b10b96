// A cluster as `kubectl get nodes,pods,podgroups -A -o json --show-managed-fields` prints it: objects of realistic
// shape and size.
#pragma once

#include <cstdint>
#include <string>

namespace muster::generator {

struct KubernetesListOptions {
  std::int64_t nodes = 5'000;
  std::int64_t pods = 100'000;
  std::int64_t indentation = 4;  // as kubectl prints; 0: all on one line
};

// A List of nodes of 8 devices (10 kB each, all on one line), of pods (4 kB each), nine of ten running, as even as can
// be, eight of a node with a device, and of pod groups (scheduling.x-k8s.io) of four pending pods each. Equal options,
// equal text. Requires at least one node and at most 100 running pods a node.
std::string kubernetes_list(const KubernetesListOptions& options);

}  // namespace muster::generator
