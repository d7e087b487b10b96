#include <set>
#include <string>

#include <gtest/gtest.h>

#include "model/explain/blockers.h"

namespace muster::explain {
namespace {

TEST(FilterText, NamesEachCodeDifferently) {
  std::set<std::string> texts;
  for (std::size_t code = 0; code < kFilterCodes; ++code) {
    const Filter filter{static_cast<FilterCode>(code)};
    texts.insert(filter_text(filter));
    EXPECT_EQ(find_filter(filter_text(filter)), filter) << filter_text(filter);
  }
  EXPECT_EQ(texts.size(), kFilterCodes);
  EXPECT_FALSE(texts.contains(""));
}

TEST(FilterText, NamesTheResourceThatIsShort) {
  const Filter filter{FilterCode::kInsufficient, "rdma/hca"};
  EXPECT_EQ(filter_text(filter), "Insufficientrdma/hca");
  EXPECT_EQ(find_filter("Insufficientrdma/hca"), filter);
}

TEST(FilterText, OfAnotherVersionIsNotFound) {
  EXPECT_FALSE(find_filter(""));
  EXPECT_FALSE(find_filter("nodeSelector"));
  EXPECT_FALSE(find_filter("Insufficientcpu")) << "which is written InsufficientCpu";
}

}  // namespace
}  // namespace muster::explain
