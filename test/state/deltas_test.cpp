// The kept state against the same cluster sent whole: after any deltas, the plans are equal byte for byte.
#include <algorithm>
#include <cstdint>
#include <random>
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

// A cluster as lists of JSON objects, changed as the contract says. In a tidy one, pods name only what is there, so
// that nothing is repaired.
class Cluster {
 public:
  Cluster(std::uint64_t seed, bool is_tidy) : random_(seed), is_tidy_(is_tidy) {
    whole_ = Json{{"format", "muster/v1"},
                  {"id", "c"},
                  {"time", 1000},
                  {"topology", {"zone"}},
                  {"nodes", Json::array()},
                  {"podTemplates", Json::object()},
                  {"queues", Json::array()},
                  {"gangs", Json::array()},
                  {"pods", Json::array()}};
    for (int i = 0; i < 6; ++i) put("nodes", node());
    for (const char* name : {"a", "b"}) put("queues", queue(name));
    for (int i = 0; i < 3; ++i) put("gangs", gang());
    for (int i = 0; i < 12; ++i) put("pods", expanded(pod(Json::object()), Json::object()));
  }

  std::string text() const { return whole_.dump(); }

  // A random delta, and does the same to the lists.
  std::string delta(std::uint64_t from) {
    Json set = Json::object(), remove = Json::object();
    for (const char* list : {"nodes", "gangs", "pods"}) {
      if (!is(3)) continue;
      Json& names = remove[list];
      names = Json::array();
      for (const Json& one : whole_[list])
        if (is(6) && !(is_tidy_ && is_named(one["name"]))) names.push_back(one["name"]);
      for (const Json& name : names) take_out(list, name);
    }
    if (is(2)) set["time"] = whole_["time"] = whole_["time"].get<int>() + 50;
    if (is(5)) set["policy"] = whole_["policy"] = policy();
    if (is(3)) {
      const std::string name = "t" + std::to_string(number(3));
      Json one = spec();
      one.erase("podAntiAffinity");
      set["podTemplates"][name] = whole_["podTemplates"][name] = one;
    }
    if (is(2)) add(set, "nodes", node());
    if (is(4)) add(set, "queues", queue(is(2) ? "a" : "b"));
    if (is(2)) add(set, "gangs", gang());
    for (int i = number(5); i > 0; --i) {
      const Json one = pod(whole_["podTemplates"]);
      if (names_of(set, "pods").contains(one["name"])) continue;
      set["pods"].push_back(one);
      put("pods", expanded(one, whole_["podTemplates"]));
    }
    return Json{{"from", from}, {"to", from + 1}, {"set", set}, {"remove", remove}}.dump();
  }

 private:
  int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool is(int one_in) { return number(one_in) == 0; }

  static Json names_of(const Json& set, const char* list) {
    Json names = Json::object();
    if (set.contains(list))
      for (const Json& one : set[list]) names[one["name"].get<std::string>()] = true;
    return names;
  }

