#include "cli/agent/extender/extender.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/agent/planning/spare_capacity.h"
#include "test/support/case.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;
using exporting::ExportPhase;

class KeptExchange final : public http::HttpExchange {
 public:
  void respond(http::HttpResponse response) override { answer = std::move(response); }
  void begin(http::HttpResponse) override {}
  void write(std::string, std::function<void()>) override {}
  void end() override {}
  void abandon() override { is_abandoned = true; }

  std::optional<http::HttpResponse> answer;
  bool is_abandoned = false;
};

exporting::ExportedObject object(const std::string& name, const std::string& node, const std::string& gang,
                                 ExportPhase phase = ExportPhase::kNow) {
  return {"{}", phase, "ml", name, "u-" + name, node, gang, {}};
}

Json pod(const std::string& name, const Json& requests = Json::object()) {
  return {{"metadata", {{"name", name}, {"namespace", "ml"}, {"uid", "u-" + name}, {"creationTimestamp", nullptr}}},
          {"spec",
           {{"schedulerName", "default-scheduler"},
            {"containers", {{{"name", "c"}, {"resources", {{"requests", requests}, {"limits", requests}}}}}}}},
          {"status", {{"phase", "Pending"}}}};
}

Json gpus(int count) { return {{"cpu", "1"}, {"memory", "1Gi"}, {"nvidia.com/gpu", std::to_string(count)}}; }

class ExtenderCalls : public testing::Test {
 protected:
  ExtenderCalls() {
    options_.mode = ApplyMode::kExtender;
    options_.reader.strict = options_.reader.kubernetes.strict = false;
    options_.reader.kubernetes.awaits_groups = true;
    options_.reader.policy.schedulers = {"default-scheduler"};
    extender_.emplace(
        options_, [this] { return now_; },
        [this](ExtenderBinding binding, std::uint64_t number) { bound_.emplace_back(std::move(binding), number); });
    // A gang of two that starts, one that waits, one for which a pod leaves.
    plan_.objects = {object("a-0", "n1", "ml/a"), object("a-1", "n2", "ml/a"),
                     object("victim", "n3", "ml/c", ExportPhase::kEvictions),
                     object("c-0", "n3", "ml/c", ExportPhase::kAfterEvictions)};
    pods_.pending = {{"ml/a-0", "ml/a"}, {"ml/a-1", "ml/a"}, {"ml/b-0", "ml/b"}, {"ml/c-0", "ml/c"}};
    pods_.waiting = {{"ml/b", "ml/b-0", "Fragmented", "no node has 8 GPUs free"}};
  }
  void publish() {
    extender_->publish(std::make_shared<const PlanView>(plan_, pods_.pending, pods_.waiting, now_), pods_.room);
  }
  http::HttpResponse call(const std::string& verb, const std::string& body) {
    exchange_ = std::make_shared<KeptExchange>();
    exchange_->request.method = "POST";
    exchange_->request.path = "/extender/" + verb;
    exchange_->request.body = body;
    extender_->serve(exchange_);
    return exchange_->answer.value_or(http::HttpResponse{0, {}, {}, {}});
  }
  Json filter(const Json& asked, const std::vector<std::string>& nodes = {"n1", "n2", "n3"}) {
    const http::HttpResponse answer =
        call("filter", Json{{"Pod", asked}, {"Nodes", nullptr}, {"NodeNames", nodes}}.dump());
    EXPECT_EQ(answer.status, 200U) << answer.body;
    return Json::parse(answer.body);
  }
  Json filter_named(const std::string& name) { return filter(pod(name)); }
  // The one reason of all nodes.
  static std::string reason(const Json& answer) {
    std::set<std::string> reasons;
    for (const auto& [node, why] : answer["FailedAndUnresolvableNodes"].items()) reasons.insert(why.get<std::string>());
    return reasons.size() == 1 ? *reasons.begin() : "";
  }
  // A room of n1 (one of 8 devices free) and n2 (all are).
  void give_room(const std::string& more = "") {
    const test::Case cluster(R"("nodes":[{"name":"n1","resources":{"cpu":8,"memory":"64Gi"},"gpus":{"count":8}},
      {"name":"n2","resources":{"cpu":8,"memory":"64Gi"},"gpus":{"count":8}}],
      "pods":[{"name":"r","status":"running","node":"n1","gpu":{"count":7}}])" +
                             more);
    pods_.room = std::make_shared<SpareCapacity>(cluster.problem(), Plan());
  }

  AgentOptions options_;
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
  exporting::ExportedPlan plan_;
  PlannedPods pods_;
  std::optional<Extender> extender_;
  std::shared_ptr<KeptExchange> exchange_;
  std::vector<std::pair<ExtenderBinding, std::uint64_t>> bound_;
};

