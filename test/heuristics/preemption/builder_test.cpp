#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/preemption/candidate_builder.h"
#include "test/heuristics/preemption/candidates.h"

namespace muster::preemption {
namespace {

using Pods = std::vector<PodIndex>;

TEST(CandidateBuilder, TheCheapestVictimLeaves) {
  CandidateParts all(kTwoRun);
  all.claim_of("new");
  const auto candidate = all.builder.candidate(all.claim, all.pod("new"), all.node("a"));
  ASSERT_TRUE(candidate);
  EXPECT_EQ(candidate->node, all.node("a"));
  EXPECT_EQ(all.victims_of(*candidate), Pods{all.pod("low")});
  EXPECT_EQ(candidate->cost, candidate->victims.front().cost);
}

TEST(CandidateBuilder, TheStateIsAsBefore) {
  CandidateParts all(kTwoRun);
  all.claim_of("two");
  const auto before = all.state.checkpoint();
  const auto candidate = all.builder.candidate(all.claim, all.pod("two"), all.node("a"));
  ASSERT_TRUE(candidate);
  EXPECT_EQ(candidate->victims.size(), 2U);
  EXPECT_EQ(all.state.checkpoint(), before);
  EXPECT_TRUE(all.state.is_present(all.pod("low")));
}

TEST(CandidateBuilder, ThereIsNoneForANodeThatIsTooSmall) {
  CandidateParts all(kTwoRun);
  all.claim_of("two");
  EXPECT_FALSE(all.builder.candidate(all.claim, all.pod("two"), all.node("b")));
}

// `small` is cheaper and leaves first, but is not enough; with `large` gone it need not go.
TEST(CandidateBuilder, VictimsThatAreNotInTheWayAreReprieved) {
  CandidateParts all(R"(
   "policy":{"actions":["place","preempt"]},
   "nodes":[{"name":"a","resources":{"cpu":10}}],
   "pods":[{"name":"small","node":"a","resources":{"cpu":2},"priority":1},
           {"name":"large","node":"a","resources":{"cpu":8},"priority":2},
           {"name":"new","resources":{"cpu":8},"priority":9}])");
  all.claim_of("new");
  const auto candidate = all.builder.candidate(all.claim, all.pod("new"), all.node("a"));
  ASSERT_TRUE(candidate);
  EXPECT_EQ(all.victims_of(*candidate), Pods{all.pod("large")});
}

TEST(CandidateBuilder, ByMovesTheLeastWorkIsMoved) {
  CandidateParts all(R"(
   "nodes":[{"name":"a","resources":{"cpu":10},"gpus":{"count":4}},
            {"name":"b","resources":{"cpu":10},"gpus":{"count":4}}],
   "pods":[{"name":"one","node":"a","gpus":[0],"gpu":{"count":1}},
           {"name":"three","node":"a","gpus":[1,2,3],"gpu":{"count":3}},
           {"name":"new","gpu":{"count":1}}])");
  all.claim_of("new", PreemptionMode::kConsolidate);
  const auto candidate = all.builder.candidate_by_moves(all.claim, all.pod("new"), all.node("a"));
  ASSERT_TRUE(candidate);
  EXPECT_EQ(all.victims_of(*candidate), Pods{all.pod("one")});
  EXPECT_TRUE(candidate->victims.front().must_move);
  EXPECT_EQ(candidate->cost.moved, all.problem->pods[all.pod("one")].weighted_work);
}

}  // namespace
}  // namespace muster::preemption
