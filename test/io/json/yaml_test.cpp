// YAML -> JSON: what manifests mean, and what is refused, with its place.
#include "io/json/yaml.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/support/paths.h"

namespace muster::json {
namespace {

using Json = nlohmann::json;

Json value_of(const std::string& scalar) {
  const auto json = yaml_to_json("v: " + scalar + "\n");
  EXPECT_TRUE(json) << scalar << ": " << json.error().message;
  return json ? Json::parse(*json)["v"] : Json();
}

InputError yaml_error(const std::string& text) {
  const auto json = yaml_to_json(text);
  EXPECT_FALSE(json) << text << " became " << *json;
  return json ? InputError{} : json.error();
}

TEST(Yaml, ScalarsAreWhatKubernetesTakesThemFor) {
  const std::vector<std::pair<const char*, const char*>> cases = {{"4", "4"},
                                                                  {"-4", "-4"},
                                                                  {"+4", "4"},
                                                                  {"1_000", "1000"},
                                                                  {"0x1F", "31"},
                                                                  {"0o17", "15"},
                                                                  {"017", "15"},
                                                                  {"0b101", "5"},
                                                                  {"0", "0"},
                                                                  {"1.5", "1.5"},
                                                                  {".5", "0.5"},
                                                                  {"1.", "1"},
                                                                  {"+1e3", "1e3"},
                                                                  {"1E-2", "1E-2"},
                                                                  {"08", "8"},
                                                                  {"true", "true"},
                                                                  {"False", "false"},
                                                                  {"yes", "true"},
                                                                  {"Off", "false"},
                                                                  {"~", "null"},
                                                                  {"null", "null"},
                                                                  {"", "null"},
                                                                  {"16Gi", "\"16Gi\""},
                                                                  {"500m", "\"500m\""},
                                                                  {"1.2.3", "\"1.2.3\""},
                                                                  {"0x", "\"0x\""},
                                                                  {"1e", "\"1e\""},
                                                                  {"_", "\"_\""},
                                                                  {"2026-03-01T10:00:00Z", "\"2026-03-01T10:00:00Z\""},
                                                                  {"\"4\"", "\"4\""},
                                                                  {"'true'", "\"true\""},
                                                                  {"\"\"", "\"\""},
                                                                  {"!!str 4", "\"4\""},
                                                                  {"!!int \"4\"", "4"},
                                                                  {"'it''s'", "\"it's\""},
                                                                  {"\"tab\\t\\u00e9\"", "\"tab\\t\\u00e9\""},
                                                                  {"yEs", "\"yEs\""}};
  for (const auto& [scalar, json] : cases) EXPECT_EQ(value_of(scalar), Json::parse(json)) << scalar;
  EXPECT_EQ(value_of("|\n  two\n  lines\n"), Json("two\nlines\n"));
  EXPECT_EQ(value_of(">-\n  folded\n  lines\n"), Json("folded lines"));
}

TEST(Yaml, EachDocumentIsALine) {
  const auto json = yaml_to_json("# first\na: 1\n---\n---\nb: [1, {c: d}]\n...\n---\n- x\n");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(*json, "{\"a\":1}\n{\"b\":[1,{\"c\":\"d\"}]}\n[\"x\"]\n");
  EXPECT_EQ(*yaml_to_json(""), "");
  EXPECT_EQ(*yaml_to_json("# nothing\n"), "");
}

TEST(Yaml, AliasesStandForWhatTheyName) {
  const auto json = yaml_to_json("a: &x {b: 1, c: [2]}\nd: *x\ne: {<<: *x, b: 3}\nf: {<<: [{g: 4}, *x]}\n");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(Json::parse(*json),
            Json::parse(R"({"a":{"b":1,"c":[2]},"d":{"b":1,"c":[2]},"e":{"b":3,"c":[2]},"f":{"g":4,"b":1,"c":[2]}})"));
}

TEST(Yaml, ErrorsHaveAPlace) {
  const std::vector<std::tuple<const char*, const char*, const char*>> cases = {
      {"a: 1\nb: 2\na: 3\n", "InvalidYaml", "3:1"},
      {"a: {b: 1, \"b\": 2}\n", "InvalidYaml", "1:11"},
      {"a: [1\n", "InvalidYaml", "2:1"},
      {"a: *x\n", "InvalidYaml", "1:4"},
      {"a: &x [*x]\n", "InvalidYaml", "1:8"},
      {"a: !own 1\n", "InvalidYaml", "1:4"},
      {"a: .inf\n", "InvalidYaml", "1:4"},
      {"a: -.INF\n", "InvalidYaml", "1:4"},
      {"a: .nan\n", "InvalidYaml", "1:4"},
      {"? [1]\n: 2\n", "InvalidYaml", "1:3"},
      {"a: {<<: 1}\n", "InvalidYaml", "1:9"},
      {"a: 1\n  b: 2\n", "InvalidYaml", "2:4"},
      {"\"a\",\"b\": 1\n", "InvalidYaml", "1:4"},
      {"[1]]\n", "InvalidYaml", "1:4"},
      {"a: \"\xff\"\n", "InvalidUtf8", "1:1"}};
  for (const auto& [text, code, path] : cases) {
    const InputError error = yaml_error(text);
    EXPECT_EQ(error_code_text(error.code), code) << text << error.message;
    EXPECT_EQ(error.path, path) << text << error.message;
    EXPECT_NE(error.message, "");
  }
}

// The parser ends at U+0004, takes a NUL for an escape or another encoding, and makes single bytes of two escapes.
TEST(Yaml, WhatTheParserReadsAsSomethingElseIsRefused) {
  const std::string nul(1, '\0');
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"a: 1\nb: \x04\nc: 3\n", "2:4"}, {"a: x" + nul + "Ny\n", "1:5"},
      {"a" + nul + ":" + nul, "1:2"},   {"ä: \x7F\n", "1:4"},
      {"a: \"x\\N\"\n", "1:4"},         {"\"\\_\": 1\n", "1:1"}};
  for (const auto& [text, path] : cases) {
    const InputError error = yaml_error(text);
    EXPECT_EQ(error.code, ErrorCode::kInvalidYaml) << text;
    EXPECT_EQ(error.path, path) << text << error.message;
  }
  EXPECT_EQ(value_of(R"("\x85\xA0\t")"), "\xC2\x85\xC2\xA0\t");
}

