#include "test/brute_force/instances/exceeded_draw.h"

#include <random>

namespace muster::brute_force {

void exceed_nodes(nlohmann::ordered_json& snapshot, std::uint64_t seed) {
  using Json = nlohmann::ordered_json;
  std::mt19937_64 random(seed * 0x9E37'79B9'7F4A'7C15U + 555);
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  if (below(5) != 0) return;
  for (Json& node : snapshot["nodes"]) {
    std::int64_t cpu = 0, devices = 0;
    const auto runs_here = [&](const Json& pod) { return pod.contains("node") && pod["node"] == node["name"]; };
    const bool forgets_devices = below(2) == 0;  // which pod is on which
    for (Json& pod : snapshot["pods"]) {
      if (!runs_here(pod)) continue;
      if (pod.contains("resources")) cpu += pod["resources"].value("cpu", std::int64_t{0});
      if (pod.contains("gpu")) devices += pod["gpu"].value("devices", pod["gpu"].value("count", std::int64_t{0}));
      if (forgets_devices) pod.erase("gpus");
    }
    if (cpu > 0 && below(2) == 0) node["resources"]["cpu"] = below(cpu);
    if (devices == 0 || !node.contains("gpus") || below(2) == 0) continue;
    const auto count = node["gpus"]["count"].get<std::int64_t>();
    if (count > 1) node["gpus"]["count"] = count - 1 - (count > 2 ? below(2) : 0);
  }
}

void exceed_rules(nlohmann::ordered_json& snapshot, std::uint64_t seed) {
  using Json = nlohmann::ordered_json;
  std::mt19937_64 random(seed * 0x9E37'79B9'7F4A'7C15U + 3'535);
  const auto one_of = [&](std::uint64_t count) { return random() % count == 0; };
  const bool ports = one_of(2), selectors = one_of(3), taints = one_of(3), limits = one_of(3), gone = one_of(6);
  for (Json& node : snapshot["nodes"]) {
    if (taints && one_of(3)) node["taints"] = Json::array({{{"key", "closed"}, {"effect", "NoExecute"}}});
  }
  for (Json& pod : snapshot["pods"]) {
    const bool runs = pod.contains("node");
    if (ports && !one_of(runs ? 3 : 2)) pod["hostPorts"] = Json::array({{{"port", one_of(3) ? 80 : 443}}});
    if (runs && selectors && one_of(2)) pod["nodeSelector"] = {{"pool", one_of(2) ? "a" : "b"}};
    if (runs && gone && one_of(4)) pod["node"] = "gone";
  }
  for (Json& queue : snapshot["queues"]) {
    if (limits && one_of(2)) queue["gpu"]["limit"] = one_of(2) ? 0 : 1;
  }
}

}  // namespace muster::brute_force
