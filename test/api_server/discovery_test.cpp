// Which kinds the API server has.
#include "io/api_server/discovery.h"

#include <optional>
#include <string>
#include <vector>

#include "test/api_server/fake_cluster.h"
#include "test/api_server/running.h"

namespace muster::api_server {
namespace {

std::string titles_of(const std::vector<ServedKind>& kinds) {
  std::string text;
  for (const ServedKind& kind : kinds) text += (text.empty() ? "" : " ") + kind.title() + "/" + kind.version;
  return text;
}

class DiscoveryOf : public ::testing::Test {
 protected:
  Discovered ask() {
    std::optional<Discovered> found;
    discovery_.ask([&](const Discovered& result) { found = result; });
    EXPECT_TRUE(run_until(io_, [&] { return found.has_value(); }));
    return found.value_or(Discovered{});
  }

  FakeCluster cluster_{{kPods,
                        kNodes,
                        {"", "v1", "Secret", "secrets", true},
                        {"kueue.x-k8s.io", "v1beta1", "ClusterQueue", "clusterqueues", false},
                        {"kueue.x-k8s.io", "v1beta2", "ClusterQueue", "clusterqueues", false},
                        {"kueue.x-k8s.io", "v2", "ClusterQueue", "clusterqueues", false},
                        {"other.example.com", "v1", "Thing", "things", true}}};
  FakeServer server_{[this](const FakeRequest& request) { return cluster_.answer(request); }};
  boost::asio::io_context io_;
  ApiClient client_{io_, address_of(server_), steady()};
  Discovery discovery_{client_};
};

TEST_F(DiscoveryOf, FindsTheNewestVersionThatIsRead) {
  for (const bool aggregates : {true, false}) {
    cluster_.aggregate(aggregates);
    const Discovered found = ask();
    EXPECT_EQ(found.error, "");
    EXPECT_EQ(titles_of(found.kinds), "pods/v1 nodes/v1 clusterqueues.kueue.x-k8s.io/v1beta2");
    EXPECT_FALSE(found.has_crds);
    EXPECT_TRUE(found.kinds[0].has_namespace);
    EXPECT_FALSE(found.kinds[2].has_namespace);
    EXPECT_EQ(found.kinds[0].path(), "/api/v1/pods");
    EXPECT_EQ(found.kinds[2].path(), "/apis/kueue.x-k8s.io/v1beta2/clusterqueues");
  }
}

TEST_F(DiscoveryOf, AsksForNoGroupThatIsNotRead) {
  cluster_.aggregate(false);
  ask();
  for (const FakeRequest& request : server_.requests())
    EXPECT_EQ(request.path.find("other.example.com"), std::string::npos) << request.path;
}

TEST_F(DiscoveryOf, ReportsWhatCameAndWent) {
  EXPECT_EQ(titles_of(ask().added), "pods/v1 nodes/v1 clusterqueues.kueue.x-k8s.io/v1beta2");
  cluster_.set_kinds({kPods,
                      kCrds,
                      {"batch", "v1", "Job", "jobs", true},
                      {"kueue.x-k8s.io", "v1beta1", "ClusterQueue", "clusterqueues", false}});
  const Discovered next = ask();
  EXPECT_EQ(titles_of(next.added), "jobs.batch/v1 clusterqueues.kueue.x-k8s.io/v1beta1");
  EXPECT_EQ(titles_of(next.removed), "nodes/v1 clusterqueues.kueue.x-k8s.io/v1beta2");
  EXPECT_TRUE(next.has_crds);
  EXPECT_TRUE(ask().added.empty());
}

TEST_F(DiscoveryOf, AFailureLeavesWhatIsKnown) {
  ask();
  cluster_.set_fault([](const FakeRequest& request) -> std::optional<FakeAnswer> {
    if (request.path == "/apis") return status_answer(500, "InternalError", "no");
    return std::nullopt;
  });
  const Discovered failed = ask();
  EXPECT_EQ(failed.error, "GET /apis: 500 Internal Server Error: no");
  EXPECT_EQ(failed.kinds.size(), 3U);
  EXPECT_TRUE(failed.removed.empty());
  cluster_.set_fault([](const FakeRequest&) -> std::optional<FakeAnswer> {
    FakeAnswer answer;
    answer.body = "[1,";
    return answer;
  });
  EXPECT_NE(ask().error, "");
  cluster_.set_fault({});
  EXPECT_EQ(ask().error, "");
}

TEST_F(DiscoveryOf, AGroupThatIsStaleKeepsItsKinds) {
  ask();
  cluster_.set_fault([](const FakeRequest& request) -> std::optional<FakeAnswer> {
    if (request.path != "/apis") return std::nullopt;
    FakeAnswer answer;
    answer.body =
        Json{{"kind", "APIGroupDiscoveryList"},
             {"items",
              Json::array({Json{{"metadata", {{"name", "kueue.x-k8s.io"}}},
                                {"versions", Json::array({Json{{"version", "v1beta2"}, {"freshness", "Stale"}}})}}})}}
            .dump();
    return answer;
  });
  EXPECT_EQ(titles_of(ask().kinds), "pods/v1 nodes/v1 clusterqueues.kueue.x-k8s.io/v1beta2");
}

TEST_F(DiscoveryOf, TheLastOfTwoQuestionsIsAnswered) {
  int first = 0, second = 0;
  discovery_.ask([&](const Discovered&) { ++first; });
  discovery_.ask([&](const Discovered&) { ++second; });
  EXPECT_TRUE(run_until(io_, [&] { return second == 1; }));
  run_for(io_, std::chrono::milliseconds(20));
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

}  // namespace
}  // namespace muster::api_server
