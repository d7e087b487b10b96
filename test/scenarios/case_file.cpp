#include "test/scenarios/case_file.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace muster::scenarios {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string> kAllActions{"place", "consolidate", "reclaim", "preempt", "stale"};

template <class T>
std::optional<T> optional_of(const Json& object, const char* key) {
  return object.contains(key) ? std::optional<T>(object.at(key).get<T>()) : std::nullopt;
}

std::vector<std::string> list_of(const Json& object, const char* key) {
  if (!object.contains(key)) return {};
  const Json& value = object.at(key);
  if (value.is_string()) return {value.get<std::string>()};
  return value.get<std::vector<std::string>>();
}

ExpectedGang expected_gang(const Json& object) {
  static const std::vector<std::string> kKnown{"running", "evicted",  "moved",   "pending",        "phase",
                                               "reason",  "makeRoom", "onNodes", "messageContains"};
  for (const auto& [key, value] : object.items()) {
    if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end())
      throw std::runtime_error("unknown expectation " + key);
  }
  ExpectedGang gang;
  gang.running = optional_of<std::int64_t>(object, "running");
  gang.evicted = optional_of<std::int64_t>(object, "evicted");
  gang.moved = optional_of<std::int64_t>(object, "moved");
  gang.pending = optional_of<std::int64_t>(object, "pending");
  gang.phase = optional_of<std::string>(object, "phase");
  gang.make_room = optional_of<std::string>(object, "makeRoom");
  gang.reasons = list_of(object, "reason");
  gang.nodes = list_of(object, "onNodes");
  gang.message_parts = list_of(object, "messageContains");
  return gang;
}

std::string first_line_of(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) throw std::runtime_error("cannot read " + path);
  return line;
}

Scenario scenario_of(const Json& object, const std::string& path) {
  Scenario scenario;
  scenario.file = std::filesystem::path(path).filename().string();
  scenario.features = list_of(object, "features");
  scenario.why = object.value("why", "");
  scenario.as_good_suffices = object.value("judge", "") == "at-least-as-good";
  scenario.every_node_is_used = !object.contains("judge");
  scenario.actions = kAllActions;
  if (object.contains("snapshot")) {
    const Json& snapshot = object.at("snapshot");
    scenario.name = object.at("name").get<std::string>();
    scenario.line = snapshot.dump();
    if (snapshot.contains("policy") && snapshot["policy"].contains("actions"))
      scenario.actions = list_of(snapshot["policy"], "actions");
  } else {  // a separate file next to this one
    const auto file = object.at("file").get<std::string>();
    scenario.name = file;
    scenario.line = first_line_of((std::filesystem::path(path).parent_path() / file).string());
  }
  const Json& expect = object.at("expect");
  if (expect.contains("gangs")) {
    for (const auto& [name, gang] : expect["gangs"].items()) scenario.gangs[name] = expected_gang(gang);
  }
  scenario.errors = list_of(expect, "errors");
  scenario.warnings = list_of(expect, "warnings");
  if (expect.contains("pods")) {
    scenario.pods = ExpectedPods{list_of(expect["pods"], "running"), list_of(expect["pods"], "evicted"),
                                 list_of(expect["pods"], "moved")};
  }
  if (scenario.gangs.empty() && scenario.errors.empty()) throw std::runtime_error("expects nothing");
  return scenario;
}

}  // namespace

std::vector<Scenario> read_scenarios(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::vector<Scenario> scenarios;
  std::string line;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    try {
      scenarios.push_back(scenario_of(Json::parse(line), path));
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  return scenarios;
}

}  // namespace muster::scenarios
