#include "heuristics/greedy/waiting_gangs.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/support/built_problem.h"

namespace muster::greedy {
namespace {

std::string pod(const std::string& name, const std::string& gang, int cpu = 1, const std::string& more = "") {
  const std::string member = gang.empty() ? "" : R"(,"gang":")" + gang + "\"";
  return R"({"name":")" + name + R"(","resources":{"cpu":)" + std::to_string(cpu) + "}" + member + more + "}";
}

class Waiting {
 public:
  Waiting(const std::string& listed_gangs, const std::string& pods)
      : problem(R"("nodes":[{"name":"n","resources":{"cpu":64}}],"gangs":[)" + listed_gangs + R"(],"pods":[)" + pods +
                "]"),
        state(*problem, ClusterState::Releasing::kFreed),
        gangs(WaitingGangs::of_pending(state, listed)) {}

  std::vector<GangIndex> order() const {
    std::vector<GangIndex> order;
    for (const std::uint32_t position : gangs.by_age()) order.push_back(gangs.all()[position].gang);
    return order;
  }
  const WaitingGang& of(const std::string& name) const {
    for (const WaitingGang& gang : gangs.all()) {
      if (gang.gang == problem.gang(name)) return gang;
    }
    throw std::out_of_range(name);
  }

  BuiltProblem problem;
  ClusterState state;
  std::vector<GangIndex> listed;
  WaitingGangs gangs;
};

constexpr const char* kRuns = R"(,"node":"n")";

TEST(WaitingGangs, ComeByPriorityThenByHowLongTheyWaitedThenAsGiven) {
  const Waiting waiting("", pod("young", "", 1, R"(,"created":90)") + "," + pod("old", "", 1, R"(,"created":5)") + "," +
                                pod("high", "", 1, R"(,"created":95,"priority":9)") + "," +
                                pod("like-old", "", 1, R"(,"created":5)") + "," + pod("runs", "", 1, kRuns));
  const auto gang = [&](const std::string& name) { return waiting.problem.gang(name); };
  EXPECT_EQ(waiting.order(), (std::vector{gang("high"), gang("old"), gang("like-old"), gang("young")}));
  EXPECT_EQ(waiting.listed, (std::vector{gang("young"), gang("old"), gang("high"), gang("like-old")}));
}

TEST(WaitingGangs, HaveOneShapeWhereTheyFitOrFailAlike) {
  const Waiting waiting(R"({"name":"a"},{"name":"b"},{"name":"fewer","minMember":1},{"name":"part"},{"name":"mixed"})",
                        pod("a0", "a") + "," + pod("a1", "a") + "," + pod("b0", "b") + "," + pod("b1", "b") + "," +
                            pod("f0", "fewer") + "," + pod("f1", "fewer") + "," + pod("p0", "part", 1, kRuns) + "," +
                            pod("p1", "part") + "," + pod("m0", "mixed") + "," + pod("m1", "mixed", 2));
  EXPECT_GE(waiting.of("a").shape, 0);
  EXPECT_EQ(waiting.of("a").shape, waiting.of("b").shape);
  EXPECT_NE(waiting.of("a").shape, waiting.of("fewer").shape);
  EXPECT_EQ(waiting.of("part").shape, -1) << "a pod of it runs";
  EXPECT_EQ(waiting.of("mixed").shape, -1) << "its pods differ";
  EXPECT_EQ(waiting.gangs.shapes(), 2U);
  EXPECT_FALSE(waiting.of("part").leaf.is_none());
  EXPECT_TRUE(waiting.of("mixed").leaf.is_none());
}

TEST(WaitingGangs, LeaveOutGangsThatHaveTooFewPods) {
  const Waiting waiting(R"({"name":"g","minMember":3})", pod("a", "g") + "," + pod("b", "g"));
  EXPECT_TRUE(waiting.order().empty());
  EXPECT_EQ(waiting.listed, std::vector{waiting.problem.gang("g")});
}

}  // namespace
}  // namespace muster::greedy
