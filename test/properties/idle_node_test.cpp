// One node more, idle, never makes the best plan worse.
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/objective/evaluation.h"
#include "solver/portfolio/portfolio.h"
#include "test/brute_force/policy_search.h"
#include "test/properties/crowded.h"
#include "test/properties/cycles.h"
#include "test/properties/instances.h"
#include "test/support/paths.h"

namespace muster::properties {
namespace {

// The levels that a node more may not make worse: those up to `moved` for any node. What comes after looks at where
// pods are, and an idle node is itself something that the last level counts.
std::vector<std::int64_t> leading(const Case& cluster, const Levels& levels) {
  const std::vector<LevelId> ids = level_ids(cluster.problem());
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < ids.size() && ids[i].kind <= LevelKind::kMoved; ++i)
    values.push_back(is_maximised(ids[i].kind) ? levels.values[i] : -levels.values[i]);
  return values;
}

// The snapshot with one node more, equal to its first.
Json with_another_node(Json line) {
  Json node = line["nodes"][0];
  node["name"] = "idle";
  line["nodes"].push_back(std::move(node));
  return line;
}

// Placing alone, as what may be evicted depends on shares, which grow with the cluster: see the test below.
TEST(IdleNode, NeverWorsensAPlanThatIsProvenBest) {
  portfolio::Portfolio portfolio(test::program());
  int compared = 0;
  const std::uint32_t count = instances(200);
  for (std::uint32_t seed = 1; seed <= count; ++seed) {
    Json line = CrowdedCluster(seed).snapshot();
    line["policy"]["actions"] = {"place"};
    const auto before = Case::if_valid(line.dump()), after = Case::if_valid(with_another_node(line).dump());
    ASSERT_TRUE(before && after) << line;
    portfolio::SolveOptions options;
    options.deterministic = true;
    const portfolio::Solution small = portfolio.solve(before->snapshot(), before->problem(), options);
    const portfolio::Solution large = portfolio.solve(after->snapshot(), after->problem(), options);
    if (!is_proven_up_to(LevelKind::kMoved, small) || !is_proven_up_to(LevelKind::kMoved, large)) continue;
    ++compared;
    EXPECT_GE(leading(*after, evaluate(after->problem(), after->shares(), large.plan)),
              leading(*before, evaluate(before->problem(), before->shares(), small.plan)))
        << line;
  }
  EXPECT_GE(compared, static_cast<int>(count * 9 / 10));
}

}  // namespace
}  // namespace muster::properties
