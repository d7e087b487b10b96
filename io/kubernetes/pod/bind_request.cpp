#include "io/kubernetes/pod/bind_request.h"

#include <algorithm>

namespace muster::kubernetes {

bool read_bind_request(KubernetesReading& in, const KubernetesObject& object, KubernetesBinding& out) {
  static constexpr std::array<std::string_view, 3> kSpec = {"podName", "selectedGPUGroups", "selectedNode"};
  std::array<json::JsonValue, 3> spec;
  json::JsonValue phase;
  std::string_view phase_name, pod;
  bool has_groups = false;
  if (!in.take(object.spec, kSpec, spec) || !in.take(object.status, "phase", phase) || !in.text(phase, phase_name) ||
      !in.text(spec[0], pod) || !in.text(spec[2], out.node) || !in.has_elements(spec[1], has_groups)) {
    return false;
  }
  if (has_groups) {
    for (const json::JsonValue element : spec[1].elements()) {
      if (!in.text(element, out.gpu_groups.emplace_back())) return false;
    }
    std::ranges::sort(out.gpu_groups);
  }
  out.namespace_name = object.namespace_name;
  if (phase_name != "Failed" && !out.node.empty()) out.pod = pod;
  return true;
}

}  // namespace muster::kubernetes
