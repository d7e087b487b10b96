// The text of numbers, whatever the order in which it is asked for.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/json/json_document.h"

namespace muster::json {
namespace {

struct Numbers {
  explicit Numbers(int count) {
    std::string text = "[";
    for (int i = 0; i < count; ++i) {
      texts.push_back(std::to_string(i) + (i % 3 == 0 ? "" : i % 3 == 1 ? ".250" : "e-2"));
      if (i > 0) text += ",";
      if (i % 5 == 0) text += R"({"a,b":[":",true,{}],"n":)";
      text += texts.back();
      if (i % 5 == 0) text += "}";
    }
    EXPECT_FALSE(document.parse(text + "]", {std::size_t{1} << 30, 8}));
    for (const JsonValue element : document.root().elements()) {
      JsonValue number = element;
      if (element.is(JsonKind::kObject)) {
        for (const JsonMember member : element.members()) number = member.value;
      }
      values.push_back(number);
    }
  }

  JsonDocument document;
  std::vector<std::string> texts;
  std::vector<JsonValue> values;
};

TEST(NumberText, IsFoundInAnyOrder) {
  constexpr std::size_t kCount = 20'000;
  Numbers numbers(kCount);
  const auto expect = [&](std::size_t i) {
    ASSERT_EQ(numbers.document.number_text(numbers.values[i]), numbers.texts[i]);
  };
  std::mt19937_64 random(7);
  for (int i = 0; i < 2'000; ++i) expect(random() % kCount);
  for (std::size_t i = 0; i < kCount; ++i) expect(i);
  for (std::size_t i = kCount; i-- > 0;) expect(i);
  // Like a reader that visits a pod's numbers in its own order.
  Numbers again(kCount);
  for (std::size_t i = 0; i + 3 < kCount; i += 4) {
    for (const std::size_t at : {i + 3, i, i + 2, i + 1})
      ASSERT_EQ(again.document.number_text(again.values[at]), again.texts[at]);
  }
}

TEST(NumberText, HasACursorForEachOfSeveralReaders) {
  Numbers numbers(3'000);
  NumberCursor one, other;
  for (std::size_t i = 0; i < 1'500; ++i) {
    ASSERT_EQ(number_text(numbers.values[i], one), numbers.texts[i]);
    ASSERT_EQ(number_text(numbers.values[2'999 - i], other), numbers.texts[2'999 - i]);
  }
}

TEST(NumberText, IsFoundInSeveralDocumentsByOneReader) {
  Numbers one(1'000), other(2'000);
  NumberCursor cursor;
  for (std::size_t i = 0; i < 1'000; i += 97) {
    ASSERT_EQ(number_text(one.values[i], cursor), one.texts[i]);
    ASSERT_EQ(number_text(other.values[1'999 - i], cursor), other.texts[1'999 - i]);
  }
}

TEST(NumberText, BeginsAnewWithTheNextText) {
  JsonDocument document;
  ASSERT_FALSE(document.parse("[1.50,[2.50,3.50]]", {100, 8}));
  for (const JsonValue element : document.root().elements()) {
    if (!element.is(JsonKind::kArray)) continue;
    for (const JsonValue number : element.elements()) EXPECT_EQ(document.number_text(number).substr(1), ".50");
  }
  ASSERT_FALSE(document.parse(R"({"a":7.25})", {100, 8}));
  for (const JsonMember member : document.root().members()) EXPECT_EQ(document.number_text(member.value), "7.25");
}

}  // namespace
}  // namespace muster::json
