// The kept state of Kubernetes objects against the same objects sent whole: after any deltas, the plans are equal byte
// for byte.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/line/line.h"
#include "cli/serve/states.h"
#include "test/state/options.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> scenarios() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/test/scenarios/kubernetes"))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Json> all;
  for (const auto& path : paths) {
    std::ifstream file(path);
    all.push_back(Json::parse(file));
  }
  return all;
}

std::string list_of(const Json& items) { return Json{{"apiVersion", "v1"}, {"kind", "List"}, {"items", items}}.dump(); }

bool is_same(const Json& one, const Json& other) {
  const auto group = [](const Json& object) {
    const std::string version = object["apiVersion"];
    const std::size_t slash = version.find('/');
    return slash == std::string::npos ? std::string() : version.substr(0, slash);
  };
  const auto space = [](const Json& object) { return object["metadata"].value("namespace", "default"); };
  return one["kind"] == other["kind"] && group(one) == group(other) && space(one) == space(other) &&
         one["metadata"]["name"] == other["metadata"]["name"];
}

// A list of objects, changed as the contract says.
class Cluster {
 public:
  Cluster(const Json& scenario, std::uint64_t seed) : random_(seed), pool_(scenario["items"]) {
    for (const char* kind : {"ConfigMap", "Service"}) pool_.push_back(other(kind));
    pool_.push_back(Json::parse(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})"));
    pool_.push_back(Json::parse(R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},)"
                                R"("spec":{"selector":{}},"status":{"disruptionsAllowed":1}})"));
    for (const Json& object : pool_)
      if (!is(5)) items_.push_back(object);
  }

  // As a List, or as documents one after another.
  std::string whole() {
    if (!is(4)) return text();
    std::string documents;
    for (const Json& object : items_) documents += object.dump(is(2) ? 1 : -1) + "\n";
    return documents;
  }
  std::string text() const { return list_of(items_); }

  // A random delta, and does the same to the list.
  std::string delta(std::uint64_t from) {
    Json remove = Json::array(), set = Json::array(), left = Json::array();
    for (const Json& object : items_) {
      if (is(8)) {
        remove.push_back(is(2) ? object : named(object));
      } else {
        left.push_back(object);
      }
    }
    items_ = left;
    std::vector<Json> changed;
    for (int i = number(6); i > 0; --i) {
      const Json object = drawn();
      if (std::ranges::any_of(changed, [&](const Json& one) { return is_same(one, object); })) continue;
      changed.push_back(object);
      put(object);
      set.push_back(is(4) ? Json{{"type", is(2) ? "ADDED" : "MODIFIED"}, {"object", object}} : object);
    }
    Json delta{{"from", from}, {"to", from + 1}};
    if (!set.empty()) delta["set"] = set.size() == 1 ? set[0] : Json{{"kind", "List"}, {"items", set}};
    if (!remove.empty() || is(2)) delta["remove"] = remove;
    return delta.dump();
  }

 private:
  int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool is(int one_in) { return number(one_in) == 0; }

  static Json other(const char* kind) {
    return Json{{"apiVersion", "v1"}, {"kind", kind}, {"metadata", {{"name", "c"}, {"namespace", "default"}}}};
  }

  // With as little as names it. Several groups have PodGroups, Queues and Workloads.
  static Json named(const Json& object) {
    Json names{{"name", object["metadata"]["name"]}};
    if (object["metadata"].contains("namespace")) names["namespace"] = object["metadata"]["namespace"];
    return Json{{"apiVersion", object["apiVersion"]}, {"kind", object["kind"]}, {"metadata", names}};
  }

  // An object of the pool, as it is or changed in what matters, in what does not, or so that it does not add up.
  Json drawn() {
    Json object = pool_[static_cast<std::size_t>(number(static_cast<int>(pool_.size())))];
    Json& metadata = object["metadata"];
    switch (number(7)) {
      case 0:
        metadata["resourceVersion"] = std::to_string(number(1000));
        break;
      case 1:
        metadata["creationTimestamp"] = "2026-03-0" + std::to_string(1 + number(9)) + "T10:00:00Z";
        break;
      case 2:
        metadata["creationTimestamp"] = "yesterday";
        break;
      case 3:
        object["status"]["conditions"] =
            Json::array({{{"type", "Ready"},
                          {"status", is(4) ? "False" : "True"},
                          {"lastHeartbeatTime", "2026-04-0" + std::to_string(1 + number(9)) + "T10:00:00Z"}}});
        break;
      case 4:
        metadata["labels"]["team"] = is(2) ? Json("a") : Json(7);
        break;
      case 5:
        if (object["kind"] == "Pod") change_pod(object);
        break;
      default:
        break;
    }
    return object;
  }
  void change_pod(Json& pod) {
    if (is(3)) pod["metadata"]["name"] = "new-" + std::to_string(number(4));
    if (is(4)) pod["metadata"]["deletionTimestamp"] = "2026-03-02T10:00:00Z";
    if (is(3)) pod["spec"]["priority"] = number(3);
    if (is(3)) pod["status"]["phase"] = is(2) ? "Succeeded" : "Pending";
    if (is(3)) pod["spec"].erase("nodeName");
    if (is(5)) pod["spec"]["containers"] = 7;
  }

  // One that is known keeps its place.
  void put(const Json& object) {
    for (Json& one : items_) {
      if (!is_same(one, object)) continue;
      one = object;
      return;
    }
    items_.push_back(object);
  }

  std::mt19937_64 random_;
  Json pool_, items_ = Json::array();
};