TEST_F(ExtenderCalls, APodThatStartsPassesOnItsPlannedNodeAlone) {
  publish();
  EXPECT_EQ(filter_named("a-0")["NodeNames"], Json({"n1"}));
  const Json second = filter_named("a-1");
  EXPECT_EQ(second["NodeNames"], Json({"n2"}));
  EXPECT_EQ(second["Error"], "");
}

TEST_F(ExtenderCalls, WholeNodesComeBackAsTheyWere) {
  publish();
  const Json node = {{"metadata", {{"name", "n1"}, {"labels", {{"zone", "z\"1"}}}}},
                     {"status", {{"capacity", {{"cpu", "8"}}}}}};
  const Json other = {{"metadata", {{"name", "n2"}}}};
  const Json answer = Json::parse(
      call("filter", Json{{"Pod", pod("a-0")}, {"Nodes", {{"items", {node, other}}}}, {"NodeNames", nullptr}}.dump())
          .body);
  EXPECT_EQ(answer["Nodes"]["items"], Json::array({node}));
  EXPECT_FALSE(answer.contains("NodeNames"));
}

TEST_F(ExtenderCalls, AGangThatWaitsPassesNowhereAndSaysWhy) {
  publish();
  const Json answer = filter_named("b-0");
  EXPECT_EQ(answer["NodeNames"], Json::array());
  EXPECT_EQ(answer["FailedAndUnresolvableNodes"].size(), 3U);
  EXPECT_EQ(reason(answer), "muster: ml/b waits: Fragmented: no node has 8 GPUs free");
  EXPECT_EQ(reason(filter_named("c-0")), "muster: ml/c waits: it starts once pods have left its nodes");
}

TEST_F(ExtenderCalls, AGangWithOnePodThatHasToWaitWaitsWhole) {
  plan_.objects.push_back(object("a-2", "n3", "ml/a", ExportPhase::kAfterEvictions));
  pods_.pending.push_back({"ml/a-2", "ml/a"});
  publish();
  for (const char* name : {"a-0", "a-1", "a-2"}) EXPECT_EQ(filter_named(name)["NodeNames"], Json::array()) << name;
}

TEST_F(ExtenderCalls, APlannedNodeThatIsNotOfferedIsNamed) {
  publish();
  EXPECT_EQ(reason(filter(pod("a-0"), {"n2", "n3"})), "muster: the plan has it on n1, which is not among these nodes");
}

TEST_F(ExtenderCalls, WithoutAPlanThatHoldsEachAnswerIsAnError) {
  EXPECT_EQ(filter_named("a-0")["Error"], "muster: there is no plan yet");
  publish();
  extender_->block("the watch of pods is interrupted");
  EXPECT_EQ(filter_named("a-0")["Error"], "muster: the watch of pods is interrupted");
  extender_->block("");
  EXPECT_EQ(filter_named("a-0")["Error"], "");
  now_ += Extender::most_age(options_) + std::chrono::seconds(2);
  EXPECT_EQ(filter_named("a-0")["Error"], "muster: the last plan is 122 s old");
}

TEST_F(ExtenderCalls, PodsOfOtherSchedulersPassEverywhere) {
  Json other = pod("other");
  other["spec"]["schedulerName"] = "volcano";
  EXPECT_EQ(filter(other)["NodeNames"].size(), 3U) << "even without a plan";
  call("bind", R"({"PodName":"other","PodNamespace":"ml","PodUID":"u-other","Node":"n3"})");
  EXPECT_EQ(bound_.size(), 1U);
}

TEST_F(ExtenderCalls, ASinglePodThatNoPlanHasSeenTakesRoomThatIsLeft) {
  give_room();
  publish();
  EXPECT_EQ(filter(pod("s", gpus(8)))["NodeNames"], Json({"n2"}));
  EXPECT_EQ(filter(pod("s", gpus(8)))["NodeNames"], Json({"n2"})) << "asked again, it is the same pod";
  EXPECT_EQ(reason(filter(pod("t", gpus(8)))),
            "muster: no plan has seen it yet, and the last one leaves no room for it");
  EXPECT_EQ(filter(pod("u", gpus(1)))["NodeNames"], Json({"n1"}));
  EXPECT_EQ(filter(pod("v", gpus(1)))["NodeNames"], Json::array());
}

