#include "model/base/name_order.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(NameOrder, IsThatOfBytesWhateverTheNamesHaveInCommon) {
  std::mt19937 random(7);
  for (const std::string prefix : {"", "a", "namespace/job-", "eight by"}) {
    std::vector<std::string> names;
    for (int i = 0; i < 500; ++i) {
      std::string name = prefix;
      for (auto length = random() % 20; length > 0; --length)
        name += static_cast<char>("\x01-09az\xC3\xBF"[random() % 8]);
      names.push_back(name);
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    std::vector<std::uint32_t> expected(names.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<std::uint32_t>(i);
    std::ranges::stable_sort(expected, {}, [&](std::uint32_t at) { return views[at]; });
    EXPECT_EQ(order_of_names(views), expected) << prefix;
  }
}

TEST(NameOrder, PutsTheShorterOfTwoNamesFirst) {
  const std::vector<std::string_view> names{"ab", "a", std::string_view("a\0", 2), ""};
  EXPECT_EQ(order_of_names(names), (std::vector<std::uint32_t>{3, 1, 2, 0}));
  EXPECT_TRUE(order_of_names({}).empty());
}

}  // namespace
}  // namespace muster