void compare_with_wholes(portfolio::Engine engine, const std::vector<Json>& scenarios, int cycles) {
  const muster_v1::ReaderOptions reading = reader_options_with(false);
  const LineOptions options = line_options_with(engine);
  int plans = 0;
  for (std::size_t seed = 0; seed < scenarios.size(); ++seed) {
    Cluster cluster(scenarios[seed], seed);
    ServeStates states;
    muster_v1::SnapshotReader reader(reading), reader_of_state(reading);
    LineSolver of_text(test::program()), of_state(test::program());
    const ServeAnswer set = states.set("", cluster.whole(), 0, reading);
    ASSERT_FALSE(set.is_error) << set.error.path << ": " << set.error.message;
    for (std::uint64_t cycle = 0; cycle < static_cast<std::uint64_t>(cycles); ++cycle) {
      if (cycle > 0) {
        const std::string delta = cluster.delta(cycle - 1);
        const ServeAnswer changed = states.change("", delta, reading);
        ASSERT_FALSE(changed.is_error) << changed.error.path << ": " << changed.error.message << "\n" << delta;
      }
      ParsedLine whole = parse_line(reader, cluster.text(), 1, TimeSource::kObjects);
      std::optional<ParsedLine> kept = states.line("", reader_of_state, reading);
      ASSERT_TRUE(kept);
      const Answer expected = answer_line(whole, whole.begun, of_text, options, {});
      const Answer found = answer_line(*kept, kept->begun, of_state, options, {});
      ASSERT_EQ(found.text, expected.text) << "cluster " << seed << ", cycle " << cycle << "\n" << cluster.text();
      ASSERT_EQ(found.log, expected.log);
      plans += expected.is_error ? 0 : 1;
    }
  }
  EXPECT_GT(plans, static_cast<int>(scenarios.size()) * cycles / 2);
}

TEST(ObjectDeltas, LeadToThePlansOfTheSameObjectsSentWhole) {
  const std::vector<Json> all = scenarios();
  for (int round = 0; round < 4; ++round) compare_with_wholes(portfolio::Engine::kGreedy, all, 12);
}

TEST(ObjectDeltas, LeadToTheSamePlansOfAllEnginesByCountedWork) {
  std::vector<Json> some = scenarios();
  some.resize(3);
  compare_with_wholes(portfolio::Engine::kAuto, some, 3);
}

// --- What a single delta does

constexpr const char* kWhole =
    R"({"apiVersion":"v1","kind":"List","items":[)"
    R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},)"
    R"("status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"},)"
    R"("conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-03-01T10:00:00Z"}]}},)"
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"a"}},)"
    R"({"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"q"},"spec":{}},)"
    R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"spec":{}},)"
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},)"
    R"("spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}]})";

