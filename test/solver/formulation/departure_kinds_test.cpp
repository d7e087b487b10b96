#include "solver/formulation/departure_kinds.h"

#include <string>

#include <gtest/gtest.h>

#include "test/support/built_problem.h"

namespace muster::formulation {
namespace {

// Two nodes of two GPUs with a pod on each device; `second`: of the pods of the other node.
std::int64_t leaving(const std::string& second, const std::string& gangs = "") {
  std::string pods;
  for (int i = 0; i < 4; ++i) {
    pods += (i == 0 ? "" : ",") + std::string(R"({"name":"p-)") + std::to_string(i) + R"(","node":")" +
            (i < 2 ? "a" : "b") + R"(","gpus":[)" + std::to_string(i % 2) + R"(],"gpu":{"count":1})" +
            (i < 2 ? R"(,"started":999000)" : second) + "}";
  }
  const BuiltProblem built(R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],)" + gangs +
                           R"("pods":[)" + pods + "]");
  return leaving_of_kinds(*built);
}

TEST(DepartureKinds, NodesThatHoldAlikePodsAreCountedOnce) { EXPECT_EQ(leaving(R"(,"started":999000)"), 2); }

TEST(DepartureKinds, PodsThatHaveRunForAnotherTimeAreNotAlike) { EXPECT_EQ(leaving(R"(,"started":998000)"), 4); }

TEST(DepartureKinds, PodsOfALargerGangAreAlikeOnlyAmongThemselves) {
  EXPECT_EQ(leaving(R"(,"started":999000,"gang":"g")", R"("gangs":[{"name":"g"}],)"), 4);
}

TEST(DepartureKinds, PodsThatMayNotLeaveAreNotCounted) {
  EXPECT_EQ(leaving(R"(,"started":999000,"preemptible":false)"), 2);
}

}  // namespace
}  // namespace muster::formulation
