// The whole agent against a small API server: what it reads, plans and writes.
#include "cli/agent/agent.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "io/http/listener.h"
#include "test/api_server/fake_cluster.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

using api_server::FakeAnswer;
using api_server::FakeCluster;
using api_server::FakeRequest;
using api_server::Json;
using api_server::kNodes;
using api_server::kPods;

Json node(const std::string& name, int gpus) {
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}, {"uid", "u-" + name}}},
          {"spec", Json::object()},
          {"status",
           {{"allocatable",
             {{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "110"}, {"nvidia.com/gpu", std::to_string(gpus)}}},
            {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
}

// Of a gang that scheduler-plugins' coscheduling would start whole.
Json member(const std::string& name, const std::string& gang, int gpus, const char* scheduler = "muster") {
  return {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", name},
        {"namespace", "ml"},
        {"uid", "u-" + name},
        {"labels", {{"scheduling.x-k8s.io/pod-group", gang}}},
        {"creationTimestamp", "2026-01-01T00:00:00Z"}}},
      {"spec",
       {{"schedulerName", scheduler},
        {"containers", {{{"name", "c"}, {"resources", {{"limits", {{"nvidia.com/gpu", std::to_string(gpus)}}}}}}}}}},
      {"status", {{"phase", "Pending"}}}};
}

const api_server::FakeKind kGroups{"scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups", true};

Json group(const std::string& name, int minimum) {
  return {{"apiVersion", "scheduling.x-k8s.io/v1alpha1"},
          {"kind", "PodGroup"},
          {"metadata", {{"name", name}, {"namespace", "ml"}, {"uid", "u-" + name}}},
          {"spec", {{"minMember", minimum}}}};
}

class AgentInACluster : public testing::Test {
 protected:
  AgentInACluster() {
    cluster_.set_fault([this](const FakeRequest& request) { return write(request); });
    options_.address = *api_server::address_of_url("http://127.0.0.1:" + server_.port(), {}, {});
    options_.mode = ApplyMode::kBindings;
    options_.reader.strict = options_.reader.kubernetes.strict = false;
    options_.reader.kubernetes.awaits_groups = true;
    options_.reader.policy.schedulers = {"muster"};
    options_.times.period = std::chrono::milliseconds(20);
    options_.line.budget = 200'000'000;
    options_.line.solve.engine = portfolio::Engine::kGreedy;
    options_.line.solve.threads = 1;
    options_.identity = "test";
    options_.console.quiet = true;
    options_.listen = *http::parse_listen_address("tcp:127.0.0.1:0");
  }
  ~AgentInACluster() override { stop(); }