constexpr const char* kPod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","namespace":"a"},)"
                             R"("spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}})";

std::string delta(std::uint64_t from, const std::string& more) {
  return R"({"from":)" + std::to_string(from) + R"(,"to":)" + std::to_string(from + 1) + "," + more + "}";
}

class ObjectState : public ::testing::Test {
 protected:
  ObjectState() { EXPECT_FALSE(states_.set("", kWhole, 7, reading_).is_error); }

  ServeAnswer change(std::uint64_t from, const std::string& more) {
    return states_.change("", delta(from, more), reading_);
  }
  std::string plan() {
    LineSolver solver(test::program());
    muster_v1::SnapshotReader reader(reading_);
    std::optional<ParsedLine> line = states_.line("", reader, reading_);
    return line ? answer_line(*line, line->begun, solver, line_options_with(portfolio::Engine::kGreedy), {}).text : "";
  }
  std::vector<std::string> placed() {
    const Json answer = Json::parse(plan());
    std::vector<std::string> pods;
    for (const Json& placement : answer["placements"]) pods.push_back(placement["pod"]);
    return pods;
  }

  muster_v1::ReaderOptions reading_ = reader_options_with(false);
  ServeStates states_;
};

using Names = std::vector<std::string>;

TEST_F(ObjectState, ABadDeltaChangesNothingAndNamesThePlace) {
  const std::string before = plan(), pod = kPod;
  struct Bad {
    std::string more, path;
    ErrorCode code;
  };
  const std::string good = R"("set":)" + pod + ",";
  const std::vector<Bad> all = {
      {R"("set":{"kind":"List","items":[)" + pod +
           R"(,{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"a"}}]})",
       "$.set.items[1].metadata.name", ErrorCode::kMissingKey},
      {R"("set":{"kind":"List","items":[)" + pod + "," + pod + "]}", "$.set.items[1]", ErrorCode::kDuplicateName},
      {R"("set":{"kind":"List","items":[)" + pod + ",7]}", "$.set.items[1]", ErrorCode::kWrongType},
      {R"("set":{"kind":"List","items":[)" + pod + R"(,{"metadata":{"name":"y"}}]})", "$.set.items[1].kind",
       ErrorCode::kMissingKey},
      {R"("set":{"type":"DELETED","object":)" + pod + "}", "$.set.object", ErrorCode::kInvalidValue},
      {R"("set":{"metadata":{"name":"y"}})", "$.set.kind", ErrorCode::kMissingKey},
      {good + R"("remove":[)" + pod + "]", "$.remove[0]", ErrorCode::kUnknownName},
      {good + R"("remove":[{"kind":"Pod","metadata":{"name":"p"}},{"kind":"Pod","metadata":{"name":"p"}}])",
       "$.remove[1]", ErrorCode::kUnknownName},
      {good + R"("remove":[{"kind":"Pod","metadata":{"name":"p","namespace":"b"}}])", "$.remove[0]",
       ErrorCode::kUnknownName},
      {good + R"("remove":[{"apiVersion":"kai.scheduler/v1","kind":"Node","metadata":{"name":"m"}},)"
              R"({"kind":"Node","metadata":{"name":"m"}}])",
       "$.remove[1]", ErrorCode::kUnknownName},
      {good + R"("remove":[{"kind":"Queue","metadata":{"name":"q"}}])", "$.remove[0]", ErrorCode::kInvalidValue},
      {good + R"("remove":[{"metadata":{"name":"p"}}])", "$.remove[0].kind", ErrorCode::kMissingKey},
      {good + R"("remove":[{"kind":"Pod"}])", "$.remove[0].metadata", ErrorCode::kMissingKey},
      {good + R"("remove":[{"kind":"Pod","metadata":{}}])", "$.remove[0].metadata.name", ErrorCode::kMissingKey},
      {good + R"("remove":["p"])", "$.remove[0]", ErrorCode::kWrongType},
      {good + R"("remove":{"pods":["p"]})", "$.remove", ErrorCode::kInvalidValue},
      {R"("set":{"pods":[]},"remove":[])", "$.remove", ErrorCode::kInvalidValue},
      {good + R"("remov":[])", "$.remov", ErrorCode::kUnknownKey}};
  for (const Bad& bad : all) {
    const ServeAnswer answer = change(7, bad.more);
    EXPECT_TRUE(answer.is_error) << bad.more;
    EXPECT_EQ(answer.error.path, bad.path) << bad.more << answer.error.message;
    EXPECT_EQ(answer.error.code, bad.code) << bad.more << answer.error.message;
    EXPECT_FALSE(answer.conflict);
    EXPECT_EQ(states_.report("")->sequence, 7U);
    EXPECT_EQ(plan(), before) << bad.more;
  }
  EXPECT_EQ(states_.change("", R"({"from":7,"to":8,"set":{"kind")", reading_).error.code, ErrorCode::kInvalidJson);
  EXPECT_EQ(plan(), before);
}

