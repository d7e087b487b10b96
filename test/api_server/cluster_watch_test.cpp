// The whole: discovery, watches of all kinds, the store.
#include "io/api_server/cluster_watch.h"

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "test/api_server/fake_cluster.h"
#include "test/api_server/running.h"

namespace muster::api_server {
namespace {

using std::chrono::milliseconds;

const FakeKind kQueues{"kueue.x-k8s.io", "v1beta1", "ClusterQueue", "clusterqueues", false};
const FakeKind kNewQueues{"kueue.x-k8s.io", "v1beta2", "ClusterQueue", "clusterqueues", false};

class ClusterWatchOf : public ::testing::Test {
 protected:
  static ClusterWatchOptions quick() {
    ClusterWatchOptions options;
    options.watch.page_objects = 3;
    options.watch.slow_retry = milliseconds(20);
    options.watch.backoff = {.first = milliseconds(4), .most = milliseconds(16), .most_retry_after = milliseconds(20)};
    options.settle = milliseconds(10);
    options.period_without_crds = milliseconds(40);
    return options;
  }
  void start(const ClusterWatchOptions& options = quick()) {
    watch_ = std::make_unique<ClusterWatch>(
        client_, steady(), options,
        ClusterWatchHandlers{[this] { ++changes_; }, [this](const std::string& text, bool) { said_ += text + "\n"; }});
    watch_->start();
  }
  // The store has the same objects, by uid and version, as the server.
  bool is_equal(const FakeKind& kind) const {
    const auto objects = cluster_.objects(kind);
    std::size_t stored = 0;
    for (const KindReport& report : watch_->objects().reports()) {
      if (report.kind.path() == kind.path()) stored = report.objects;
    }
    if (stored != objects.size()) return false;
    for (const auto& [key, object] : objects) {
      const Json& metadata = object["metadata"];
      const StoredObject* found = watch_->objects().find(kind.group, kind.kind, metadata.value("namespace", ""),
                                                         metadata["name"].get<std::string>());
      if (found == nullptr || found->resource_version != metadata["resourceVersion"]) return false;
      if (Json::parse(found->text())["metadata"].value("labels", Json()) != metadata.value("labels", Json()))
        return false;
    }
    return true;
  }
  bool says(const std::string& part) const { return said_.find(part) != std::string::npos; }
  static Json named(const std::string& name) {
    Json made;
    made["metadata"]["name"] = name;
    return made;
  }

