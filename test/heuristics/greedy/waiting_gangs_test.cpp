#include "heuristics/greedy/waiting_gangs.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster::greedy {
namespace {

class Waiting {
 public:
  explicit Waiting(const test::Cluster& cluster)
      : problem(cluster),
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

  test::Case problem;
  ClusterState state;
  std::vector<GangIndex> listed;
  WaitingGangs gangs;
};

std::string in_gang(const std::string& gang, int cpu = 1) {
  return R"("gang":")" + gang + R"(","resources":{"cpu":)" + std::to_string(cpu) + "}";
}

test::Cluster node_with_cpu() { return test::Cluster().node("n", R"("resources":{"cpu":64})"); }

TEST(WaitingGangs, ComeByPriorityThenByHowLongTheyWaitedThenAsGiven) {
  const Waiting waiting(node_with_cpu()
                            .pod("young", R"("created":90)")
                            .pod("old", R"("created":5)")
                            .pod("high", R"("created":95,"priority":9)")
                            .pod("like-old", R"("created":5)")
                            .pod("runs", R"("node":"n")"));
  const auto gang = [&](const std::string& name) { return waiting.problem.gang(name); };
  EXPECT_EQ(waiting.order(), (std::vector{gang("high"), gang("old"), gang("like-old"), gang("young")}));
  EXPECT_EQ(waiting.listed, (std::vector{gang("young"), gang("old"), gang("high"), gang("like-old")}));
}

TEST(WaitingGangs, HaveOneShapeWhereTheyFitOrFailAlike) {
  test::Cluster cluster =
      node_with_cpu().gang("a").gang("b").gang("fewer", R"("minMember":1)").gang("part").gang("mixed");
  cluster.pods("a", 2, in_gang("a")).pods("b", 2, in_gang("b")).pods("f", 2, in_gang("fewer"));
  cluster.pod("p0", R"("node":"n",)" + in_gang("part")).pod("p1", in_gang("part"));
  cluster.pod("m0", in_gang("mixed")).pod("m1", in_gang("mixed", 2));
  const Waiting waiting(cluster);
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
  const Waiting waiting(node_with_cpu().gang("g", R"("minMember":3)").pods("p", 2, in_gang("g")));
  EXPECT_TRUE(waiting.order().empty());
  EXPECT_EQ(waiting.listed, std::vector{waiting.problem.gang("g")});
}

}  // namespace
}  // namespace muster::greedy
