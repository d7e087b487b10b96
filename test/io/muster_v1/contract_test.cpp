// The readers, the JSON Schemas and docs/format.md name the same keys.
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/muster_v1/snapshot_input.h"
#include "test/support/paths.h"

namespace muster::muster_v1 {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream stream(test::source_folder() + "/docs/" + path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::set<std::string> as_set(const std::vector<std::string>& keys) { return {keys.begin(), keys.end()}; }

std::set<std::string> keys_of(const nlohmann::json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

void expect_same_keys(const std::vector<json::KnownObject>& objects, const std::string& schema_path) {
  const nlohmann::json schema = nlohmann::json::parse(content_of(schema_path));
  const nlohmann::json& definitions = schema.at("$defs");
  std::set<std::string> names;
  for (const json::KnownObject& object : objects) {
    EXPECT_TRUE(names.insert(object.name).second) << object.name << " is listed twice";
    ASSERT_TRUE(definitions.contains(object.name)) << object.name;
    const nlohmann::json& definition = definitions[object.name];
    EXPECT_EQ(keys_of(definition.at("properties")), as_set(object.keys)) << object.name;
    EXPECT_EQ(definition.value("required", std::vector<std::string>()).size(), object.required.size()) << object.name;
    EXPECT_EQ(as_set(definition.value("required", std::vector<std::string>())), as_set(object.required)) << object.name;
    EXPECT_EQ(definition.at("additionalProperties"), false) << object.name;
  }
  for (const auto& [name, definition] : definitions.items()) {
    EXPECT_EQ(definition.contains("properties"), names.contains(name)) << name;
  }
}

TEST(Contract, SnapshotReaderAndSchemaKnowTheSameKeys) {
  expect_same_keys(known_snapshot_objects(), "muster-v1-snapshot.schema.json");
}

TEST(Contract, PlanReaderAndSchemaKnowTheSameKeys) {
  expect_same_keys(known_plan_objects(), "muster-v1-plan.schema.json");
}

// A key stands in the text as `key` or as "key".
void expect_documented(const std::vector<json::KnownObject>& objects, const std::string& text) {
  for (const json::KnownObject& object : objects) {
    for (const std::string& key : object.keys) {
      const bool is_named =
          text.find("`" + key + "`") != std::string::npos || text.find("\"" + key + "\"") != std::string::npos;
      EXPECT_TRUE(is_named) << object.name << "." << key << " is not in docs/format.md";
    }
  }
}

TEST(Contract, EveryKeyIsDocumented) {
  const std::string text = content_of("format.md");
  const std::size_t plan = text.find("\n## Plan");
  ASSERT_NE(plan, std::string::npos);
  const std::size_t decisions = text.find("\n## Decisions");
  ASSERT_NE(decisions, std::string::npos);
  expect_documented(known_snapshot_objects(), text.substr(0, plan) + text.substr(decisions));
  expect_documented(known_plan_objects(), text.substr(plan, decisions - plan));
}

// The first cells of the rows of the tables of one section: the keys in the contract.
std::set<std::string> documented_keys(const std::string& section) {
  std::set<std::string> keys;
  std::istringstream lines(section);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find('|', 1));
    for (std::size_t at = cell.find('`'); at != std::string::npos;) {
      const std::size_t end = cell.find('`', at + 1);
      keys.insert(cell.substr(at + 1, end - at - 1));
      at = cell.find('`', end + 1);
    }
  }
  return keys;
}

std::string section_of(const std::string& text, const std::string& heading) {
  const std::size_t begin = text.find("\n**" + heading);
  const std::size_t end = text.find("\n**", begin + 1);
  return begin == std::string::npos ? "" : text.substr(begin, end == std::string::npos ? end : end - begin);
}

TEST(Contract, EveryDocumentedKeyIsRead) {
  const std::string text = content_of("format.md");
  const std::vector<json::KnownObject> objects = known_snapshot_objects();
  const std::vector<std::pair<std::string, std::string>> sections = {
      {"nodes[]", "node"}, {"queues[]", "queue"}, {"gangs[]", "gang"}, {"pods[]", "pod"}, {"policy", "policy"}};
  for (const auto& [heading, name] : sections) {
    const std::set<std::string> documented = documented_keys(section_of(text, heading));
    EXPECT_GE(documented.size(), 6U) << heading;
    const auto object = std::ranges::find(objects, name, &json::KnownObject::name);
    ASSERT_NE(object, objects.end());
    const std::set<std::string> known = as_set(object->keys);
    for (const std::string& key : documented)
      EXPECT_TRUE(known.contains(key)) << name << "." << key << " is documented and not read";
  }
}

}  // namespace
}  // namespace muster::muster_v1