  FakeCluster cluster_{{kPods, kNodes, kCrds}};
  std::unique_ptr<FakeServer> server_ =
      std::make_unique<FakeServer>([this](const FakeRequest& request) { return cluster_.answer(request); });
  boost::asio::io_context io_;
  ApiClient client_{io_, address_of(*server_), steady()};
  std::unique_ptr<ClusterWatch> watch_;
  int changes_ = 0;
  std::string said_;
};

TEST_F(ClusterWatchOf, HasWhatTheServerHas) {
  for (int i = 0; i < 10; ++i) cluster_.set(kPods, small_pod("p" + std::to_string(i)));
  cluster_.set(kNodes, named("n"));
  start();
  EXPECT_FALSE(watch_->is_complete());
  EXPECT_TRUE(run_until(io_, [&] { return watch_->is_complete(); }));
  EXPECT_TRUE(is_equal(kPods));
  EXPECT_TRUE(is_equal(kNodes));
  run_for(io_, milliseconds(5));
  const int before = changes_;
  EXPECT_GT(before, 0);
  cluster_.set(kPods, small_pod("p1", 2));
  EXPECT_TRUE(run_until(io_, [&] { return is_equal(kPods) && changes_ > before; }));
  EXPECT_TRUE(says("watching pods (v1)\n")) << said_;
}

TEST_F(ClusterWatchOf, FollowsTheDefinitionsOfKinds) {
  start();
  EXPECT_TRUE(run_until(io_, [&] { return watch_->is_complete(); }));
  run_for(io_, milliseconds(20));
  cluster_.set_kinds({kPods, kNodes, kCrds, kQueues});
  cluster_.set(kQueues, named("q"));
  cluster_.set(kCrds, named("clusterqueues.kueue.x-k8s.io"));
  EXPECT_TRUE(
      run_until(io_, [&] { return watch_->objects().find("kueue.x-k8s.io", "ClusterQueue", "", "q") != nullptr; }));
  // Another version is another kind.
  cluster_.set_kinds({kPods, kNodes, kCrds, kNewQueues});
  cluster_.set(kNewQueues, named("q2"));
  cluster_.set(kCrds, named("clusterqueues.kueue.x-k8s.io"));
  EXPECT_TRUE(
      run_until(io_, [&] { return watch_->objects().find("kueue.x-k8s.io", "ClusterQueue", "", "q2") != nullptr; }));
  EXPECT_EQ(watch_->objects().find("kueue.x-k8s.io", "ClusterQueue", "", "q"), nullptr);
  cluster_.set_kinds({kPods, kNodes, kCrds});
  cluster_.remove(kCrds, "clusterqueues.kueue.x-k8s.io");
  EXPECT_TRUE(run_until(io_, [&] { return watch_->objects().reports().size() == 2; }));
  EXPECT_TRUE(says("the API server no longer has clusterqueues.kueue.x-k8s.io (kueue.x-k8s.io/v1beta2)\n")) << said_;
  EXPECT_TRUE(watch_->is_complete());
}

TEST_F(ClusterWatchOf, AsksPeriodicallyIfDefinitionsMayNotBeWatched) {
  cluster_.set_fault([](const FakeRequest& request) -> std::optional<FakeAnswer> {
    if (request.path == kCrds.path()) return status_answer(403, "Forbidden", "no");
    return std::nullopt;
  });
  start();
  EXPECT_TRUE(run_until(io_, [&] { return watch_->is_complete(); }));
  cluster_.set_kinds({kPods, kNodes, kCrds, kQueues});
  cluster_.set(kQueues, named("q"));
  EXPECT_TRUE(
      run_until(io_, [&] { return watch_->objects().find("kueue.x-k8s.io", "ClusterQueue", "", "q") != nullptr; }));
}

TEST_F(ClusterWatchOf, AKindThatIsForbiddenIsReported) {
  cluster_.set_fault([](const FakeRequest& request) -> std::optional<FakeAnswer> {
    if (request.path == kNodes.path()) return status_answer(403, "Forbidden", "nodes is forbidden");
    return std::nullopt;
  });
  start();
  EXPECT_TRUE(run_until(io_, [&] { return says("forbidden"); }));
  EXPECT_FALSE(watch_->is_complete());
  run_for(io_, milliseconds(60));
  const std::string sentence = "GET /api/v1/nodes: 403 Forbidden: nodes is forbidden\n";
  ASSERT_TRUE(says(sentence)) << said_;
  EXPECT_EQ(said_.find(sentence), said_.rfind(sentence)) << said_;
  cluster_.set_fault({});
  EXPECT_TRUE(run_until(io_, [&] { return watch_->is_complete() && says("nodes: watched again\n"); }));
}

TEST_F(ClusterWatchOf, ADiscoveryThatLacksAKindOnceRemovesNothing) {
  cluster_.set(kPods, small_pod("p"));
  start();
  EXPECT_TRUE(run_until(io_, [&] { return watch_->is_complete(); }));
  std::atomic<int> lacking{1};
  cluster_.set_fault([&](const FakeRequest& request) -> std::optional<FakeAnswer> {
    if (request.path != "/api" || lacking-- <= 0) return std::nullopt;
    FakeAnswer answer;
    answer.body = R"({"kind":"APIGroupDiscoveryList","items":[]})";
    return answer;
  });
  watch_->discover();
  EXPECT_TRUE(run_until(io_, [&] { return lacking < 0; }));
  run_for(io_, milliseconds(20));
  EXPECT_FALSE(says("no longer")) << said_;
  EXPECT_NE(watch_->objects().find("", "Pod", "default", "p"), nullptr);
}

TEST_F(ClusterWatchOf, AServerThatComesLateIsFound) {
  cluster_.set_fault(
      [](const FakeRequest&) { return std::optional(status_answer(503, "ServiceUnavailable", "wait")); });
  start();
  EXPECT_TRUE(run_until(io_, [&] { return says("discovery failed: GET /api"); })) << said_;
  EXPECT_NE(watch_->discovery_error(), "");
  cluster_.set_fault({});
  EXPECT_TRUE(run_until(io_, [&] { return watch_->is_complete(); }));
  EXPECT_EQ(watch_->discovery_error(), "");
}

TEST_F(ClusterWatchOf, ItsEndIsSilent) {
  start();
  EXPECT_TRUE(run_until(io_, [&] { return watch_->is_complete(); }));
  cluster_.set(kPods, small_pod("p"));
  watch_.reset();
  const int before = changes_;
  run_for(io_, milliseconds(30));
  EXPECT_EQ(changes_, before);
}

// Random histories with every fault at random end in the state of the server.
TEST_F(ClusterWatchOf, EndsInTheStateOfTheServerWhateverHappens) {
  std::mt19937 random(20260301);
  const auto draw = [&](unsigned below) { return static_cast<int>(random() % below); };
  std::atomic<unsigned> faults{0};
  ClusterWatchOptions options = quick();
  options.seed = 3;
  start(options);
  for (int round = 0; round < 40; ++round) {
    for (int step = draw(12); step >= 0; --step) {
      const std::string name = "p" + std::to_string(draw(15));
      if (draw(3) == 0) {
        cluster_.remove(kPods, "default/" + name);
      } else {
        cluster_.set(kPods, small_pod(name, draw(4)));
      }
      if (draw(4) == 0) cluster_.set(kNodes, named("n" + std::to_string(draw(5))));
      if (draw(8) == 0) run_for(io_, milliseconds(1));
    }
    switch (draw(8)) {
      case 0:
        server_->cut();
        break;
      case 1:
        cluster_.tear();
        break;
      case 2:
        cluster_.compact();
        break;
      case 3:
        cluster_.end_watches();
        break;
      case 4:
        cluster_.say("garbage\n");
        break;
      case 5:
        cluster_.bookmark();
        break;
      case 6:
        faults = static_cast<unsigned>(draw(6));
        cluster_.set_fault([&](const FakeRequest&) -> std::optional<FakeAnswer> {
          if (faults == 0) return std::nullopt;
          const unsigned kind = faults-- % 3;
          if (kind == 0) return status_answer(500, "InternalError", "oh");
          if (kind == 1) return status_answer(429, "TooManyRequests", "busy");
          FakeAnswer half;
          half.instead = [](FakeConnection& connection) {
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{");
          };
          return half;
        });
        break;
      default:
        break;
    }
    if (draw(4) == 0) {
      EXPECT_TRUE(run_until(io_, [&] { return watch_->is_complete() && is_equal(kPods) && is_equal(kNodes); }))
          << round;
    }
  }
  cluster_.set_fault({});
  EXPECT_TRUE(run_until(io_, [&] { return watch_->is_complete() && is_equal(kPods) && is_equal(kNodes); }));
}

}  // namespace
}  // namespace muster::api_server
