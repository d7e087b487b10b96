#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/agent/advice.h"
#include "io/json/json_document.h"
#include "io/kubernetes/object/kinds.h"
#include "test/api_server/running.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;
using api_server::FakeAnswer;
using api_server::FakeRequest;

class Marks : public testing::Test {
 protected:
  void put(const char* api_group, const char* version, const char* name) {
    api_server::KindSink& sink =
        store_.add_kind({kubernetes::find_known_kind(api_group, version, "PodGroup"), version, "podgroups", true});
    json::JsonDocument document;
    const std::string text =
        Json{{"metadata", {{"name", name}, {"namespace", "ml"}, {"uid", "u"}}}, {"spec", {{"minMember", 4}}}}.dump();
    ASSERT_FALSE(document.parse(text, {}));
    sink.list_begins();
    ASSERT_TRUE(sink.set(document.root()));
    sink.list_ends("1");
  }
  void mark(const std::vector<WaitingGangNote>& waiting, std::size_t requests) {
    marks_.mark(waiting, store_);
    EXPECT_TRUE(api_server::run_until(io_, [&] { return server_.requests().size() >= requests; }));
    api_server::run_for(io_, std::chrono::milliseconds(5));
    EXPECT_EQ(server_.requests().size(), requests);
  }
  Json body(std::size_t i) const { return Json::parse(server_.requests().at(i).body); }

  api_server::FakeServer server_{[](const FakeRequest&) { return FakeAnswer{200, "", "{}"}; }};
  boost::asio::io_context io_;
  api_server::ApiClient client_{io_, api_server::address_of(server_), api_server::steady()};
  api_server::ObjectStore store_{std::chrono::steady_clock::now};
  GroupMarks marks_{client_, [] { return std::string("2026-01-01T00:00:00.123456Z"); },
                    [](const std::string& sentence) { ADD_FAILURE() << sentence; }};
  const WaitingGangNote note_{"ml/train", "ml/train-0", "Fragmented", "no node has 8 GPUs free"};
};

TEST_F(Marks, AreAnAnnotationWhereConditionsBelongToOthers) {
  put("scheduling.x-k8s.io", "v1alpha1", "train");
  mark({note_}, 1);
  EXPECT_EQ(server_.requests()[0].method, "PATCH");
  EXPECT_EQ(server_.requests()[0].path, "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/ml/podgroups/train");
  EXPECT_EQ(body(0)["metadata"]["annotations"]["muster/waits"], "Fragmented: no node has 8 GPUs free");
  EXPECT_EQ(body(0)["metadata"]["uid"], "u");
  mark({}, 2);
  EXPECT_EQ(body(1)["metadata"]["annotations"], Json({{"muster/waits", nullptr}}));
  mark({}, 2);
}

TEST_F(Marks, AreAConditionOfTheWorkloadApi) {
  put("scheduling.k8s.io", "v1beta1", "train");
  mark({note_}, 1);
  EXPECT_EQ(server_.requests()[0].path, "/apis/scheduling.k8s.io/v1beta1/namespaces/ml/podgroups/train/status");
  const Json condition = body(0)["status"]["conditions"][0];
  EXPECT_EQ(condition["type"], "muster/Placed");
  EXPECT_EQ(condition["status"], "False");
  EXPECT_EQ(condition["reason"], "Fragmented");
  EXPECT_EQ(condition["lastTransitionTime"], "2026-01-01T00:00:00Z");
  mark({}, 2);
  EXPECT_EQ(body(1)["status"]["conditions"][0]["status"], "True");
}

TEST_F(Marks, AreRepeatedOnlyForAnotherReason) {
  put("scheduling.run.ai", "v2alpha2", "train");
  mark({note_}, 1);
  WaitingGangNote other = note_;
  other.note = "no node has 8 GPUs free: 2 of 3 are in use";
  mark({other}, 1);
  other.reason = "QueueLimit";
  mark({other}, 2);
}

TEST_F(Marks, GangsWithoutAnObjectHaveNone) {
  put("scheduling.volcano.sh", "v1beta1", "other");
  mark({note_, {"ml/single", "ml/single", "Fragmented", "..."}, {"odd", "odd", "Fragmented", "..."}}, 0);
}

}  // namespace
}  // namespace muster::cli