TEST_F(ObjectState, TheObjectOfADeletedEventCanBeRemoved) {
  ASSERT_FALSE(change(7, R"("set":)" + std::string(kPod)).is_error);
  EXPECT_EQ(placed(), (Names{"a/x", "default/p"}));
  Json last = Json::parse(kPod);
  last["metadata"]["deletionTimestamp"] = "2026-03-01T10:00:00Z";
  last["metadata"]["resourceVersion"] = "900";
  last["status"]["phase"] = "Failed";
  ASSERT_FALSE(change(8, R"("remove":[)" + last.dump() + "]").is_error);
  EXPECT_EQ(placed(), Names{"default/p"});
}

TEST_F(ObjectState, AnObjectOfSeveralGroupsIsRemovedByItsApiVersion) {
  const ServeAnswer removed =
      change(7, R"("remove":[{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"q"}}])");
  ASSERT_FALSE(removed.is_error) << removed.error.message;
  EXPECT_FALSE(change(8, R"("remove":[{"kind":"Queue","metadata":{"name":"q"}}])").is_error);
  EXPECT_TRUE(change(9, R"("remove":[{"kind":"Queue","metadata":{"name":"q"}}])").is_error);
}

TEST_F(ObjectState, KindsThatTheImportDoesNotReadAreNoFault) {
  EXPECT_NE(plan().find("1 time: ConfigMap is ignored; first: ConfigMap a/c"), std::string::npos) << plan();
  const std::string maps =
      R"("set":{"apiVersion":"v1","kind":"ConfigMapList","items":[{"metadata":{"name":"c","namespace":"a"}},)"
      R"({"metadata":{"name":"d","namespace":"a"}}]})";
  ASSERT_FALSE(change(7, maps).is_error);
  EXPECT_NE(plan().find("2 times: ConfigMap is ignored; first: ConfigMap a/c"), std::string::npos) << plan();
  const std::string all = R"("remove":[{"kind":"ConfigMap","metadata":{"name":"c","namespace":"a"}},)"
                          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d","namespace":"a"}},)"
                          R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"d","namespace":"a"}}])";
  ASSERT_FALSE(change(8, all).is_error);
  EXPECT_EQ(plan().find("ConfigMap"), std::string::npos) << plan();
}

TEST_F(ObjectState, ADeltaRemovesFirst) {
  const std::string pod = kPod;
  ASSERT_FALSE(change(7, R"("set":)" + pod).is_error);
  ASSERT_FALSE(change(8, R"("set":)" + pod + R"(,"remove":[)" + pod + "]").is_error);
  EXPECT_EQ(placed(), (Names{"a/x", "default/p"}));
}

