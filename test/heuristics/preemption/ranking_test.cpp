#include <vector>

#include <gtest/gtest.h>

#include "heuristics/preemption/candidate_index.h"
#include "test/heuristics/preemption/candidates.h"

namespace muster::preemption {
namespace {

constexpr const char* kBody = R"(
 "nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}},
          {"name":"c","gpus":{"count":2},"unschedulable":true}],
 "pods":[{"name":"high","node":"a","gpus":[0],"gpu":{"count":1},"priority":5},
         {"name":"low-a","node":"a","gpus":[1],"gpu":{"count":1},"priority":1},
         {"name":"low-b","node":"b","gpus":[0],"gpu":{"count":1},"priority":1},
         {"name":"low-c","node":"b","gpus":[1],"gpu":{"count":1},"priority":1},
         {"name":"new","gpu":{"count":2},"priority":9}])";

std::vector<NodeIndex> in_order(PromisingNodes promising) {
  std::vector<NodeIndex> nodes;
  for (NodeIndex node = promising.next(); !node.is_none(); node = promising.next()) nodes.push_back(node);
  return nodes;
}

TEST(CandidateOrder, NodesWhereTheLeastLossesAreEnoughComeFirst) {
  CandidateParts all(kBody);
  all.claim_of("new");
  all.claim.least_losses = least_losses(all.context, all.claim);
  EXPECT_EQ(in_order(all.ranking.by_promise(all.claim, all.pod("new"), {})),
            (std::vector{all.node("b"), all.node("a")}))
      << "and none that the pod may not run on";
}

TEST(CandidateOrder, ADisplacedPodIsOfferedOnlyNodesWhereEnoughMayBeEvicted) {
  CandidateParts all(kBody);
  all.claim_of("new");
  all.claim.stage = ClaimStage::kPlacingDisplaced;
  all.claim.least_losses = least_losses(all.context, all.claim);
  EXPECT_EQ(in_order(all.ranking.by_promise(all.claim, all.pod("new"), {})), std::vector{all.node("b")});
}

TEST(CandidateOrder, TheLeastMovedIsALowerBound) {
  CandidateParts all(kBody);
  all.claim_of("new", PreemptionMode::kConsolidate);
  const Work bound = all.ranking.least_moved(all.pod("new"), all.node("a"));
  const Work moved =
      all.problem->pods[all.pod("high")].weighted_work + all.problem->pods[all.pod("low-a")].weighted_work;
  EXPECT_GT(bound, 0);
  EXPECT_LE(bound, moved);
  all.state.take(all.pod("high"));
  all.state.take(all.pod("low-a"));
  EXPECT_EQ(all.ranking.least_moved(all.pod("new"), all.node("a")), 0);
}

}  // namespace
}  // namespace muster::preemption
