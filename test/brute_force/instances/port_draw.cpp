#include "test/brute_force/instances/port_draw.h"

#include <random>
#include <set>
#include <string>

namespace muster::brute_force {

void add_host_ports(nlohmann::ordered_json& pods, std::uint64_t seed) {
  using Json = nlohmann::ordered_json;
  std::mt19937_64 random(seed * 0x9E37'79B9'7F4A'7C15U + 77);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  if (below(5) != 0) return;
  const Json ports = Json::parse(R"([{"port":80},{"port":80,"address":"10.0.0.1"},{"port":80,"address":"10.0.0.2"},
                                     {"port":80,"protocol":"UDP"},{"port":443}])");
  std::set<std::string> nodes_with_ports;
  for (Json& pod : pods) {
    if (below(2) == 0) continue;
    if (pod.contains("node") && !nodes_with_ports.insert(pod["node"].get<std::string>()).second) continue;
    pod["hostPorts"] = Json::array({ports[below(ports.size())]});
    if (below(3) == 0) pod["hostPorts"].push_back(ports[below(ports.size())]);
  }
}

}  // namespace muster::brute_force
