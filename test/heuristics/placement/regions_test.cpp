#include "heuristics/placement/regions.h"

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster::placement {
namespace {

constexpr const char* kCluster = R"(
 "topologies":[{"name":"net","levels":["block","rack"]},{"name":"power","levels":["zone"]}],
 "nodes":[{"name":"n0","labels":{"block":"1","rack":"a","zone":"x"}},{"name":"n1","labels":{"block":"1","rack":"a","zone":"y"}},
          {"name":"n2","labels":{"block":"1","rack":"b","zone":"y"}},{"name":"n3","labels":{"zone":"y"}}])";

class RegionsOfACluster : public testing::Test {
 protected:
  DomainIndex domain(const char* node, std::size_t level) const {
    return problem_->nodes[problem_.node(node)].domains[level];
  }
  std::vector<NodeIndex> nodes_of(DomainIndex region) const {
    const auto nodes = regions_.nodes_of(region);
    return {nodes.begin(), nodes.end()};
  }

  test::Case problem_{kCluster};
  Regions regions_{*problem_};
};

TEST_F(RegionsOfACluster, OfDomainsOfOneTopologyTheFinerOneIsCommonIfItLiesWithin) {
  EXPECT_EQ(regions_.common(domain("n0", 0), domain("n2", 1)), domain("n2", 1));
  EXPECT_EQ(regions_.common(domain("n2", 1), domain("n0", 0)), domain("n2", 1));
  EXPECT_EQ(regions_.common(domain("n0", 1), domain("n2", 1)), std::nullopt);
  EXPECT_EQ(regions_.common(DomainIndex::none(), domain("n2", 1)), domain("n2", 1));
}

TEST_F(RegionsOfACluster, DomainsThatCrossHaveTheNodesOfBothInCommon) {
  const auto region = regions_.common(domain("n0", 0), domain("n1", 2));
  ASSERT_TRUE(region);
  EXPECT_EQ(nodes_of(*region), (std::vector{problem_.node("n1"), problem_.node("n2")}));
  EXPECT_TRUE(regions_.holds(*region, problem_.node("n2")));
  EXPECT_FALSE(regions_.holds(*region, problem_.node("n3")));
  EXPECT_EQ(regions_.common(domain("n1", 2), domain("n0", 0)), region) << "the same region, not another one";
  EXPECT_EQ(regions_.common(*region, domain("n2", 1)), domain("n2", 1)) << "all of a domain is the domain";
  EXPECT_EQ(regions_.common(domain("n0", 2), domain("n2", 1)), std::nullopt);
}

}  // namespace
}  // namespace muster::placement
