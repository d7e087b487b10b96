#include "cli/agent/nominations.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/agent/runner.h"
#include "io/json/json_document.h"
#include "io/kubernetes/object/kinds.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;
using exporting::ExportPhase;
using Texts = std::vector<std::string>;

class Nominations : public testing::Test {
 protected:
  // A pod of the cluster; it waits if it is not bound.
  void put(const std::string& name, const std::string& nominated = "", const std::string& node = "") {
    Json pod = {{"metadata", {{"name", name}, {"namespace", "ml"}, {"uid", "u-" + name}}},
                {"spec", Json::object()},
                {"status", {{"phase", "Pending"}}}};
    if (!nominated.empty()) pod["status"]["nominatedNodeName"] = nominated;
    if (!node.empty()) pod["spec"]["nodeName"] = node;
    json::JsonDocument document;
    const std::string text = pod.dump();
    ASSERT_FALSE(document.parse(text, {}));
    ASSERT_TRUE(sink_.set(document.root()));
    pending_.push_back({"ml/" + name, "ml/" + name});
  }
  void place(const std::string& name, const std::string& node, ExportPhase phase) {
    plan_.objects.push_back({"{}", phase, "ml", name, "u-" + name, node, "ml/" + name, {}});
  }
  std::vector<Act> acts(ApplyMode mode) const { return nominations(plan_, pending_, mode, store_).acts; }
  Texts written(ApplyMode mode) const {
    Texts texts;
    for (const Act& act : acts(mode)) texts.push_back(act.pod() + ":" + act.object.node);
    return texts;
  }

  exporting::ExportedPlan plan_;
  std::vector<PendingPod> pending_;
  api_server::ObjectStore store_{std::chrono::steady_clock::now};
  api_server::KindSink& sink_ = store_.add_kind({kubernetes::find_known_kind("", "v1", "Pod"), "v1", "pods", true});
};

TEST_F(Nominations, HoldTheRoomThatPodsLeave) {
  put("starts");
  put("waits");
  place("starts", "n1", ExportPhase::kNow);
  place("waits", "n2", ExportPhase::kAfterEvictions);
  EXPECT_EQ(written(ApplyMode::kBindings), Texts{"ml/waits:n2"});
  EXPECT_EQ(written(ApplyMode::kExtender), (Texts{"ml/starts:n1", "ml/waits:n2"}));
  EXPECT_EQ(written(ApplyMode::kGates), Texts());
  EXPECT_EQ(written(ApplyMode::kKai), Texts());
}

TEST_F(Nominations, AreNotRepeated) {
  put("waits", "n2");
  put("bound", "", "n1");
  place("waits", "n2", ExportPhase::kAfterEvictions);
  place("bound", "n1", ExportPhase::kAfterEvictions);
  EXPECT_EQ(written(ApplyMode::kBindings), Texts());
}

TEST_F(Nominations, FollowThePlanAndAreGivenUpWithIt) {
  put("moves", "n1");
  put("given-up", "n1");
  put("starts", "n1");
  place("moves", "n2", ExportPhase::kAfterEvictions);
  place("starts", "n1", ExportPhase::kNow);
  EXPECT_EQ(written(ApplyMode::kBindings), (Texts{"ml/moves:n2", "ml/given-up:"}));
}

TEST_F(Nominations, ArePatchesOfTheStatus) {
  put("waits");
  put("given-up", "n1");
  place("waits", "n2", ExportPhase::kAfterEvictions);
  const std::vector<Act> made = acts(ApplyMode::kBindings);
  ASSERT_EQ(made.size(), 2U);
  const api_server::ApiRequest request = request_of(made[0], ApplyMode::kBindings, false);
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.target, "/api/v1/namespaces/ml/pods/waits/status?fieldManager=muster");
  EXPECT_EQ(request.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(request.body, R"({"metadata":{"uid":"u-waits"},"status":{"nominatedNodeName":"n2"}})");
  EXPECT_EQ(made[1].object.text, R"({"metadata":{"uid":"u-given-up"},"status":{"nominatedNodeName":null}})");
}

TEST_F(Nominations, AreSeenOnceTheWatchShowsThem) {
  put("waits");
  place("waits", "n2", ExportPhase::kAfterEvictions);
  WrittenActs seen(ApplyMode::kBindings, std::chrono::steady_clock::now);
  seen.add(acts(ApplyMode::kBindings).at(0));
  EXPECT_FALSE(seen.are_seen(store_));
  put("waits", "n2");
  EXPECT_TRUE(seen.are_seen(store_));
}

}  // namespace
}  // namespace muster::cli
