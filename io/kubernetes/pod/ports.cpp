#include "io/kubernetes/pod/ports.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/snapshot/host_ports.h"

namespace muster::kubernetes {

namespace {

constexpr std::array<std::pair<std::string_view, Protocol>, 3> kProtocols = {
    {{"TCP", Protocol::kTcp}, {"UDP", Protocol::kUdp}, {"SCTP", Protocol::kSctp}}};

enum class Network : std::uint8_t { kOwn, kOfHost };

// Without a host port: nothing.
bool read_port(KubernetesReading& in, json::JsonValue object, Network network, std::vector<HostPort>& out) {
  static constexpr std::array<std::string_view, 4> kKeys = {"containerPort", "hostIP", "hostPort", "protocol"};
  constexpr std::int64_t kLastPort = 65'535;
  std::array<json::JsonValue, 4> found;
  if (!in.expect(object, json::JsonKind::kObject) || !in.take(object, kKeys, found)) return false;
  HostPort port;
  std::int64_t number = 0;
  if (found[2] && !in.read_integer(found[2], 0, kLastPort, number)) return false;
  if (number == 0 && network == Network::kOfHost && found[0] && !in.read_integer(found[0], 0, kLastPort, number)) {
    return false;
  }
  if (number == 0) return true;
  port.port = static_cast<std::int32_t>(number);
  std::string_view protocol;
  if (!in.text(found[1], port.address) || !in.text(found[3], protocol)) return false;
  if (port.address == "0.0.0.0") port.address = {};
  if (!protocol.empty() && !json::read_choice(in, found[3], kProtocols, port.protocol)) return false;
  out.push_back(port);
  return true;
}

bool read_container(KubernetesReading& in, json::JsonValue container, Network network, std::vector<HostPort>& out) {
  json::JsonValue ports;
  bool has_any = false;
  if (!in.expect(container, json::JsonKind::kObject) || !in.take(container, "ports", ports) ||
      !in.has_elements(ports, has_any)) {
    return false;
  }
  if (!has_any) return true;
  for (const json::JsonValue port : ports.elements()) {
    if (!read_port(in, port, network, out)) return false;
  }
  return true;
}

bool is_restartable(KubernetesReading& in, json::JsonValue container, bool& out) {
  json::JsonValue policy;
  std::string_view word;
  if (!in.expect(container, json::JsonKind::kObject) || !in.take(container, "restartPolicy", policy) ||
      !in.text(policy, word)) {
    return false;
  }
  out = word == "Always";
  return true;
}

}  // namespace

bool read_host_ports(KubernetesReading& in, const PortParts& parts, std::vector<HostPort>& out) {
  bool is_of_host = false, has_any = false;
  if (!in.flag(parts.host_network, is_of_host)) return false;
  const Network network = is_of_host ? Network::kOfHost : Network::kOwn;
  if (!in.has_elements(parts.containers, has_any)) return false;
  if (has_any) {
    for (const json::JsonValue container : parts.containers.elements()) {
      if (!read_container(in, container, network, out)) return false;
    }
  }
  has_any = false;
  if (!in.has_elements(parts.init_containers, has_any)) return false;
  if (has_any) {
    for (const json::JsonValue container : parts.init_containers.elements()) {
      bool stays = false;
      if (!is_restartable(in, container, stays)) return false;
      if (stays && !read_container(in, container, network, out)) return false;
    }
  }
  std::ranges::sort(out);
  const auto rest = std::ranges::unique(out);
  out.erase(rest.begin(), rest.end());
  return true;
}

}  // namespace muster::kubernetes