TEST(Yaml, NestingAndAliasesHaveLimits) {
  for (const std::size_t depth : {101U, 1000U, 100'000U})
    EXPECT_NE(error_code_text(yaml_error("a: " + std::string(depth, '[')).code), "");
  std::string bomb = "a0: &a0 [xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx]\n", chain = "a0: &a0 {k: 1}\n",
              merges = "a0: &a0 {k: 1}\n", empty = "a0: &a0 {}\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "*a" + std::to_string(i - 1), here = "a" + std::to_string(i);
    bomb += here + ": &" + here + " [" + before;
    for (int times = 0; times < 9; ++times) bomb += ", " + before;
    bomb += "]\n";
    const std::string merge = here + ": &" + here + " {<<: [" + before + ", " + before + "]}\n";
    merges += merge;
    empty += merge;
  }
  for (int i = 1; i < 300; ++i)
    chain += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  EXPECT_EQ(error_code_text(yaml_error(bomb).code), "TooLarge");
  EXPECT_EQ(error_code_text(yaml_error(chain).code), "TooDeep");
  EXPECT_NE(error_code_text(yaml_error(merges).code), "");
  EXPECT_EQ(error_code_text(yaml_error(empty).code), "TooLarge");
}

// The conversion keeps what another writer of YAML has made of JSON.
std::string as_yaml(const Json& json, std::size_t indent) {
  const std::string margin(indent, ' ');
  std::string out;
  if (json.is_object() && !json.empty()) {
    for (const auto& [key, value] : json.items())
      out += "\n" + margin + Json(key).dump() + ": " + as_yaml(value, indent + 2);
  } else if (json.is_array() && !json.empty()) {
    for (const Json& value : json) out += "\n" + margin + "- " + as_yaml(value, indent + 2);
  } else {
    out = json.dump();
  }
  return out;
}

TEST(Yaml, ScenariosAreTheSameInYaml) {
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/test/scenarios/kubernetes")) {
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    const Json json = Json::parse(text.str());
    const auto back = yaml_to_json("---" + as_yaml(json, 0) + "\n");
    ASSERT_TRUE(back) << entry.path() << back.error().path << back.error().message;
    EXPECT_EQ(Json::parse(*back), json) << entry.path();
  }
}

}  // namespace
}  // namespace muster::json