  void add(Json& set, const char* list, const Json& object) {
    set[list].push_back(object);
    put(list, object);
  }
  // One that is known keeps its place.
  void put(const char* list, const Json& object) {
    for (Json& one : whole_[list]) {
      if (one["name"] != object["name"]) continue;
      one = object;
      return;
    }
    whole_[list].push_back(object);
  }
  // The last one takes its place.
  void take_out(const char* list, const Json& name) {
    Json& all = whole_[list];
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i]["name"] != name) continue;
      all[i] = Json(all.back());
      all.erase(all.size() - 1);
      return;
    }
  }

  bool is_named(const Json& name) const {
    return std::ranges::any_of(whole_["pods"], [&](const Json& pod) {
      return pod.value("gang", "") == name || pod.value("node", "") == name;
    });
  }
  // Of one that is there, in a tidy cluster.
  std::string any(const char* list, const std::string& prefix, int below) {
    const Json& all = whole_[list];
    if (!is_tidy_) return prefix + std::to_string(number(below));
    return all.empty() ? "" : all[static_cast<std::size_t>(number(static_cast<int>(all.size())))]["name"];
  }

  Json policy() {
    Json one{{"placement", is(2) ? "spread" : "binpack"}};
    if (is(2)) one["schedulers"] = Json::array({is(2) ? "ours" : "default-scheduler"});
    return one;
  }
  Json node() {
    Json one{{"name", "n" + std::to_string(number(8))},
             {"resources", {{"cpu", 8 + number(2) * 8}, {"memory", "64Gi"}}},
             {"gpus", {{"count", 2 + 2 * number(2)}}},
             {"labels", {{"zone", "z" + std::to_string(number(2))}, {"disk", is(2) ? "ssd" : "hdd"}}}};
    if (is(3)) one["resources"]["example.com/x"] = 4;
    if (is(6)) one["unschedulable"] = true;
    return one;
  }
  Json queue(const std::string& name) {
    return Json{{"name", name}, {"gpu", {{"quota", number(6)}, {"weight", 1 + number(3)}}}};
  }
  Json gang() {
    Json one{{"name", "g" + std::to_string(number(5))}, {"queue", is(2) ? "a" : "b"}, {"minMember", 1 + number(2)}};
    if (is(3)) one["priority"] = number(3);
    if (is(3)) one["created"] = 900 + number(100);
    return one;
  }
  Json spec() {
    Json one{{"resources", {{"cpu", 1 + number(3)}}}};
    if (is(2)) one["gpu"] = is(2) ? Json{{"count", 1 + number(2)}} : Json{{"fraction", 0.5}};
    if (is(4)) one["nodeSelector"] = {{"disk", is(2) ? "ssd" : "hdd"}};
    if (is(6)) one["resources"]["example.com/x"] = 1;
    if (is(5)) one["podAntiAffinity"] = Json::array({{{"topologyKey", "zone"}, {"matchGang", true}}});
    return one;
  }
  Json pod(const Json& templates) {
    Json one = spec();
    if (!templates.empty() && is(2)) {
      one = is(2) ? Json::object() : Json{{"gpu", {{"count", 1}}}};
      auto chosen = templates.begin();
      std::advance(chosen, number(static_cast<int>(templates.size())));
      one["template"] = chosen.key();
    }
    one["name"] = (is(40) ? "g" : "p") + std::to_string(number(30));
    if (is(2)) {
      one["gang"] = any("gangs", "g", 5);
    } else {
      one["queue"] = is(2) ? "a" : "b";
      if (is(3)) one["expectedDuration"] = "100s";
    }
    if (is(4)) one["schedulerName"] = "ours";
    if (is(3)) {
      one["node"] = any("nodes", "n", 8);
      one["started"] = 500 + number(400);
      const int devices = one.contains("gpu") ? one["gpu"].value("count", 1) : 0;
      if (devices > 0 && is(2)) one["gpus"] = devices == 1 ? Json{number(4)} : Json{1 + number(3), 0};
    } else if (is(3)) {
      one["nominatedNode"] = any("nodes", "n", 8);
    }
    for (const char* key : {"gang", "node", "nominatedNode"})
      if (one.contains(key) && one[key] == "") one.erase(key);
    return one;
  }
  static Json expanded(Json one, const Json& templates) {
    if (!one.contains("template")) return one;
    const Json values = templates[one["template"].get<std::string>()];
    one.erase("template");
    for (const auto& [key, value] : values.items())
      if (!one.contains(key)) one[key] = value;
    return one;
  }

  std::mt19937_64 random_;
  bool is_tidy_;
  Json whole_;
};

void compare_with_wholes(portfolio::Engine engine, int clusters, int cycles) {
  const muster_v1::ReaderOptions reading = reader_options_with(false);
  const LineOptions options = line_options_with(engine);
  int plans = 0;
  for (int seed = 0; seed < clusters; ++seed) {
    Cluster cluster(static_cast<std::uint64_t>(seed), seed % 3 != 0);
    ServeStates states;
    muster_v1::SnapshotReader reader(reading);
    LineSolver of_text(test::program()), of_state(test::program());
    const ServeAnswer set = states.set("", cluster.text(), 0, reading);
    ASSERT_FALSE(set.is_error) << set.error.path << ": " << set.error.message;
    for (std::uint64_t cycle = 0; cycle < static_cast<std::uint64_t>(cycles); ++cycle) {
      const std::string delta = cluster.delta(cycle);
      const ServeAnswer changed = states.change("", delta, reading);
      ASSERT_FALSE(changed.is_error) << changed.error.path << ": " << changed.error.message << "\n" << delta;
      ParsedLine whole = parse_line(reader, cluster.text(), 1, TimeSource::kObjects);
      std::optional<ParsedLine> kept = states.line("", reader, reading);
      ASSERT_TRUE(kept);
      const Answer expected = answer_line(whole, whole.begun, of_text, options, {});
      const Answer found = answer_line(*kept, kept->begun, of_state, options, {});
      ASSERT_EQ(found.text, expected.text) << "cluster " << seed << ", cycle " << cycle << "\n" << cluster.text();
      plans += expected.is_error ? 0 : 1;
    }
  }
  EXPECT_GT(plans, clusters * cycles / 2);
}

