// The host ports that become resources, and that the resources give the same result as kube-scheduler's NodePorts.
#include "model/snapshot/host_ports.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace muster {
namespace {

using Ports = std::vector<HostPort>;

HostPort tcp(std::int32_t port, std::string_view address = "") { return {port, Protocol::kTcp, address}; }

HostPortUser user(const Ports& ports, std::size_t pods = 1, bool may_come = true) { return {ports, pods, may_come}; }

bool share(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  return std::ranges::any_of(a, [&](std::uint32_t one) { return std::ranges::find(b, one) != b.end(); });
}

TEST(HostPorts, OfTwoPodsThatAskForOnePortAreOneResource) {
  const Ports web{tcp(80)};
  const HostPortResources made = host_port_resources(std::vector{user(web, 2)});
  EXPECT_EQ(made.count, 1U);
  EXPECT_EQ(made.of_user[0], std::vector<std::uint32_t>{0});
}

TEST(HostPorts, ThatCannotConflictAreNone) {
  const Ports web{tcp(80)}, tls{tcp(443)}, udp{{80, Protocol::kUdp, ""}};
  EXPECT_EQ(host_port_resources(std::vector{user(web), user(tls), user(udp)}).count, 0U) << "one pod each";
  EXPECT_EQ(host_port_resources(std::vector{user(web, 9, false)}).count, 0U) << "no pod comes";
  EXPECT_EQ(host_port_resources(std::vector{user(web), user(web, 0)}).count, 0U) << "the other is finished";
}

TEST(HostPorts, OfOneAddressConflictWithThatAndWithAllAddresses) {
  const Ports all{tcp(80)}, one{tcp(80, "10.0.0.1")}, two{tcp(80, "10.0.0.2")};
  const HostPortResources made = host_port_resources(std::vector{user(all), user(one), user(two)});
  EXPECT_EQ(made.count, 2U);
  EXPECT_TRUE(share(made.of_user[0], made.of_user[1]));
  EXPECT_TRUE(share(made.of_user[0], made.of_user[2]));
  EXPECT_FALSE(share(made.of_user[1], made.of_user[2]));
}

TEST(HostPorts, ThatAreAlwaysAskedForTogetherAreOneResource) {
  const Ports both{tcp(80), tcp(443), tcp(9100)}, more{tcp(80), tcp(443)};
  EXPECT_EQ(host_port_resources(std::vector{user(both, 2)}).count, 1U);
  EXPECT_EQ(host_port_resources(std::vector{user(both, 2), user(more, 2)}).count, 1U) << "80 says all of it";
}

// The rule itself, pair by pair, on drawn users.
TEST(HostPorts, SayExactlyWhichPodsConflict) {
  const std::vector<std::string_view> addresses = {"", "", "10.0.0.1", "10.0.0.2"};
  const auto conflict = [](const Ports& a, const Ports& b) {
    return std::ranges::any_of(a, [&](const HostPort& x) {
      return std::ranges::any_of(b, [&](const HostPort& y) {
        return x.port == y.port && x.protocol == y.protocol &&
               (x.address.empty() || y.address.empty() || x.address == y.address);
      });
    });
  };
  std::mt19937 random(7);
  const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Ports> ports(2 + draw(5));
    std::vector<HostPortUser> users;
    for (Ports& list : ports) {
      std::set<HostPort> drawn;
      for (std::size_t i = draw(4); i-- > 0;) {
        drawn.insert({static_cast<std::int32_t>(80 + draw(3)), draw(3) == 0 ? Protocol::kUdp : Protocol::kTcp,
                      addresses[draw(addresses.size())]});
      }
      list.assign(drawn.begin(), drawn.end());
      users.push_back(user(list, 1 + draw(2), draw(3) > 0));
    }
    const HostPortResources made = host_port_resources(users);
    for (std::size_t a = 0; a < users.size(); ++a) {
      for (std::size_t b = a; b < users.size(); ++b) {
        if (a == b && users[a].pods < 2) continue;
        const bool told = share(made.of_user[a], made.of_user[b]), is = conflict(ports[a], ports[b]);
        if (told) {
          EXPECT_TRUE(is) << "trial " << trial << ", users " << a << " and " << b;
        }
        if (is && (users[a].may_come || users[b].may_come)) {
          EXPECT_TRUE(told) << "trial " << trial << ", users " << a << " and " << b;
        }
      }
    }
  }
}

}  // namespace
}  // namespace muster
