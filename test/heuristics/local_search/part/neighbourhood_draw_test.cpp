#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include "heuristics/local_search/neighbourhood.h"
#include "test/heuristics/local_search/part/operators_case.h"
#include "test/support/unmet.h"

namespace muster::local_search {
namespace {

// A gang lies on `a` and `c`; `full` has no idle device, and `other` is cordoned.
class NeighbourhoodDrawTest : public testing::Test {
 protected:
  std::set<NodeIndex> nodes() const {
    std::set<NodeIndex> found;
    for (std::size_t at = 0; at < case_.neighbourhood.size(); ++at) found.insert(case_.neighbourhood.node(at).node);
    return found;
  }

  SearchCase search_{
      R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"full","gpus":{"count":1}},{"name":"c","gpus":{"count":2}},
      {"name":"other","gpus":{"count":2},"unschedulable":true}],
      "gangs":[{"name":"g"},{"name":"w"}],
      "pods":[{"name":"g0","gang":"g","gpu":{"count":1}},{"name":"g1","gang":"g","gpu":{"count":1}},
              {"name":"f","gpu":{"count":1}},
              {"name":"w0","gang":"w","gpu":{"count":1}},{"name":"w1","gang":"w","gpu":{"count":1}}])",
      {{"g0", "a", {0}}, {"g1", "c", {0}}, {"f", "full", {0}}}};
  OperatorsCase case_{search_, search_.part({}, {"w"})};
};

TEST_F(NeighbourhoodDrawTest, DrawsOneToFourNodes) {
  for (int i = 0; i < 50; ++i) {
    case_.neighbourhood.clear();
    case_.neighbourhood.draw();
    EXPECT_GE(case_.neighbourhood.size(), 1U);
    EXPECT_LE(case_.neighbourhood.size(), 4U);
  }
}

TEST_F(NeighbourhoodDrawTest, DrawsAllNodesOfAGangThatIsToLeave) {
  case_.neighbourhood.draw_of(search_.gang("g"), case_.gangs);
  EXPECT_TRUE(nodes().contains(search_.node("a")));
  EXPECT_TRUE(nodes().contains(search_.node("c")));
}

TEST_F(NeighbourhoodDrawTest, DrawsForAWaitingGangOnlyNodesThatPassItsFilters) {
  for (int i = 0; i < 50; ++i) {
    case_.neighbourhood.clear();
    case_.neighbourhood.draw_for(search_.gang("w"));
    EXPECT_FALSE(nodes().contains(search_.node("other")));
  }
}

TEST_F(NeighbourhoodDrawTest, RequiresANode) {
  const PartNodes none(search_.scope, search_.state, {});
  expect_unmet([&] { Neighbourhood(search_.scope, none, case_.random); }, "");
}

}  // namespace
}  // namespace muster::local_search
