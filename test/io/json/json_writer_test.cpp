// JSON as text: escapes and exact numbers.
#include "io/json/json_writer.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/support/unmet.h"

namespace muster::json {
namespace {

std::string written(std::string_view text) {
  std::string out;
  JsonWriter(out).string(text);
  return out;
}

TEST(JsonWriter, EscapesEveryCharacterSoThatItReadsBack) {
  for (int c = 0; c < 128; ++c) {
    const std::string text = std::string("a") + static_cast<char>(c) + "b";
    EXPECT_EQ(nlohmann::json::parse(written(text)).get<std::string>(), text) << c;
  }
  EXPECT_EQ(written("\"\\\n\t\r\x01"), R"("\"\\\n\t\r\u0001")");
  EXPECT_EQ(written("zürich/日本"), "\"zürich/日本\"");
}

std::string decimal(std::int64_t value, std::int64_t scale) {
  std::string out;
  JsonWriter(out).decimal(value, scale);
  return out;
}

TEST(JsonWriter, FindsWhatToEscapeWhereverItStands) {
  const std::string plain = "0123456789 \x7F\xC3\xBF abcdefghijklmnop";
  EXPECT_EQ(written(plain), "\"" + plain + "\"");
  for (std::size_t at = 0; at < plain.size(); ++at) {
    if (static_cast<unsigned char>(plain[at]) >= 0x80) continue;  // half a character is no text
    for (const auto& [character, escape] :
         {std::pair{'"', "\\\""}, {'\\', "\\\\"}, {'\x1F', "\\u001f"}, {'\0', "\\u0000"}}) {
      std::string text = plain, expected = plain;
      text[at] = character;
      expected.replace(at, 1, escape);
      EXPECT_EQ(written(text), "\"" + expected + "\"") << at;
    }
  }
}

TEST(JsonWriter, WritesDecimalsExactlyAndWithoutExponent) {
  EXPECT_EQ(decimal(0, 1), "0");
  EXPECT_EQ(decimal(8000, 1), "8000");
  EXPECT_EQ(decimal(143'000, 1'000'000), "0.143");
  EXPECT_EQ(decimal(1, 1'000'000), "0.000001");
  EXPECT_EQ(decimal(-1, 100), "-0.01");
  EXPECT_EQ(decimal(-250, 100), "-2.5");
  EXPECT_EQ(decimal(2'000'000, 1'000'000), "2");
  EXPECT_EQ(decimal(std::numeric_limits<std::int64_t>::max(), 1'000), "9223372036854775.807");
  EXPECT_EQ(decimal(std::numeric_limits<std::int64_t>::min(), 1'000'000), "-9223372036854.775808");
}

TEST(JsonWriter, WritesDoublesThatReadBackAsTheSame) {
  for (const double value : {0.0, 0.1, 1.0 / 3, 1e300, 5e-324, 123456.75}) {
    std::string out;
    JsonWriter(out).number(value);
    EXPECT_EQ(nlohmann::json::parse(out).get<double>(), value) << out;
  }
}

TEST(JsonWriter, WritesValidJsonForWhatIsNotFinite) {
  for (const double value : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    std::string out;
    JsonWriter(out).number(value);
    EXPECT_TRUE(nlohmann::json::accept(out)) << out;
  }
}

TEST(JsonWriter, WritesCommasAndBracketsByItself) {
  std::string out;
  JsonWriter json(out);
  json.object().member("text", "a\"").member("whole", 7).member("is", true).member("part", Exact{-25, 10});
  json.key("list").array().value("x").value(1.5).array().end().object().member("in", "it").end();
  json.item().raw("null").end().any_key("any \n").object().end().end();
  EXPECT_EQ(out, R"({"text":"a\"","whole":7,"is":true,"part":-2.5,)"
                 R"("list":["x",1.5,[],{"in":"it"},null],"any \n":{}})");
}

TEST(JsonWriter, ContinuesATextThatAnotherWriterHasBegun) {
  std::string out = "{}\n";
  JsonWriter first(out), second(out);
  first.object().key("list").array().value(1);
  second.value(2).value(3);
  first.end();
  second.member("more", "[");
  second.member("last", ":").key("end").object().end();
  first.end();
  EXPECT_EQ(out,
            "{}\n"
            R"({"list":[1,2,3],"more":"[","last":":","end":{}})");
}

TEST(JsonWriter, RefusesAnEndWithoutABeginning) {
  std::string out;
  JsonWriter json(out);
  json.array().end();
  expect_unmet([&] { json.end(); }, "depth_ > 0");
}

}  // namespace
}  // namespace muster::json
