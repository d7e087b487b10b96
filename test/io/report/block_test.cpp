// The building blocks of a report's data: names come back as they were, and nothing ends the element that holds them.
#include "io/report/block.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::reporting {
namespace {

using Json = nlohmann::json;

std::u16string utf16(const std::string& text) {
  std::u16string units;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    char32_t point = length == 1 ? byte : byte & (0x7FU >> length);
    for (std::size_t k = 1; k < length; ++k) point = point << 6U | (static_cast<unsigned char>(text[i + k]) & 0x3FU);
    if (point >= 0x10000) {
      units += static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10U));
      units += static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FFU));
    } else {
      units += static_cast<char16_t>(point);
    }
    i += length;
  }
  return units;
}

// As the page's script puts them together.
std::vector<std::u16string> unpacked(const Json& names) {
  std::vector<std::u16string> all;
  std::u16string before;
  for (std::size_t i = 0; i < names["rest"].size(); ++i) {
    before = before.substr(0, names["shared"][i].get<std::size_t>()) + utf16(names["rest"][i].get<std::string>());
    all.push_back(before);
  }
  return all;
}

TEST(ReportBlock, NamesComeBackAsTheyWere) {
  const std::vector<std::string> names = {"",
                                          "team/job-1",
                                          "team/job-10",
                                          "team/job-2",
                                          "t\"\\\n</script>",
                                          "t\"\\\n</script>x",
                                          "gr\xC3\xB6\xC3\x9F"
                                          "e",
                                          "gr\xC3\xB6\xC3\xA4",
                                          "\xF0\x9F\x98\x80"
                                          "a",
                                          "\xF0\x9F\x98\x80"
                                          "b",
                                          "\xF0\x9F\x98\x81",
                                          std::string(700, 'x'),
                                          std::string(700, 'x') + 'y'};
  std::string text;
  json::JsonWriter json(text);
  write_names(json, {names.begin(), names.end()});
  const std::vector<std::u16string> read = unpacked(Json::parse(text));
  ASSERT_EQ(read.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(read[i], utf16(names[i])) << i;
}

TEST(ReportBlock, NamesAreShorterByWhatTheyShare) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("namespace/a-rather-long-name-of-a-job-" + std::to_string(i));
  std::string text;
  json::JsonWriter json(text);
  write_names(json, {names.begin(), names.end()});
  EXPECT_LT(text.size(), 10'000U);
}

TEST(ReportBlock, TextsAreKeptOnce) {
  TextTable table;
  EXPECT_EQ(table.number(""), 0U);
  EXPECT_EQ(table.number("a"), 1U);
  EXPECT_EQ(table.number("b"), 2U);
  EXPECT_EQ(table.number("a"), 1U);
  std::string text;
  json::JsonWriter json(text);
  table.write(json);
  EXPECT_EQ(text, R"(["","a","b"])");
}

TEST(ReportBlock, NothingThatCouldEndAScriptIsLeft) {
  const Json hostile = {"</script><script>alert(1)</script>", "<!--", "a&amp;b", "\xE2\x80\xA8 and \xE2\x80\xA9",
                        "]]>"};
  const std::string safe = script_safe(hostile.dump());
  for (const char* forbidden : {"<", ">", "&", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    EXPECT_EQ(safe.find(forbidden), std::string::npos) << forbidden;
  }
  EXPECT_EQ(Json::parse(safe), hostile);
}

TEST(ReportPage, HoldsItsDataOnceAndAsksForNothing) {
  const std::string page = report_page(R"({"title":"</script>"})");
  EXPECT_NE(page.find(R"(<script type="application/json" id="report-data">{"title":"\u003c/script\u003e"}</script>)"),
            std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* request : {" src=", "<link", "@import", "url(http", "fetch(", "XMLHttpRequest", "WebSocket"}) {
    EXPECT_EQ(page.find(request), std::string::npos) << request;
  }
}

}  // namespace
}  // namespace muster::reporting
