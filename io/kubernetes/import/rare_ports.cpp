#include "io/kubernetes/import/rare_ports.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/snapshot/host_ports.h"

namespace muster::kubernetes {

namespace {

// Users of equal ports together.
struct UserTable {
  std::vector<HostPortUser> users;
  std::vector<std::vector<KubernetesPod*>> pods;  // by position in users
};

UserTable users_of(std::vector<KubernetesPod>& pods) {
  std::map<std::vector<HostPort>, std::size_t> positions;
  UserTable table;
  for (KubernetesPod& pod : pods) {
    if (pod.constraints.host_ports.empty() || pod.state.is_left_out || !(pod.state.waits() || pod.state.is_on_node()))
      continue;
    const auto [at, is_new] = positions.try_emplace(pod.constraints.host_ports, table.users.size());
    if (is_new) {
      table.users.push_back({at->first, 0, false});
      table.pods.emplace_back();
    }
    HostPortUser& user = table.users[at->second];
    ++user.pods;
    user.may_come = user.may_come || (pod.held.empty() && !pod.owner.is_fixed);
    table.pods[at->second].push_back(&pod);
  }
  // The map's keys end with this function, the pods' own lists do not.
  for (std::size_t i = 0; i < table.users.size(); ++i)
    table.users[i].ports = table.pods[i].front()->constraints.host_ports;
  return table;
}

}  // namespace

void hold_rare_ports(std::vector<KubernetesPod>& pods, std::size_t most_resources) {
  UserTable table = users_of(pods);
  const HostPortResources resources = host_port_resources(table.users);
  if (resources.count <= most_resources) return;
  std::vector<std::size_t> users_of_resource(resources.count, 0), rank(resources.count);
  for (std::size_t user = 0; user < table.users.size(); ++user) {
    for (const std::uint32_t number : resources.of_user[user]) users_of_resource[number] += table.users[user].pods;
  }
  for (std::size_t i = 0; i < rank.size(); ++i) rank[i] = i;
  std::ranges::stable_sort(rank,
                           [&](std::size_t a, std::size_t b) { return users_of_resource[a] > users_of_resource[b]; });
  std::vector<bool> is_rare(resources.count, false);
  for (std::size_t i = most_resources; i < rank.size(); ++i) is_rare[rank[i]] = true;
  std::set<std::pair<std::int32_t, Protocol>> wanted;
  std::vector<KubernetesPod*> held;
  for (std::size_t user = 0; user < table.users.size(); ++user) {
    const bool has_rare = std::ranges::any_of(resources.of_user[user], [&](auto number) { return is_rare[number]; });
    for (KubernetesPod* pod : table.pods[user]) {
      if (has_rare && pod->held.empty()) pod->held = "too many different host ports";
      if (!pod->held.empty()) {
        held.push_back(pod);
      } else if (!pod->owner.is_fixed) {
        for (const HostPort& port : pod->constraints.host_ports) wanted.emplace(port.port, port.protocol);
      }
    }
  }
  // Pods that are held neither come nor move: of their ports only those matter that others want.
  for (KubernetesPod* pod : held) {
    std::erase_if(pod->constraints.host_ports, [&](const HostPort& port) {
      return !wanted.contains({port.port, port.protocol});
    });
  }
}

}  // namespace muster::kubernetes
