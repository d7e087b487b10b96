#include <string>

#include <gtest/gtest.h>

#include "cli/agent/planning/planner.h"
#include "model/build/build_problem.h"
#include "test/support/case.h"

namespace muster::cli {
namespace {

constexpr Nanoseconds kSecond = kNanosecondsPerSecond;

// n1 is being left for `claim`, which has it as its node; n2 is free.
Snapshot cluster(bool leaves = true, bool claims = true) {
  const std::string nominated = claims ? R"(,"nominatedNode":"n1")" : "";
  const std::string leaving = leaves ? R"({"name":"old","status":"releasing","node":"n1","gpu":{"count":8}},)" : "";
  return test::Case::read(
      test::Case(R"("nodes":[{"name":"n1","gpus":{"count":8}},{"name":"n2","gpus":{"count":8}}],
    "gangs":[{"name":"big","minMember":2}],"pods":[)" +
                 leaving + R"({"name":"claim","gpu":{"count":8})" + nominated +
                 R"(},{"name":"b0","gang":"big","gpu":{"count":8}},{"name":"b1","gang":"big","gpu":{"count":8}}])")
          .line());
}

// Whether the pods of `big` may be placed on the node.
bool is_open(Snapshot& snapshot, std::string_view pod, std::string_view node) {
  const Result<Problem> problem = build_problem(snapshot);
  EXPECT_TRUE(problem);
  for (const PodIndex each : problem->pods.indices()) {
    if (snapshot.pods[each.value()].name != pod) continue;
    for (const NodeIndex on : problem->nodes.indices()) {
      if (snapshot.nodes[on.value()].name == node)
        return problem->class_of(each).allowed[problem->nodes[on].node_class.value()];
    }
  }
  ADD_FAILURE() << pod << " or " << node << " is missing";
  return false;
}

TEST(NodeReservations, IsOpenToItsClaimantAlone) {
  NodeReservations room(ApplyMode::kBindings);
  Snapshot snapshot = cluster();
  room.hold(snapshot, {}, 100 * kSecond);
  EXPECT_TRUE(is_open(snapshot, "claim", "n1"));
  EXPECT_TRUE(is_open(snapshot, "claim", "n2"));
  EXPECT_FALSE(is_open(snapshot, "b0", "n1"));
  EXPECT_TRUE(is_open(snapshot, "b1", "n2"));
}

TEST(NodeReservations, IsHeldForAShortTimeOnceItIsFree) {
  NodeReservations room(ApplyMode::kBindings);
  Snapshot leaving = cluster(), free = cluster(false), late = cluster(false);
  room.hold(leaving, {}, 100 * kSecond);
  room.hold(free, {}, 130 * kSecond);
  EXPECT_FALSE(is_open(free, "b0", "n1"));
  room.hold(late, {}, 131 * kSecond);
  EXPECT_TRUE(is_open(late, "b0", "n1")) << "the claimant does not come";
}

TEST(NodeReservations, EndsWhenItIsGivenUp) {
  NodeReservations room(ApplyMode::kBindings);
  Snapshot leaving = cluster(), given_up = cluster(true, false);
  room.hold(leaving, {}, 100 * kSecond);
  room.hold(given_up, {}, 101 * kSecond);
  EXPECT_TRUE(is_open(given_up, "b0", "n1"));
}

TEST(NodeReservations, IsKnownToAnotherAgentAtOnce) {
  NodeReservations room(ApplyMode::kBindings);
  Snapshot free = cluster(false);
  room.hold(free, {}, 100 * kSecond);
  EXPECT_FALSE(is_open(free, "b0", "n1"));
}

TEST(NodeReservations, OfTheExtenderIsOnlyWhatPodsHaveLeft) {
  NodeReservations room(ApplyMode::kExtender);
  Snapshot starts = cluster(false), leaving = cluster(), free = cluster(false);
  room.hold(starts, {}, 100 * kSecond);
  EXPECT_TRUE(is_open(starts, "b0", "n1"));
  room.hold(leaving, {}, 101 * kSecond);
  room.hold(free, {}, 102 * kSecond);
  EXPECT_FALSE(is_open(free, "b0", "n1"));
}

TEST(NodeReservations, IsNotThatOfOtherSchedulers) {
  NodeReservations room(ApplyMode::kBindings);
  Snapshot snapshot = cluster();
  room.hold(snapshot, {"muster"}, 100 * kSecond);
  EXPECT_TRUE(is_open(snapshot, "b0", "n1"));
}

}  // namespace
}  // namespace muster::cli
