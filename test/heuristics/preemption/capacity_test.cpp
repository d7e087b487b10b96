#include <string>

#include <gtest/gtest.h>

#include "heuristics/preemption/candidate_builder.h"
#include "test/heuristics/preemption/candidates.h"

namespace muster::preemption {
namespace {

using Answer = ClearableCapacity::Answer;

constexpr const char* kNoMoves = R"("policy":{"actions":["place","preempt"]},)";

TEST(ClearableCapacity, APodFitsWhereEnoughVictimsMayLeave) {
  CandidateParts all(std::string(kNoMoves) + kTwoRun);
  all.claim_of("two");
  EXPECT_EQ(all.could_take("two", "a"), Answer::kFits);
  EXPECT_EQ(all.could_take("two", "b"), Answer::kTooSmall);
  EXPECT_EQ(all.could_take("three", "a"), Answer::kTooSmall);
}

TEST(ClearableCapacity, PodsThatMayNotLeaveStayInTheWay) {
  CandidateParts all(std::string(kNoMoves) + kTwoRun);
  all.claim_of("high");
  EXPECT_EQ(all.could_take("two", "a"), Answer::kTooSmall) << "`high` is the claimant";
}

TEST(ClearableCapacity, TellsThatAPodFitsWithoutVictims) {
  CandidateParts all(std::string(kNoMoves) + kTwoRun);
  all.state.take(all.pod("other"));
  all.claim_of("new");
  EXPECT_EQ(all.could_take("new", "b"), Answer::kNoVictims);
}

TEST(ClearableCapacity, FollowsTheNode) {
  CandidateParts all(std::string(kNoMoves) + kTwoRun);
  all.claim_of("low");
  ASSERT_EQ(all.could_take("new", "b"), Answer::kTooSmall);
  all.state.take(all.pod("other"));
  EXPECT_EQ(all.could_take("new", "b"), Answer::kNoVictims);
}

TEST(ClearableCapacity, AMoveNeedsRoomElsewhere) {
  CandidateParts all(kTwoRun);
  all.claim_of("new", PreemptionMode::kConsolidate);
  EXPECT_EQ(all.could_take("new", "a"), Answer::kTooSmall) << "everything is full";
  all.state.take(all.pod("other"));
  all.claim_of("new", PreemptionMode::kConsolidate);
  EXPECT_EQ(all.could_take("new", "a"), Answer::kFits);
}

}  // namespace
}  // namespace muster::preemption
