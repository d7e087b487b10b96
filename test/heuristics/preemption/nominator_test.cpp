#include "heuristics/preemption/nominator.h"

#include <string>

#include <gtest/gtest.h>

#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

class Nominated : public Planning {
 public:
  explicit Nominated(const std::string& body, const char* gang, PreemptionMode mode) : Planning(body) {
    claim_for(gang, mode);
    nominator.begin_attempt();
  }
  bool place(const char* name) {
    return nominator.with_room(claim, [&] { return placer.place_pod(pod(name)); });
  }
  NodeNominator nominator{context};
};

TEST(NodeNominator, PutsThePodWhereTheCheapestVictimRan) {
  Nominated all(kTwoRun, "new", PreemptionMode::kPreempt);
  ASSERT_TRUE(all.place("new"));
  EXPECT_EQ(all.state.node_of(all.pod("new")), all.node("a"));
  EXPECT_FALSE(all.state.is_present(all.pod("low")));
  EXPECT_TRUE(all.state.is_present(all.pod("high")));
  EXPECT_EQ(all.nominator.lost().work.priority, 1);
}

TEST(NodeNominator, ChangesNothingIfNoNodeCanBeCleared) {
  Nominated all(kTwoRun, "three", PreemptionMode::kPreempt);
  const auto before = all.state.checkpoint();
  EXPECT_FALSE(all.place("three"));
  EXPECT_EQ(all.state.checkpoint(), before);
  EXPECT_EQ(all.nominator.lost(), VictimCost{});
}

TEST(NodeNominator, MovesAPodToMakeRoomForALargerOne) {
  Nominated all(R"(
   "nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],
   "pods":[{"name":"x","node":"a","gpus":[0],"gpu":{"count":1}},
           {"name":"y","node":"b","gpus":[0],"gpu":{"count":1}},
           {"name":"large","gpu":{"count":2}}])",
                "large", PreemptionMode::kConsolidate);
  ASSERT_TRUE(all.place("large"));
  EXPECT_EQ(all.state.node_of(all.pod("x")), all.state.node_of(all.pod("y")));
}

// Each node has a pod of high priority that must stay running. One of them moves to the other node, where a pod of low
// priority is evicted for it.
TEST(NodeNominator, DisplacesABlockingPodWhereACheaperOneLeavesForIt) {
  Nominated all(R"(
   "nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],
   "pods":[{"name":"high-a","node":"a","gpus":[0],"gpu":{"count":1},"priority":50},
           {"name":"low-a","node":"a","gpus":[1],"gpu":{"count":1},"priority":1},
           {"name":"high-b","node":"b","gpus":[0],"gpu":{"count":1},"priority":50},
           {"name":"low-b","node":"b","gpus":[1],"gpu":{"count":1},"priority":1},
           {"name":"large","gpu":{"count":2},"priority":9}])",
                "large", PreemptionMode::kPreempt);
  EXPECT_FALSE(all.place("large")) << "nothing may be evicted of what is above the claimant";
  all.claim.stage = ClaimStage::kDisplacing;
  ++all.claim.attempt;
  all.nominator.begin_attempt();
  ASSERT_TRUE(all.place("large"));
  EXPECT_TRUE(all.state.is_present(all.pod("high-a")));
  EXPECT_TRUE(all.state.is_present(all.pod("high-b")));
  EXPECT_FALSE(all.state.is_present(all.pod("low-a")));
  EXPECT_FALSE(all.state.is_present(all.pod("low-b")));
}

}  // namespace
}  // namespace muster::preemption