TEST(Deltas, LeadToThePlansOfTheSameClusterSentWhole) { compare_with_wholes(portfolio::Engine::kGreedy, 200, 20); }

TEST(Deltas, LeadToTheSamePlansOfAllEnginesByCountedWork) { compare_with_wholes(portfolio::Engine::kAuto, 4, 4); }

// --- What a single delta does

constexpr const char* kWhole =
    R"({"format":"muster/v1","time":1,"nodes":[{"name":"n","gpus":{"count":2}}],)"
    R"("podTemplates":{"t":{"gpu":{"count":2},"resources":{"cpu":1}}},"pods":[{"name":"p","gpu":{"count":1}}]})";

std::string plan_of(ServeStates& states) {
  LineSolver solver(test::program());
  muster_v1::SnapshotReader reader(reader_options_with(true));
  std::optional<ParsedLine> line = states.line("", reader, reader_options_with(true));
  return line ? answer_line(*line, line->begun, solver, line_options_with(portfolio::Engine::kGreedy), {}).text : "";
}

TEST(Deltas, ABadOneChangesNothingAndNamesThePlace) {
  ServeStates states;
  const muster_v1::ReaderOptions reading = reader_options_with(true);
  ASSERT_FALSE(states.set("", kWhole, 7, reading).is_error);
  const std::string before = plan_of(states);
  struct Bad {
    std::string more, path;
    ErrorCode code;
  };
  const std::vector<Bad> all = {
      {R"("set":{"pods":[{"name":"q"},{"name":7}]})", "$.set.pods[1].name", ErrorCode::kWrongType},
      {R"("set":{"pods":[{"name":"q"},{"name":"q"}]})", "$.set.pods[1].name", ErrorCode::kDuplicateName},
      {R"("set":{"pods":[{"name":"q","template":"u"}]})", "$.set.pods[0].template", ErrorCode::kUnknownName},
      {R"("set":{"colour":1})", "$.set.colour", ErrorCode::kUnknownKey},
      {R"("set":{"nodes":[{"name":"m"}]},"remove":{"pods":["p","r"]})", "$.remove.pods[1]", ErrorCode::kUnknownName},
      {R"("remove":{"pods":["p","p"]})", "$.remove.pods[1]", ErrorCode::kUnknownName},
      {R"("remove":{"disruptionBudgets":["default/b"]})", "$.remove.disruptionBudgets[0]", ErrorCode::kUnknownName},
      {R"("remove":{"pod":["p"]})", "$.remove.pod", ErrorCode::kUnknownKey}};
  for (const Bad& bad : all) {
    const ServeAnswer answer = states.change("", R"({"from":7,"to":8,)" + bad.more + "}", reading);
    EXPECT_TRUE(answer.is_error);
    EXPECT_EQ(answer.error.path, bad.path) << bad.more;
    EXPECT_EQ(answer.error.code, bad.code) << bad.more;
    EXPECT_FALSE(answer.conflict);
    EXPECT_EQ(states.report("")->sequence, 7U);
    EXPECT_EQ(plan_of(states), before) << bad.more;
  }
  EXPECT_EQ(states.change("", R"({"from":8,"to":8})", reading).error.path, "$.to");
}

