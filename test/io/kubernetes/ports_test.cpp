// Host ports of pods, as docs/kubernetes.md maps them.
#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

Json with_ports(const char* name, Json ports, const char* list = "containers") {
  Json made = pod(name);
  made["spec"][list] = Json::array({{{"name", "main"}, {"ports", std::move(ports)}}});
  return made;
}

TEST(KubernetesHostPorts, AreThoseOfContainers) {
  const Json ports = Json::parse(R"([{"containerPort":8080,"hostPort":80},{"containerPort":9090},
      {"hostPort":53,"protocol":"UDP","hostIP":"10.0.0.1"},{"hostPort":80,"hostIP":"0.0.0.0","protocol":"TCP"}])");
  const ImportedObjects made = imported({node("n"), with_ports("web", ports), with_ports("plain", Json::array())});
  EXPECT_EQ(made.pod("team/web")["hostPorts"],
            Json::parse(R"([{"port":53,"protocol":"UDP","address":"10.0.0.1"},{"port":80}])"));
  EXPECT_FALSE(made.pod("team/plain").contains("hostPorts"));
}

TEST(KubernetesHostPorts, AreAllPortsOfAPodOfTheHostsNetwork) {
  Json of_host = with_ports("host", Json::parse(R"([{"containerPort":2222},{"containerPort":80,"hostPort":80}])"));
  of_host["spec"]["hostNetwork"] = true;
  EXPECT_EQ(imported({node("n"), of_host}).pod("team/host")["hostPorts"],
            Json::parse(R"([{"port":80},{"port":2222}])"));
}

TEST(KubernetesHostPorts, OfInitContainersCountWhereTheseStay) {
  Json made = with_ports("web", Json::parse(R"([{"hostPort":80}])"), "initContainers");
  EXPECT_FALSE(imported({node("n"), made}).pod("team/web").contains("hostPorts"));
  made["spec"]["initContainers"][0]["restartPolicy"] = "Always";
  EXPECT_EQ(imported({node("n"), made}).pod("team/web")["hostPorts"], Json::parse(R"([{"port":80}])"));
}

TEST(KubernetesHostPorts, ThatAreNoneAreRefused) {
  const InputError error = refused({with_ports("web", Json::parse(R"([{"hostPort":80,"protocol":"ICMP"}])"))});
  EXPECT_NE(error.message.find("Pod team/web"), std::string::npos) << error.message;
  EXPECT_NE(error_code_text(refused({with_ports("web", Json::parse(R"([{"hostPort":65536}])"))}).code), "");
}

// More different ports than a problem has room for: the rarest are held, and the rest is planned.
TEST(KubernetesHostPorts, OfTooManyKindsHoldThePodsOfTheRarest) {
  std::vector<Json> objects{node("n")};
  for (int port = 0; port < 300; ++port) {
    for (int copy = 0; copy < (port < 200 ? 3 : 2); ++copy) {
      const std::string name = "p" + std::to_string(port) + "-" + std::to_string(copy);
      objects.push_back(with_ports(name.c_str(), Json::array({{{"hostPort", 1000 + port}}})));
    }
  }
  const ImportedObjects made = imported(objects);
  std::size_t held = 0;
  for (const Json& one : made.line["pods"]) {
    if (!one.contains("status")) continue;
    ++held;
    EXPECT_GE(one["name"].get<std::string>(), "team/p200") << "of the ports with two users";
  }
  EXPECT_EQ(held, 2U * (300 - 256));
  EXPECT_TRUE(made.says("too many different host ports"));
}

}  // namespace
}  // namespace muster::kubernetes