  void start() {
    const auto listener = http::open_listener(options_.listen, false);
    ASSERT_TRUE(listener);
    agent_.emplace(options_, console_, test::program());
    thread_ = std::thread([this, descriptor = *listener] { agent_->run(descriptor); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    agent_->stop();
    thread_.join();
  }
  static bool wait_until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  std::string node_of(const std::string& pod) const {
    const auto pods = cluster_.objects(kPods);
    const auto found = pods.find("ml/" + pod);
    return found == pods.end() ? "gone" : found->second["spec"].value("nodeName", "");
  }
  // Requests that changed something: "binding a", "event".
  std::vector<std::string> writes() const {
    const std::scoped_lock lock(mutex_);
    return writes_;
  }

  // What the API server does with what an agent writes.
  std::optional<FakeAnswer> write(const FakeRequest& request) {
    if (request.method == "GET")
      return request.path == "/version"
                 ? std::optional(FakeAnswer{200, "Date: Thu, 01 Jan 2026 00:01:00 GMT\r\n", "{}"})
                 : std::nullopt;
    const bool is_dry = request.query.contains("dryRun");
    if (request.path.ends_with("/events")) {
      note("event " + Json::parse(request.body)["reason"].get<std::string>());
      return FakeAnswer{201, "", "{}"};
    }
    const std::size_t end = request.path.rfind('/'), begin = request.path.rfind('/', end - 1) + 1;
    const std::string pod = request.path.substr(begin, end - begin);
    auto pods = cluster_.objects(kPods);
    const auto found = pods.find("ml/" + pod);
    if (found == pods.end()) return api_server::status_answer(404, "NotFound", "no such pod");
    if (!is_dry) note(request.path.substr(end + 1) + " " + pod);
    if (request.path.ends_with("/binding")) {
      if (found->second["spec"].contains("nodeName"))
        return api_server::status_answer(409, "Conflict", "is bound already");
      if (is_dry) return FakeAnswer{201, "", "{}"};
      found->second["spec"]["nodeName"] = Json::parse(request.body)["target"]["name"];
      found->second["status"]["phase"] = "Running";
      cluster_.set(kPods, found->second);
    } else if (request.path.ends_with("/eviction") && !is_dry) {
      cluster_.remove(kPods, "ml/" + pod);
    }
    return FakeAnswer{201, "", "{}"};
  }
  void note(const std::string& what) {
    if (delay_ > std::chrono::milliseconds(0)) std::this_thread::sleep_for(delay_);
    const std::scoped_lock lock(mutex_);
    writes_.push_back(what);
  }

  FakeCluster cluster_{{kPods, kNodes, kGroups}};
  api_server::FakeServer server_{[this](const FakeRequest& request) { return cluster_.answer(request); }};
  AgentOptions options_;
  Console console_{{.quiet = true}};
  std::optional<Agent> agent_;
  std::thread thread_;
  std::chrono::milliseconds delay_{0};  // of each write
  mutable std::mutex mutex_;
  std::vector<std::string> writes_;
};

TEST_F(AgentInACluster, AnAgentThatIsAskedToStopCompletesTheGangThatItStarts) {
  for (const char* name : {"n1", "n2", "n3"}) cluster_.set(kNodes, node(name, 8));
  cluster_.set(kGroups, group("train", 24));
  for (int i = 0; i < 24; ++i) cluster_.set(kPods, member("t" + std::to_string(i), "train", 1));
  delay_ = std::chrono::milliseconds(5);
  start();
  ASSERT_TRUE(wait_until([&] { return std::ranges::count(writes(), "binding t0") > 0; }));
  stop();
  for (int i = 0; i < 24; ++i) EXPECT_NE(node_of("t" + std::to_string(i)), "") << i;
}

TEST_F(AgentInACluster, AGangWaitsWholeUntilThereIsRoomForAllOfIt) {
  for (const char* name : {"n1", "n2", "n3"}) cluster_.set(kNodes, node(name, 8));
  cluster_.set(kGroups, group("train", 4));
  for (const char* name : {"t0", "t1", "t2", "t3"}) cluster_.set(kPods, member(name, "train", 8));
  start();
  ASSERT_TRUE(wait_until([&] { return !writes().empty(); }));
  EXPECT_TRUE(writes()[0].starts_with("event ")) << writes()[0];
  cluster_.set(kNodes, node("n4", 8));
  ASSERT_TRUE(wait_until([&] { return !node_of("t3").empty() && !node_of("t0").empty(); }));
  std::set<std::string> nodes;
  for (const char* name : {"t0", "t1", "t2", "t3"}) {
    ASSERT_TRUE(wait_until([&] { return !node_of(name).empty(); }));
    nodes.insert(node_of(name));
  }
  EXPECT_EQ(nodes.size(), 4U);
}

TEST_F(AgentInACluster, PodsThatComeBeforeTheirGroupWaitForIt) {
  for (const char* name : {"n1", "n2"}) cluster_.set(kNodes, node(name, 8));
  for (const char* name : {"t0", "t1"}) cluster_.set(kPods, member(name, "train", 8));
  start();
  ASSERT_TRUE(wait_until([&] { return !writes().empty(); }));
  EXPECT_EQ(writes(), std::vector<std::string>{"event Held"});
  cluster_.set(kGroups, group("train", 3));
  ASSERT_TRUE(wait_until([&] { return writes().size() > 1; }));
  EXPECT_EQ(writes().back(), "event NotEnoughPods");
  cluster_.set(kNodes, node("n3", 8));
  cluster_.set(kPods, member("t2", "train", 8));
  for (const char* name : {"t0", "t1", "t2"}) ASSERT_TRUE(wait_until([&] { return !node_of(name).empty(); })) << name;
}

TEST_F(AgentInACluster, PodsOfOtherSchedulersAreLeftAlone) {
  cluster_.set(kNodes, node("n1", 8));
  cluster_.set(kPods, member("mine", "", 1));
  cluster_.set(kPods, member("other", "", 1, "default-scheduler"));
  start();
  ASSERT_TRUE(wait_until([&] { return node_of("mine") == "n1"; }));
  stop();
  EXPECT_EQ(node_of("other"), "");
}

TEST_F(AgentInACluster, ADryRunAsksAndChangesNothing) {
  options_.dry_run = true;
  cluster_.set(kNodes, node("n1", 8));
  cluster_.set(kPods, member("a", "", 1));
  start();
  const auto asks = [&] {
    const auto requests = server_.requests();
    return std::ranges::any_of(requests, [](const FakeRequest& request) { return request.query.contains("dryRun"); });
  };
  ASSERT_TRUE(wait_until(asks));
  stop();
  EXPECT_EQ(node_of("a"), "");
}

TEST_F(AgentInACluster, WithoutApplyOnlyEventsAreWritten) {
  options_.mode = ApplyMode::kNone;
  cluster_.set(kNodes, node("n1", 1));
  cluster_.set(kPods, member("fits", "", 1));
  cluster_.set(kPods, member("large", "", 8));
  start();
  ASSERT_TRUE(wait_until([&] { return !writes().empty(); }));
  stop();
  for (const std::string& write : writes()) EXPECT_TRUE(write.starts_with("event ")) << write;
}

// A gang of KAI that runs below its minimum is given up after its grace period, which counts from an annotation: the
// agent writes it in the place of KAI's scheduler, and takes it away once the gang is whole.
TEST_F(AgentInACluster, AGangOfKaiBelowItsMinimumIsStaleAfterItsGracePeriod) {
  const api_server::FakeKind groups{"scheduling.run.ai", "v2alpha2", "PodGroup", "podgroups", true};
  cluster_.set_kinds({kPods, kNodes, groups});
  cluster_.set_fault([&](const FakeRequest& request) {
    if (request.method != "PATCH") return write(request);
    Json changed = cluster_.objects(groups).at("ml/train");
    changed.merge_patch(Json::parse(request.body));
    note(Json::parse(request.body)["metadata"]["annotations"].begin()->is_null() ? "whole" : "stale");
    cluster_.set(groups, changed);
    return std::optional(FakeAnswer{200, "", "{}"});
  });
  options_.mode = ApplyMode::kKai;
  options_.are_events_written = false;
  options_.reader.policy.schedulers = {"kai-scheduler"};
  cluster_.set(kNodes, node("n1", 8));
  const auto running = [](const std::string& name) {
    Json pod = member(name, "", 1, "kai-scheduler");
    pod["metadata"]["annotations"] = {{"pod-group-name", "train"}};
    pod["spec"]["nodeName"] = "n1";
    pod["status"]["phase"] = "Running";
    return pod;
  };
  cluster_.set(kPods, running("t0"));
  const auto with_grace = [&](const char* period) {
    Json group = {{"apiVersion", "scheduling.run.ai/v2alpha2"},
                  {"kind", "PodGroup"},
                  {"metadata", {{"name", "train"}, {"namespace", "ml"}, {"uid", "u-train"}}},
                  {"spec", {{"minMember", 2}, {"stalenessGracePeriod", period}}}};
    const auto known = cluster_.objects(groups);
    if (const auto found = known.find("ml/train"); found != known.end()) group["metadata"] = found->second["metadata"];
    cluster_.set(groups, group);
  };
  with_grace("1h");
  start();
  ASSERT_TRUE(wait_until([&] { return writes().size() == 1; }));
  cluster_.set(kPods, running("t1"));
  ASSERT_TRUE(wait_until([&] { return writes().size() == 2; }));
  with_grace("50ms");
  cluster_.remove(kPods, "ml/t1");
  ASSERT_TRUE(wait_until([&] { return node_of("t0") == "gone"; }));
  const std::vector<std::string> all = writes();
  ASSERT_GE(all.size(), 4U);
  EXPECT_EQ(std::vector(all.begin(), all.begin() + 4),
            (std::vector<std::string>{"stale", "whole", "stale", "eviction t0"}));
}

// A conversion webhook that is down, say. Only what depends on the kind waits, until it can be read again.
TEST_F(AgentInACluster, AKindThatCannotBeReadHoldsOnlyWhatDependsOnIt) {
  const api_server::FakeKind kueue{"kueue.x-k8s.io", "v1beta2", "Workload", "workloads", true};
  cluster_.set_kinds({kPods, kNodes, kGroups, kueue});
  std::atomic<bool> is_broken = true;
  cluster_.set_fault([&](const FakeRequest& request) {
    if (is_broken && request.path.ends_with("/workloads"))
      return std::optional(api_server::status_answer(500, "InternalError", "conversion webhook failed"));
    return write(request);
  });
  options_.times.patience = std::chrono::milliseconds(200);
  cluster_.set(kNodes, node("n1", 8));
  cluster_.set(kPods, member("plain", "", 1));
  Json queued = member("queued", "", 1);
  queued["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "q";
  cluster_.set(kPods, queued);
  start();
  ASSERT_TRUE(wait_until([&] { return node_of("plain") == "n1"; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(node_of("queued"), "");
  is_broken = false;
  cluster_.set(kPods, member("later", "", 1));
  EXPECT_TRUE(wait_until([&] { return node_of("later") == "n1" && node_of("queued") == "n1"; }));
}

TEST_F(AgentInACluster, NothingIsBoundTwice) {
  for (int i = 0; i < 4; ++i) cluster_.set(kNodes, node("n" + std::to_string(i), 8));
  start();
  for (int i = 0; i < 20; ++i) cluster_.set(kPods, member("p" + std::to_string(i), "", 1));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(wait_until([&] { return !node_of("p" + std::to_string(i)).empty(); })) << i;
  stop();
  std::vector<std::string> bound = writes();
  std::erase_if(bound, [](const std::string& write) { return !write.starts_with("binding "); });
  std::ranges::sort(bound);
  EXPECT_EQ(std::ranges::adjacent_find(bound), bound.end());
}

}  // namespace
}  // namespace muster::cli
