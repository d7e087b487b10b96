#include "io/kubernetes/import/devices.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "model/base/words.h"

namespace muster::kubernetes {

namespace {

struct NodeContents {
  std::vector<KubernetesPod*> whole, sharers;
};

void number_devices(NodeContents& node) {
  std::int32_t next = 0;
  std::ranges::sort(node.whole, {}, [](const KubernetesPod* pod) { return pod->full_name(); });
  for (KubernetesPod* pod : node.whole) {
    for (std::int64_t i = 0; i < pod->gpus.request.devices; ++i) pod->gpus.devices.push_back(next++);
  }
  std::map<std::string_view, std::int32_t> groups;
  for (const KubernetesPod* pod : node.sharers) {
    for (const std::string_view group : pod->gpus.groups) groups.emplace(group, 0);
  }
  for (auto& [group, device] : groups) device = next++;
  for (KubernetesPod* pod : node.sharers) {
    for (const std::string_view group : pod->gpus.groups) pod->gpus.devices.push_back(groups.at(group));
  }
}

}  // namespace

bool assign_devices(KubernetesReading& in, std::vector<KubernetesPod>& pods, std::size_t& culprit) {
  constexpr std::int64_t kMostDevices = 65'536;  // of a pod
  std::map<std::string_view, NodeContents> nodes;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    KubernetesPod& pod = pods[i];
    if (pod.gpus.groups.empty() || !pod.state.is_on_node()) continue;
    if (std::ssize(pod.gpus.groups) != pod.gpus.request.devices) {
      std::string what = "the pod shares " + counted(pod.gpus.request.devices, "device") + " but names " +
                         counted(std::ssize(pod.gpus.groups), "device group");
      if (!in.strict) {
        pod.unclear = std::move(what);
        pod.gpus.groups.clear();
        continue;
      }
      culprit = i;
      return in.fail_value(pod.source.object, std::move(what));
    }
    nodes[pod.state.node].sharers.push_back(&pod);
  }
  if (nodes.empty()) return true;
  for (KubernetesPod& pod : pods) {
    if (pod.gpus.request.kind != GpuRequestKind::kWhole || !pod.state.is_on_node() ||
        pod.gpus.request.devices > kMostDevices)
      continue;
    if (const auto node = nodes.find(pod.state.node); node != nodes.end()) node->second.whole.push_back(&pod);
  }
  for (auto& [name, node] : nodes) number_devices(node);
  return true;
}

}  // namespace muster::kubernetes
