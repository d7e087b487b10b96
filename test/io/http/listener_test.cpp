#include "io/http/listener.h"

#include <gtest/gtest.h>

namespace muster::http {
namespace {

TEST(HttpListener, AddressesAreUnixPathsOrTcpHostsWithPorts) {
  EXPECT_EQ(parse_listen_address("unix:/run/muster/muster.sock")->path, "/run/muster/muster.sock");
  EXPECT_EQ(parse_listen_address("tcp:127.0.0.1:7077")->host, "127.0.0.1");
  EXPECT_EQ(parse_listen_address("tcp:127.0.0.1:7077")->port, "7077");
  EXPECT_EQ(parse_listen_address("tcp:[::1]:80")->host, "::1");
  for (const char* wrong : {"", "unix:", "/run/x", "tcp:", "tcp:7077", "tcp:host:", "tcp:host:http", "tcp:::1:80",
                            "tcp:host:123456", "udp:host:1"}) {
    EXPECT_FALSE(parse_listen_address(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace muster::http
