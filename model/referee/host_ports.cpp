// Rule HostPorts: no two pods on a node that use one port of it. A pair is reported only if one of the two is placed; a
// pod that leaves blocks every placement that does not name it in `after`.
#include <algorithm>
#include <map>

#include "model/referee/case.h"

namespace muster::referee {
namespace {

// One pod at one place: where it is in the end or, if it leaves, where it was before. A moved pod has two of these.
struct Occupant {
  PodIndex pod;
  bool leaving = false;
};

struct PortNode {
  std::vector<const Placement*> arrivals;  // with host ports
  std::vector<Occupant> residents;         // with host ports, what runs or is releasing
};

bool conflict(const HostPort& a, const HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol &&
         (a.address.empty() || b.address.empty() || a.address == b.address);
}

const HostPort* conflicting_port(const PodSpec& a, const PodSpec& b) {
  for (const HostPort& mine : a.host_ports) {
    const auto theirs = std::ranges::find_if(b.host_ports, [&](const HostPort& port) { return conflict(mine, port); });
    if (theirs != b.host_ports.end()) return &mine;
  }
  return nullptr;
}

std::map<NodeIndex, PortNode> nodes_with_arrivals(const Case& c) {
  std::map<NodeIndex, PortNode> nodes;
  for (const Placement& placement : c.plan.placements) {
    if (!c.spec(placement.pod).host_ports.empty()) nodes[placement.node].arrivals.push_back(&placement);
  }
  if (nodes.empty()) return nodes;
  for (const PodIndex pod : c.problem.pods.indices()) {
    const NodeIndex before = c.node_before(pod);
    if (before.is_none() || c.spec(pod).host_ports.empty()) continue;
    const auto at = nodes.find(before);
    if (at != nodes.end()) at->second.residents.push_back({pod, c.leaves(pod)});
  }
  return nodes;
}

std::string words_of(const Case& c, const HostPort& port, PodIndex other) {
  return "host port " + std::to_string(port.port) + ", which " + c.quoted(other) + " uses";
}

void check_beside_resident(Case& c, const Placement& comes, const Occupant& there) {
  if (comes.pod == there.pod) return;
  const HostPort* port = conflicting_port(c.spec(comes.pod), c.spec(there.pod));
  if (port == nullptr) return;
  if (!there.leaving) {
    return c.object(Rule::kHostPorts, c.pod(comes.pod).name, "it requests " + words_of(c, *port, there.pod));
  }
  if (c.eviction[there.pod]) c.kept_out[there.pod.value()] = 1;
  if (std::ranges::binary_search(comes.after, there.pod)) return;
  c.object(Rule::kHostPorts, c.pod(comes.pod).name,
           "it requests " + words_of(c, *port, there.pod) + ", and that pod leaves but is not in its `after`");
}

}  // namespace

void check_host_ports(Case& c) {
  for (const auto& [node, there] : nodes_with_arrivals(c)) {
    for (std::size_t i = 0; i < there.arrivals.size(); ++i) {
      for (const Occupant& resident : there.residents) check_beside_resident(c, *there.arrivals[i], resident);
      for (std::size_t j = 0; j < i; ++j) {
        const PodIndex one = there.arrivals[i]->pod, other = there.arrivals[j]->pod;
        const HostPort* port = conflicting_port(c.spec(one), c.spec(other));
        if (port != nullptr) c.object(Rule::kHostPorts, c.pod(one).name, "it requests " + words_of(c, *port, other));
      }
    }
  }
}

}  // namespace muster::referee