TEST_F(ExtenderCalls, RoomThatThePlanGivesAwayIsNotLeft) {
  test::Case cluster(
      R"("nodes":[{"name":"n1","gpus":{"count":8}},{"name":"n2","gpus":{"count":8}},{"name":"n3","gpus":{"count":8}}],
    "pods":[{"name":"now","gpu":{"count":8}},{"name":"later","gpu":{"count":8}},
            {"name":"victim","status":"running","node":"n2","gpu":{"count":4}}])");
  cluster.place("now", "n1", {0, 1, 2, 3, 4, 5, 6, 7}).evict("victim", EvictionReason::kPreempt, "later");
  cluster.place("later", "n2", {0, 1, 2, 3, 4, 5, 6, 7}, {"victim"});
  pods_.room = std::make_shared<SpareCapacity>(cluster.problem(), cluster.plan());
  publish();
  for (const char* name : {"s", "t"})
    EXPECT_EQ(filter(pod(name, {{"nvidia.com/gpu", "4"}}))["NodeNames"], Json({"n3"})) << name;
  EXPECT_EQ(filter(pod("u", {{"nvidia.com/gpu", "4"}}))["NodeNames"], Json::array());
}

TEST_F(ExtenderCalls, MembersOfAGangWaitForAPlan) {
  give_room();
  publish();
  Json member = pod("m", gpus(1));
  member["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "late";
  EXPECT_EQ(filter(member)["NodeNames"], Json::array());
}

TEST_F(ExtenderCalls, AQueueWithBoundsIsLeftToThePlan) {
  give_room(R"(,"queues":[{"name":"default","gpu":{"limit":8}}])");
  publish();
  EXPECT_EQ(reason(filter(pod("s", gpus(1)))), "muster: no plan has seen it yet, and its queue has bounds");
}

TEST_F(ExtenderCalls, PrioritizeKnowsTheBestNode) {
  publish();
  const std::string body = Json{{"Pod", pod("a-1")}, {"NodeNames", {"n1", "n2"}}}.dump();
  EXPECT_EQ(Json::parse(call("prioritize", body).body),
            Json::parse(R"([{"Host":"n1","Score":0},{"Host":"n2","Score":10}])"));
}

TEST_F(ExtenderCalls, OnlyVictimsOfThePlanAreLeftToPreemption) {
  publish();
  const auto preempt = [&](const std::string& name, const Json& victims) {
    return Json::parse(call("preempt", Json{{"Pod", pod(name)}, {"NodeNameToMetaVictims", victims}}.dump())
                           .body)["NodeNameToMetaVictims"];
  };
  const Json planned = {{"Pods", {{{"UID", "u-victim"}}}}, {"NumPDBViolations", 1}},
             other = {{"Pods", {{{"UID", "u-victim"}}, {{"UID", "u-x"}}}}, {"NumPDBViolations", 0}};
  EXPECT_EQ(preempt("c-0", {{"n3", planned}, {"n1", planned}}), Json({{"n3", planned}}));
  EXPECT_EQ(preempt("c-0", {{"n3", other}}), Json::object()) << "not more than the plan evicts";
  EXPECT_EQ(preempt("b-0", {{"n3", planned}}), Json::object());
  EXPECT_EQ(preempt("unknown", {{"n3", planned}}), Json::object());
}

TEST_F(ExtenderCalls, WholePodsAreVictimsToo) {
  publish();
  const Json body = {{"Pod", pod("c-0")},
                     {"NodeNameToVictims", {{"n3", {{"Pods", {pod("victim")}}, {"NumPDBViolations", 0}}}}}};
  const Json answer = Json::parse(call("preempt", body.dump()).body);
  EXPECT_EQ(answer["NodeNameToMetaVictims"]["n3"]["Pods"], Json::parse(R"([{"UID":"u-victim"}])"));
}

TEST_F(ExtenderCalls, BindingsAreAnsweredOnceTheyAreMade) {
  publish();
  const std::string body = R"({"PodName":"a-0","PodNamespace":"ml","PodUID":"u-a-0","Node":"n1"})";
  call("bind", body);
  ASSERT_EQ(bound_.size(), 1U);
  EXPECT_EQ(bound_[0].first.pod, "ml/a-0");
  EXPECT_FALSE(exchange_->answer);
  extender_->answer(bound_[0].second, "");
  ASSERT_TRUE(exchange_->answer);
  EXPECT_EQ(exchange_->answer->body, R"({"Error":""})");
  call("bind", body);
  extender_->gone(exchange_);
  EXPECT_TRUE(exchange_->is_abandoned);
  extender_->answer(bound_[1].second, "");
  EXPECT_FALSE(exchange_->answer);
}

TEST_F(ExtenderCalls, OnlyWhatFilterHasLetThroughIsBound) {
  give_room();
  publish();
  const auto bind = [&](const std::string& name, const std::string& node) {
    call("bind", Json{{"PodName", name}, {"PodNamespace", "ml"}, {"PodUID", "u-" + name}, {"Node", node}}.dump());
    return exchange_->answer ? exchange_->answer->body : "";
  };
  EXPECT_EQ(bind("s", "n2"), R"({"Error":"muster: no plan has the pod there"})");
  filter(pod("s", gpus(8)));
  EXPECT_EQ(bind("s", "n1"), R"({"Error":"muster: no plan has the pod there"})");
  publish();
  EXPECT_EQ(bind("s", "n2"), "") << "a plan in between does not matter";
  EXPECT_EQ(bound_.size(), 1U);
}

TEST_F(ExtenderCalls, HostileBodiesAreRefusedWithTheirPath) {
  publish();
  const auto path = [&](const std::string& verb, const std::string& body) {
    const http::HttpResponse answer = call(verb, body);
    EXPECT_EQ(answer.status, 400U) << body;
    EXPECT_EQ(answer.content_type, "application/problem+json");
    const Json problem = Json::parse(answer.body);
    EXPECT_TRUE(problem["detail"].get<std::string>().starts_with("/extender/" + verb)) << problem;
    return problem.value("path", "");
  };
  EXPECT_EQ(path("filter", "[1]"), "$");
  path("filter", "");
  path("filter", "{\"Pod\":");
  path("filter", "\xff");
  path("filter", std::string(100'000, '['));
  EXPECT_EQ(path("filter", "{}"), "$.Pod");
  EXPECT_EQ(path("filter", R"({"Pod":7})"), "$.Pod");
  EXPECT_EQ(path("filter", R"({"Pod":{}})"), "$.Pod.metadata");
  EXPECT_EQ(path("filter", R"({"Pod":{"metadata":{"name":""}}})"), "$.Pod.metadata.name");
  EXPECT_EQ(path("filter", R"({"Pod":{"metadata":{"name":"a","uid":[]}}})"), "$.Pod.metadata.uid");
  EXPECT_EQ(path("filter", R"({"Pod":{"metadata":{"name":"a"},"spec":1}})"), "$.Pod.spec");
  EXPECT_EQ(path("filter", R"({"Pod":{"metadata":{"name":"a"}},"NodeNames":{}})"), "$.NodeNames");
  EXPECT_EQ(path("filter", R"({"Pod":{"metadata":{"name":"a"}},"NodeNames":["n",2]})"), "$.NodeNames[1]");
  EXPECT_EQ(path("filter", R"({"Pod":{"metadata":{"name":"a"}},"Nodes":{"items":[{}]}})"), "$.Nodes.items[0].metadata");
  EXPECT_EQ(path("prioritize", R"({"Pod":{"metadata":{"name":"a"}},"Nodes":7})"), "$.Nodes");
  EXPECT_EQ(path("preempt", R"({"Pod":{"metadata":{"name":"a"}},"NodeNameToMetaVictims":[]})"),
            "$.NodeNameToMetaVictims");
  EXPECT_EQ(path("bind", R"({"PodName":"a"})"), "$.Node");
  EXPECT_EQ(path("bind", R"({"PodName":"a","Node":1})"), "$.Node");
  EXPECT_EQ(filter_named("a-0")["NodeNames"], Json({"n1"})) << "nothing else is affected";
  EXPECT_TRUE(bound_.empty());
}

TEST_F(ExtenderCalls, OddPodsThatNoPlanHasSeenPassNowhere) {
  give_room();
  publish();
  Json odd = pod("odd", gpus(1));
  odd["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "much";
  EXPECT_EQ(filter(odd)["NodeNames"], Json::array());
  odd["spec"]["containers"] = 3;
  EXPECT_EQ(filter(odd)["NodeNames"], Json::array());
}

TEST_F(ExtenderCalls, OtherPathsAndMethodsAreRefused) {
  http::HttpRequest request;
  request.method = "POST";
  request.path = "/extender/score";
  EXPECT_EQ(extender_->refuse(request)->status, 404U);
  request.path = "/extender/filter";
  EXPECT_FALSE(extender_->refuse(request));
  request.method = "GET";
  EXPECT_EQ(extender_->refuse(request)->status, 405U);
}

}  // namespace
}  // namespace muster::cli