TEST(Deltas, AGapAsksForTheWholeAndTheLastOneMayBeSentAgain) {
  ServeStates states;
  const muster_v1::ReaderOptions reading = reader_options_with(true);
  EXPECT_EQ(states.change("", R"({"from":0,"to":1})", reading).conflict, http::HttpFault::kNoState);
  ASSERT_FALSE(states.set("", kWhole, 7, reading).is_error);
  EXPECT_EQ(states.change("", R"({"from":8,"to":9})", reading).conflict, http::HttpFault::kSequenceGap);
  const std::string delta = R"({"from":7,"to":9,"set":{"pods":[{"name":"q","gpu":{"count":1}}]}})";
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(states.change("", delta, reading).is_error);
    EXPECT_EQ(states.report("")->sequence, 9U);
    EXPECT_EQ(states.report("")->pods, 2U);
  }
  EXPECT_EQ(states.change("", R"({"from":6,"to":7})", reading).conflict, http::HttpFault::kSequenceGap);
}

TEST(Deltas, PodsMayNameATemplateOfAnEarlierDocument) {
  ServeStates states;
  const muster_v1::ReaderOptions reading = reader_options_with(true);
  ASSERT_FALSE(states.set("", kWhole, 0, reading).is_error);
  const std::string delta =
      R"({"from":0,"to":1,"set":{"pods":[{"name":"q","template":"t"},{"name":"r","template":"t","gpu":{"count":1}}]}})";
  ASSERT_FALSE(states.change("", delta, reading).is_error);
  muster_v1::SnapshotReader reader(reading);
  const std::optional<ParsedLine> line = states.line("", reader, reading);
  const Snapshot& snapshot = *line->snapshot;
  EXPECT_EQ(snapshot.pod_specs[snapshot.pods[1].spec].gpu.devices, 2);
  EXPECT_EQ(snapshot.pod_specs[snapshot.pods[2].spec].gpu.devices, 1);
  EXPECT_EQ(snapshot.pod_specs[snapshot.pods[2].spec].resources.front().amount, 1000);
}

TEST(Deltas, ACycleSeesTheStateAsItWasWhenItWasAskedFor) {
  ServeStates states;
  const muster_v1::ReaderOptions reading = reader_options_with(true);
  ASSERT_FALSE(states.set("", kWhole, 0, reading).is_error);
  muster_v1::SnapshotReader reader(reading);
  const std::optional<ParsedLine> line = states.line("", reader, reading);
  ASSERT_FALSE(states.change("", R"({"from":0,"to":1,"remove":{"pods":["p"]}})", reading).is_error);
  EXPECT_EQ(line->snapshot->pods.size(), 1U);
  EXPECT_EQ(line->snapshot->pods[0].name, "p");
  EXPECT_EQ(states.report("")->pods, 0U);
}

TEST(Deltas, TheClusterThatWasAskedForTheLongestAgoIsForgotten) {
  ServeStates states;
  const muster_v1::ReaderOptions reading = reader_options_with(true);
  for (std::size_t i = 0; i <= ServeStates::kMostStates; ++i)
    ASSERT_FALSE(states.set("c" + std::to_string(i), kWhole, i, reading).is_error);
  EXPECT_FALSE(states.report("c0"));
  muster_v1::SnapshotReader reader(reading);
  EXPECT_FALSE(states.line("c0", reader, reading));
  EXPECT_TRUE(states.line("c1", reader, reading));
  EXPECT_EQ(states.summary()->pods, ServeStates::kMostStates);
}

TEST(Deltas, LeaveTheReasonsWhatTheyAreWhateverResourcesCameFirst) {
  const std::string node = R"({"format":"muster/v1","nodes":[{"name":"n","resources":{"cpu":8}}],"pods":[)";
  const std::string both = R"({"name":"b","resources":{"rdma/hca":1,"example.com/nic":1}})";
  const muster_v1::ReaderOptions reading = reader_options_with(true);
  ServeStates states, whole;
  ASSERT_FALSE(states.set("", node + R"({"name":"a","resources":{"example.com/nic":1}}]})", 1, reading).is_error);
  const std::string delta = R"({"from":1,"to":2,"remove":{"pods":["a"]},"set":{"pods":[)" + both + "]}}";
  ASSERT_FALSE(states.change("", delta, reading).is_error);
  ASSERT_FALSE(whole.set("", node + both + "]}", 1, reading).is_error);
  EXPECT_NE(plan_of(states).find("Insufficientexample.com/nic"), std::string::npos);
  EXPECT_NE(plan_of(whole).find("Insufficientexample.com/nic"), std::string::npos);
}

}  // namespace
}  // namespace muster::cli
