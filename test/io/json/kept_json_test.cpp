// A kept document says what the parsed one said, when that holds another text.
#include "io/json/kept_json.h"

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace muster::json {
namespace {

constexpr JsonLimits kLimits = {std::size_t{1} << 20, 16};

TEST(KeptJson, OutlivesTheNextParse) {
  const std::string text =
      R"({"a":[1,-2,3.50,1e3,18446744073709551615],"b":{"c\u00e9":"d\n","e":""},"f":[true,null,{}]})";
  JsonDocument document;
  ASSERT_FALSE(document.parse(text, kLimits));
  KeptJson first(document);
  const JsonValue root = first.root();
  ASSERT_FALSE(document.parse(R"(["something else",7])", kLimits));
  const KeptJson kept = std::move(first);

  std::string numbers, strings;
  NumberCursor cursor;
  for (const JsonMember member : root.members()) {
    if (member.key == "a")
      for (const JsonValue number : member.value.elements()) numbers.append(number_text(number, cursor)).append(" ");
    if (member.key == "b")
      for (const JsonMember inner : member.value.members())
        strings.append(inner.key).append("=").append(inner.value.string()).append(";");
    if (member.key == "f") {
      const JsonValue last = (*member.value.elements().begin()).next().next();
      EXPECT_EQ(path_of(last), "$.f[2]");
    }
  }
  EXPECT_EQ(numbers, "1 -2 3.50 1e3 18446744073709551615 ");
  EXPECT_EQ(strings, "c\u00e9=d\n;e=;");
}

TEST(KeptJson, ATextWithoutAPlaceIsNoDocument) {
  JsonDocument document;
  EXPECT_TRUE(document.parse(std::string_view(), kLimits));
}

TEST(KeptJson, IsAsLargeAsItsText) {
  JsonDocument document;
  ASSERT_FALSE(document.parse(std::string(100'000, ' ') + "0", kLimits));
  ASSERT_FALSE(document.parse(R"({"name":"pod-1","cpu":2})", kLimits));
  EXPECT_LT(KeptJson(document).bytes(), 400U);
}

}  // namespace
}  // namespace muster::json
