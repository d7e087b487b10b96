// Host ports as countable resources: of each such resource a node has one, and a pod takes one or none.
//
// kube-scheduler's NodePorts: two pods conflict on a node if they ask for the same port and protocol of the same
// address, or if either asks for it on all addresses. One resource for each port, protocol and address expresses
// exactly this if a pod that asks for all addresses takes the resource of each address that others name. Ports that
// cannot conflict get no resource. If all users of a port also use another port, the two share one resource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/snapshot/snapshot.h"

namespace muster {

// Pods that ask for the same host ports.
struct HostPortUser {
  std::span<const HostPort> ports;
  std::size_t pods = 0;   // that exist and are not finished
  bool may_come = false;  // one of them may be placed or moved
};

struct HostPortResources {
  std::size_t count = 0;
  std::vector<std::vector<std::uint32_t>> of_user;  // by position: numbers below `count`, ascending
};

// Ensures: the same for every order of the users, except that of `of_user`. Cost: O(n log n) in the ports of all users,
// and O(resources of a user) comparisons of lists of users for each port.
HostPortResources host_port_resources(std::span<const HostPortUser> users);

}  // namespace muster
