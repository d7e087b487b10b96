// Codes in plan lines that are read: those of this version as enums, those of other versions as the texts they are.
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "io/muster_v1/plan_line.h"

namespace muster::muster_v1 {
namespace {

std::string line_with_claims(const std::string& gang, const std::string& more = "") {
  return R"({"format":"muster/v1","id":"x","status":"ok","placements":[],"evictions":[],"gangs":[)"
         R"({"name":"g","phase":"Unschedulable","running":0,"placed":0,"evicted":0,"pending":1)" +
         gang + R"(}],"queues":[],"objective":[],"solver":{"origin":"none","proof":"heuristic","gap":0})" + more + "}";
}

TEST(PlanClaims, AreEnumsIfTheCodeIsKnown) {
  const auto read =
      read_plan(line_with_claims(R"(,"reason":"InsufficientCpu","makeRoom":"Priority",)"
                                 R"("blockers":[{"code":"InsufficientCpu","nodes":2}])",
                                 R"(,"warnings":[{"object":"node","name":"n","code":"Exceeded","message":"m"}])"),
                nullptr);
  ASSERT_TRUE(read) << read.error().path << " " << read.error().message;
  ASSERT_EQ(read->gangs.size(), 1U);
  const GangClaim& gang = read->gangs.front();
  EXPECT_EQ(gang.phase, explain::GangPhase::kUnschedulable);
  EXPECT_EQ(gang.reason, (Claimed<explain::Reason>(explain::Reason{explain::ReasonCode::kInsufficient, "cpu"})));
  EXPECT_EQ(gang.make_room, Claimed<explain::MakeRoomCode>(explain::MakeRoomCode::kPriority));
  ASSERT_EQ(gang.blockers.size(), 1U);
  EXPECT_EQ(gang.blockers[0].filter, Claimed<explain::Filter>(explain::Filter{explain::FilterCode::kInsufficientCpu}));
  ASSERT_EQ(read->warnings.size(), 1U);
  EXPECT_EQ(read->warnings[0].code, Claimed<ErrorCode>(ErrorCode::kExceeded));
}

TEST(PlanClaims, AreKeptAsTextIfTheCodeIsUnknown) {
  const auto read = read_plan(
      line_with_claims(
          R"(,"reason":"MoonPhase","makeRoom":"Tide","expectedStart":"2026-11-21T10:00:00Z","expectedStartReason":"Spring",)"
          R"("blockers":[{"code":"Insufficientcpu","nodes":2}])",
          R"(,"warnings":[{"object":"node","name":"n","code":"Odd","message":"m"}])"),
      nullptr);
  ASSERT_TRUE(read) << read.error().path << " " << read.error().message;
  const GangClaim& gang = read->gangs.at(0);
  EXPECT_EQ(claimed_text(gang.reason, explain::reason_text), "MoonPhase");
  EXPECT_EQ(claimed_text(gang.make_room, explain::make_room_text), "Tide");
  EXPECT_EQ(gang.expected_start, 1'795'255'200 * kNanosecondsPerSecond);
  EXPECT_EQ(claimed_text(gang.waits_for, forecast::start_obstacle_text), "Spring");
  EXPECT_EQ(claimed_text(gang.blockers.at(0).filter, explain::filter_text), "Insufficientcpu");
  EXPECT_EQ(claimed_text(read->warnings.at(0).code, error_code_text), "Odd");
  EXPECT_TRUE(std::holds_alternative<std::string>(gang.reason));
}

TEST(PlanClaims, OfErrorRecordsMayHaveUnknownCodes) {
  const auto read = read_plan(
      R"({"format":"muster/v1","id":"x","status":"error","error":{"code":"TooRound","path":"$","message":"m","line":1}})",
      nullptr);
  ASSERT_TRUE(read) << read.error().path << " " << read.error().message;
  EXPECT_EQ(claimed_text(read->error.code, error_code_text), "TooRound");
  EXPECT_NE(read->error.code, Claimed<ErrorCode>(ErrorCode::kTooLarge));
}

TEST(PlanClaims, OfAbsentCodesAreNone) {
  const auto read = read_plan(line_with_claims(""), nullptr);
  ASSERT_TRUE(read) << read.error().path << " " << read.error().message;
  EXPECT_EQ(read->gangs.at(0).reason, Claimed<explain::Reason>(explain::Reason{}));
  EXPECT_EQ(read->gangs.at(0).make_room, Claimed<explain::MakeRoomCode>(explain::MakeRoomCode::kNone));
  EXPECT_EQ(claimed_text(read->gangs.at(0).reason, explain::reason_text), "");
}

}  // namespace
}  // namespace muster::muster_v1
