// Texts that are stepped through, and documents that are put together of their values.
#include "io/json/json_scanner.h"

#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "io/json/json_builder.h"
#include "io/json/json_writer.h"
#include "io/json/kept_json.h"
#include "io/kubernetes/object/object.h"
#include "model/base/process.h"

namespace muster::json {
namespace {

constexpr std::size_t kMostDepth = 8;

std::string text_of(JsonValue value, NumberCursor& numbers) {
  std::string text;
  JsonWriter writer(text);
  kubernetes::write_json(writer, numbers, value);
  return text;
}

// All elements of a list, each parsed and copied; "broken" where it ends early.
std::string elements_of(const JsonText& text) {
  JsonScanner scanner(text, kMostDepth);
  JsonBuilder builder;
  if (!scanner.take('[')) return "broken";
  builder.open(JsonKind::kArray);
  do {
    JsonValue value;
    if (!scanner.parse(1, value)) return "broken";
    builder.copy(value, scanner.numbers());
  } while (scanner.take(','));
  builder.close();
  if (!scanner.take(']') || !scanner.at_end()) return "broken";
  NumberCursor numbers;
  return text_of(builder.root(), numbers);
}

TEST(JsonScanner, ParsesValuesOneByOne) {
  const std::string list =
      R"([{"a":[1,-2,3.50,1e3,18446744073709551615],"b":{"c\u00e9":"d\n","e":""}},"x",7,-0.0,true,null,{},[],[[[]]]])";
  EXPECT_EQ(elements_of(list),
            "[{\"a\":[1,-2,3.50,1e3,18446744073709551615],\"b\":{\"c\u00e9\":\"d\\n\",\"e\":\"\"}},\"x\",7,-0.0,true,"
            "null,{},[],[[[]]]]");
}

TEST(JsonScanner, RefusesWhatIsNoJson) {
  for (const char* text : {"",      " ",        "[",    "[1",         "[1,",        "[1,]",         "[,1]",
                           "[1 2]", "[1}",      "[{]",  "[{\"a\":1]", "[{\"a\"}]",  "[{\"a\":}]",   "[\"a]",
                           "[tru]", "[01]",     "[1]]", "[\"\x01\"]", "[\"\xff\"]", "[{\"a\":[}]]", "[{\"a\":\"\\x\"}]",
                           "[:]",   "[\"a\\\"]"}) {
    EXPECT_EQ(elements_of(text), "broken") << text;
  }
}

TEST(JsonScanner, CountsTheDepthAroundAValue) {
  const std::string seven = "[[[[[[[[1]]]]]]]]", eight = "[[[[[[[[[1]]]]]]]]]", empty = "[[[[[[[[[]]]]]]]]]";
  EXPECT_EQ(elements_of(seven), seven);
  EXPECT_EQ(elements_of(eight), "broken");
  EXPECT_EQ(elements_of(empty), empty) << "what holds nothing does not count";
}

// Values that end with a piece, begin with one, or are longer; without line feeds, and where what looks like the end of
// an object is in a string; in memory, and in a file.
TEST(JsonScanner, PiecesEndBetweenAnyTwoTokens) {
  const std::string path = testing::TempDir() + "json_scanner_test.json";
  for (const std::size_t length : {std::size_t{1}, std::size_t{999}, std::size_t{400'000}, std::size_t{1'500'000}}) {
    for (const std::string& between : {std::string(",\n  "), std::string(",")}) {
      std::string text = "[", expected = "[";
      for (int i = 0; text.size() < 2'500'000 && i < 3'000; ++i) {
        const std::string value =
            "{\"a\":\"" + std::string(length, i % 2 == 0 ? 'x' : '}') + "\",\"b\":[" + std::to_string(i) + ".50]}";
        text += (i == 0 ? "" : between) + value;
        expected += (i == 0 ? "" : ",") + value;
      }
      text += between.substr(1) + "]" + between.substr(1);
      expected += "]";
      EXPECT_TRUE(elements_of(text) == expected) << length << between;
      std::ofstream(path) << text;
      const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
      EXPECT_TRUE(elements_of(JsonText(file.get(), text.size())) == expected) << length << between;
      EXPECT_EQ(elements_of(JsonText(file.get(), text.size() + 1'000'000)), "broken") << "it has become shorter";
    }
  }
}

TEST(JsonScanner, StepsOverMembers) {
  const std::string text = R"({"a":{"b":[1,2]},"c":5} {"d":6}7)";
  JsonScanner scanner(text, kMostDepth);
  std::string_view key;
  ASSERT_TRUE(scanner.take('{') && scanner.take_key(key));
  EXPECT_EQ(key, "a");
  const std::size_t place = scanner.place();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(scanner.skip(1) && scanner.take(',') && scanner.take_key(key));
    EXPECT_EQ(key, "c");
    EXPECT_EQ(scanner.peek(), '5');
    scanner.go_to(place);
  }
  ASSERT_TRUE(scanner.skip(1) && scanner.take(',') && scanner.take_key(key) && scanner.skip(1) && scanner.take('}'));
  EXPECT_FALSE(scanner.at_end());
  EXPECT_TRUE(scanner.skip(0) && scanner.skip(0) && scanner.at_end());
  EXPECT_FALSE(scanner.skip(0));
}

TEST(JsonScanner, ComesBackToAnEarlierPiece) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "{\"a\":\"" + std::string(10'000, 'x') + "\"}\n" + std::to_string(i) + "\n";
  JsonScanner scanner(text, kMostDepth);
  std::vector<std::size_t> places;
  while (!scanner.at_end()) {
    places.push_back(scanner.place());
    ASSERT_TRUE(scanner.skip(0));
  }
  ASSERT_EQ(places.size(), 400U);
  for (const std::size_t at : {3U, 399U, 398U, 200U, 201U, 0U}) {
    scanner.go_to(places[at]);
    JsonValue value;
    ASSERT_TRUE(scanner.parse(0, value));
    EXPECT_EQ(value.is(JsonKind::kObject), at % 2 == 0) << at;
    EXPECT_EQ(scanner.at_end(), at == 399U);
  }
}

TEST(JsonScanner, LeavesKeysWithEscapesToTheParser) {
  std::string_view key;
  for (const char* text : {R"({"a\u0062":1})", R"({"a\"":1})", R"({"\\":1})"}) {
    JsonScanner scanner(text, kMostDepth);
    EXPECT_TRUE(scanner.take('{')) << text;
    EXPECT_FALSE(scanner.take_key(key)) << text;
  }
}

TEST(JsonBuilder, LeavesOutMembersThatAreNull) {
  JsonDocument document;
  ASSERT_FALSE(document.parse(R"({"a":null,"b":[null,{"c":null}],"d":1.50})", JsonLimits()));
  JsonBuilder builder;
  NumberCursor numbers;
  builder.open(JsonKind::kObject);
  builder.key("x");
  builder.copy(document.root(), numbers);
  builder.close();
  EXPECT_EQ(text_of(builder.root(), numbers), R"({"x":{"b":[null,{}],"d":1.50}})");
  JsonValue inner = (*builder.root().members().begin()).value;
  EXPECT_EQ(inner.size(), 2U);
  for (const JsonMember member : inner.members()) {
    if (member.key == "d") {
      EXPECT_EQ(path_of(member.value), "$.x.d");
    }
  }
}

TEST(KeptJson, IsACopyOfWhatWasBuilt) {
  JsonBuilder builder;
  const auto build = [&](std::string_view text) {
    JsonDocument document;
    EXPECT_FALSE(document.parse(text, JsonLimits()));
    NumberCursor numbers;
    builder.clear();
    builder.copy(document.root(), numbers);
  };
  build(R"({"a":[1,2.50,"x"],"b":true})");
  const KeptJson kept(builder);
  EXPECT_TRUE(kept.is(builder));
  build(R"({ "a":[ 1,2.50,"x"],"b":true,"c":null})");
  EXPECT_TRUE(kept.is(builder)) << "equal documents are equal, however their texts are written";
  for (const char* other : {R"({"a":[1,2.5,"x"],"b":true})", R"({"a":[1,2.50,"y"],"b":true})",
                            R"({"a":[1,2.50,"x"],"b":false})", R"({"a":[1,2.50,"x"]})", "{}"}) {
    build(other);
    EXPECT_FALSE(kept.is(builder)) << other;
  }
  NumberCursor numbers;
  EXPECT_EQ(text_of(kept.root(), numbers), R"({"a":[1,2.50,"x"],"b":true})");
}

}  // namespace
}  // namespace muster::json
