#include "model/base/error_code.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

std::vector<std::string_view> all_texts() {
  std::vector<std::string_view> texts;
  for (std::size_t code = 0; code < kErrorCodes; ++code) texts.push_back(error_code_text(static_cast<ErrorCode>(code)));
  return texts;
}

TEST(ErrorCode, HasATextOfItsOwn) {
  const std::vector<std::string_view> texts = all_texts();
  EXPECT_EQ(std::set<std::string_view>(texts.begin(), texts.end()).size(), kErrorCodes);
  EXPECT_EQ(std::ranges::count(texts, ""), 1);
  EXPECT_EQ(error_code_text(ErrorCode::kNone), "");
}

TEST(ErrorCode, ComparesAsItsText) { EXPECT_TRUE(std::ranges::is_sorted(all_texts())); }

TEST(ErrorCode, IsFoundByItsText) {
  for (std::size_t code = 0; code < kErrorCodes; ++code)
    EXPECT_EQ(find_error_code(error_code_text(static_cast<ErrorCode>(code))), static_cast<ErrorCode>(code)) << code;
  EXPECT_FALSE(find_error_code("Invalid"));
  EXPECT_FALSE(find_error_code("invalidJson"));
}

// Programs compare these: docs/format.md, docs/serve.md, docs/export.md.
TEST(ErrorCode, KeepsTheDocumentedTexts) {
  for (const std::string_view text :
       {"InvalidUtf8", "InvalidJson", "TooLarge", "TooDeep", "DuplicateKey", "UnknownKey", "WrongType", "InvalidValue",
        "MissingKey", "UnsupportedFormat", "UnknownName", "DuplicateName", "Exceeded", "Unclear", "Remark",
        "InvalidPlan", "OtherSnapshot", "NoPlan"})
    EXPECT_TRUE(find_error_code(text)) << text;
}

}  // namespace
}  // namespace muster
