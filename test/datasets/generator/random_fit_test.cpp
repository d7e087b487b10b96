#include "datasets/generator/random_fit.h"

#include <vector>

#include <gtest/gtest.h>

namespace muster::generator {
namespace {

TEST(RandomFit, FindsNoPlaceWhereThereIsNoNode) {
  // As in a rack without nodes, of which there are some if there are more racks than nodes.
  const std::vector<InstanceNode> nodes(2);
  IdleCapacity room(nodes);
  Random random(1);
  EXPECT_FALSE(random_fit(room, PodShape{}, 1, {1, 1}, random));
  EXPECT_FALSE(random_fit(room, PodShape{}, 1, {2, 2}, random));
}

}  // namespace
}  // namespace muster::generator