TEST_F(ObjectState, AGapAsksForTheWholeAndTheLastDeltaMayBeSentAgain) {
  const std::string set = R"("set":)" + std::string(kPod);
  EXPECT_EQ(change(8, set).conflict, http::HttpFault::kSequenceGap);
  for (int i = 0; i < 2; ++i) {
    const ServeAnswer answer = change(7, set);
    EXPECT_FALSE(answer.is_error);
    EXPECT_EQ(states_.report("")->sequence, 8U);
  }
  EXPECT_EQ(change(6, set).conflict, http::HttpFault::kSequenceGap);
  EXPECT_EQ(placed(), (Names{"a/x", "default/p"}));
  EXPECT_FALSE(change(8, R"("set":{},"remove":{})").is_error);
  EXPECT_FALSE(change(9, R"("remove":[])").is_error);
  EXPECT_EQ(states_.report("")->sequence, 10U);
}

TEST_F(ObjectState, TheReportCountsWhatWasImportedLast) {
  EXPECT_EQ(states_.report("")->pods, 1U);
  EXPECT_EQ(states_.report("")->nodes, 1U);
  ASSERT_FALSE(change(7, R"("set":)" + std::string(kPod)).is_error);
  EXPECT_EQ(states_.report("")->pods, 1U);
  plan();
  EXPECT_EQ(states_.report("")->pods, 2U);
  EXPECT_EQ(states_.report("")->sequence, 8U);
}

TEST_F(ObjectState, ADeltaInTheFormOfASnapshotMakesItASnapshot) {
  ASSERT_FALSE(change(7, R"("set":)" + std::string(kPod)).is_error);
  const ServeAnswer bad = change(8, R"("set":{"pods":[{"name":"y","resources":{"cpu":1}}]},"remove":{"pods":["z"]})");
  EXPECT_EQ(bad.error.path, "$.remove.pods[0]");
  ASSERT_FALSE(change(8, R"("remove":[{"kind":"Pod","metadata":{"name":"p"}}])").is_error) << "it is still of objects";
  ASSERT_FALSE(change(9, R"("set":{"pods":[{"name":"a/y","resources":{"cpu":1}}]})").is_error);
  EXPECT_EQ(states_.report("")->pods, 2U);
  EXPECT_EQ(placed(), (Names{"a/x", "a/y"}));
  const ServeAnswer refused = change(10, R"("set":)" + std::string(kPod));
  EXPECT_TRUE(refused.is_error);
  EXPECT_FALSE(refused.conflict);
  EXPECT_NE(refused.error.message.find("the state has the form of a snapshot"), std::string::npos);
  EXPECT_EQ(states_.report("")->sequence, 10U);
  EXPECT_TRUE(change(10, R"("remove":[])").is_error);
  EXPECT_FALSE(change(10, R"("remove":{"pods":["a/y"]})").is_error);
}

TEST_F(ObjectState, WhatCannotBeKeptIsAnErrorOfTheWhole) {
  const auto error_of = [&](const std::string& items) {
    return states_.set("", R"({"kind":"List","items":[)" + items + "]}", 0, reading_).error;
  };
  const std::string pod = kPod;
  EXPECT_EQ(error_of(pod + "," + pod).path, "$.items[1]");
  EXPECT_EQ(error_of(pod + R"(,{"kind":"Pod","apiVersion":"v1","metadata":{}})").path, "$.items[1].metadata.name");
  EXPECT_EQ(error_of(pod + ",").code, ErrorCode::kInvalidJson);
  EXPECT_EQ(states_.report("")->sequence, 7U);
  EXPECT_EQ(placed(), Names{"default/p"});
}

TEST_F(ObjectState, AStrictServerNamesThePlaceOfWhatDoesNotAddUp) {
  const muster_v1::ReaderOptions strict = reader_options_with(true);
  const std::string broken =
      R"({"kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"priority":"high"}}]})";
  const ServeAnswer answer = states_.set("", broken, 0, strict);
  EXPECT_EQ(answer.error.path, "$.items[0].spec.priority") << answer.error.message;
}

TEST_F(ObjectState, OtherOptionsOfTheImportForgetTheState) {
  muster_v1::ReaderOptions other = reading_;
  other.kubernetes.duration_annotation = "example.com/duration";
  EXPECT_EQ(states_.change("", delta(7, R"("set":)" + std::string(kPod)), other).conflict, http::HttpFault::kNoState);
  EXPECT_FALSE(states_.report(""));
}

}  // namespace
}  // namespace muster::cli
