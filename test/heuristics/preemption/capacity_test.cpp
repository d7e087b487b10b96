#include <string>

#include <gtest/gtest.h>

#include "heuristics/preemption/candidate_capacity.h"
#include "test/heuristics/preemption/candidates.h"

namespace muster::preemption {
namespace {

using Answer = ClearableCapacity::Answer;

constexpr const char* kNoMoves = R"("policy":{"actions":["place","preempt"]},)";

TEST(ClearableCapacity, APodFitsWhereEnoughVictimsMayLeave) {
  CandidateParts all(std::string(kNoMoves) + kTwoRun);
  all.claim_of("two");
  EXPECT_EQ(all.capacity.could_take(all.pod("two"), all.node("a")), Answer::kFits);
  EXPECT_EQ(all.capacity.could_take(all.pod("two"), all.node("b")), Answer::kTooSmall);
  EXPECT_EQ(all.capacity.could_take(all.pod("three"), all.node("a")), Answer::kTooSmall);
}

TEST(ClearableCapacity, PodsThatMayNotLeaveStayInTheWay) {
  CandidateParts all(std::string(kNoMoves) + kTwoRun);
  all.claim_of("high");
  EXPECT_EQ(all.capacity.could_take(all.pod("two"), all.node("a")), Answer::kTooSmall) << "`high` is the claimant";
}

TEST(ClearableCapacity, TellsThatAPodFitsWithoutVictims) {
  CandidateParts all(std::string(kNoMoves) + kTwoRun);
  all.state.take(all.pod("other"));
  all.claim_of("new");
  EXPECT_EQ(all.capacity.could_take(all.pod("new"), all.node("b")), Answer::kNoVictims);
}

TEST(ClearableCapacity, FollowsTheNode) {
  CandidateParts all(std::string(kNoMoves) + kTwoRun);
  all.claim_of("low");
  ASSERT_EQ(all.capacity.could_take(all.pod("new"), all.node("b")), Answer::kTooSmall);
  all.state.take(all.pod("other"));
  EXPECT_EQ(all.capacity.could_take(all.pod("new"), all.node("b")), Answer::kNoVictims);
}

TEST(ClearableCapacity, AMoveNeedsRoomElsewhere) {
  CandidateParts all(kTwoRun);
  all.claim_of("new", PreemptionMode::kConsolidate);
  EXPECT_EQ(all.capacity.could_take(all.pod("new"), all.node("a")), Answer::kTooSmall) << "everything is full";
  all.state.take(all.pod("other"));
  all.claim_of("new", PreemptionMode::kConsolidate);
  EXPECT_EQ(all.capacity.could_take(all.pod("new"), all.node("a")), Answer::kFits);
}

}  // namespace
}  // namespace muster::preemption
