#include "model/snapshot/host_ports.h"

#include <algorithm>
#include <numeric>

namespace muster {
namespace {

using Users = std::vector<std::uint32_t>;  // positions, ascending

struct Use {
  HostPort port;
  std::uint32_t user = 0;
  friend auto operator<=>(const Use&, const Use&) = default;
};

bool same_number(const Use& a, const Use& b) {
  return a.port.port == b.port.port && a.port.protocol == b.port.protocol;
}

std::vector<Use> all_uses(std::span<const HostPortUser> users) {
  std::vector<Use> uses;
  for (std::size_t user = 0; user < users.size(); ++user) {
    if (users[user].pods == 0) continue;
    for (const HostPort& port : users[user].ports) uses.push_back({port, static_cast<std::uint32_t>(user)});
  }
  std::ranges::sort(uses);
  return uses;
}

// The users of one port and protocol, one list for each address; users of all addresses are on every list.
void append_addresses(std::span<const Use> uses, std::vector<Users>& lists) {
  Users everywhere;
  std::size_t at = 0;
  for (; at < uses.size() && uses[at].port.address.empty(); ++at) everywhere.push_back(uses[at].user);
  if (at == uses.size()) return lists.push_back(std::move(everywhere));
  while (at < uses.size()) {
    Users users = everywhere;
    const std::string_view address = uses[at].port.address;
    for (; at < uses.size() && uses[at].port.address == address; ++at) users.push_back(uses[at].user);
    std::ranges::sort(users);
    users.erase(std::unique(users.begin(), users.end()), users.end());
    lists.push_back(std::move(users));
  }
}

bool can_conflict(std::span<const HostPortUser> users, const Users& list) {
  std::size_t pods = 0;
  for (const std::uint32_t user : list) pods += users[user].pods;
  return pods > 1 && std::ranges::any_of(list, [&](std::uint32_t user) { return users[user].may_come; });
}

// Without the lists that others contain.
std::vector<Users> largest_of(std::vector<Users> lists, std::size_t users) {
  std::vector<std::size_t> order(lists.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return lists[a].size() > lists[b].size(); });
  std::vector<std::vector<std::size_t>> kept_with(users);
  std::vector<std::size_t> kept;
  for (const std::size_t at : order) {
    const bool is_contained = std::ranges::any_of(kept_with[lists[at].front()], [&](std::size_t other) {
      return std::ranges::includes(lists[other], lists[at]);
    });
    if (is_contained) continue;
    kept.push_back(at);
    for (const std::uint32_t user : lists[at]) kept_with[user].push_back(at);
  }
  std::ranges::sort(kept);
  std::vector<Users> result;
  for (const std::size_t at : kept) result.push_back(std::move(lists[at]));
  return result;
}

}  // namespace

HostPortResources host_port_resources(std::span<const HostPortUser> users) {
  const std::vector<Use> uses = all_uses(users);
  std::vector<Users> lists;
  for (std::size_t begin = 0; begin < uses.size();) {
    std::size_t end = begin + 1;
    while (end < uses.size() && same_number(uses[begin], uses[end])) ++end;
    append_addresses(std::span(uses).subspan(begin, end - begin), lists);
    begin = end;
  }
  std::erase_if(lists, [&](const Users& list) { return !can_conflict(users, list); });
  lists = largest_of(std::move(lists), users.size());
  HostPortResources result{lists.size(), std::vector<std::vector<std::uint32_t>>(users.size())};
  for (std::size_t number = 0; number < lists.size(); ++number) {
    for (const std::uint32_t user : lists[number]) result.of_user[user].push_back(static_cast<std::uint32_t>(number));
  }
  return result;
}

}  // namespace muster
