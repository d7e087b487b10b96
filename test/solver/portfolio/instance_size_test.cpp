#include "solver/portfolio/instance_size.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "test/solver/master_case.h"

namespace muster::portfolio {
namespace {

std::int64_t kinds_of(const test::Cluster& cluster) { return instance_size(test::Case(cluster).problem()).kinds; }

// Something of a higher priority waits, too.
test::Cluster with_victim(std::string_view actions = R"("place","preempt")") {
  return test::nodes_with({{"n", 8}})
      .policy("\"actions\":[" + std::string(actions) + "]")
      .queue("q")
      .queue("other")
      .running("victim", "n", 1, R"("queue":"q","priority":10)")
      .pod("urgent", 1, R"("queue":"q","priority":20)");
}

TEST(InstanceSize, CountsKindsOfGangsOnlyWherePodsMayBeEvictedForOthers) {
  EXPECT_EQ(kinds_of(with_victim()), 2);
  EXPECT_EQ(kinds_of(with_victim(R"("place","consolidate")")), 0);
  EXPECT_EQ(kinds_of(with_victim(R"("place","reclaim")")), 2) << "two queues";
  const char* preempt = R"("actions":["place","preempt"])";
  test::Cluster equal = test::nodes_with({{"n", 8}}).policy(preempt).queue("q");
  equal.running("runs", "n", 1, R"("queue":"q","priority":10)").pod("waits", 1, R"("queue":"q","priority":10)");
  EXPECT_EQ(kinds_of(equal), 0);
}

TEST(InstanceSize, GangsOfOnePodAreOneKindIfTheyDifferInNameAlone) {
  EXPECT_EQ(kinds_of(with_victim().pod("a", 1, R"("queue":"q")").pod("b", 1, R"("queue":"q")")), 3);
  EXPECT_EQ(kinds_of(with_victim().pod("a", 1, R"("queue":"q")").pod("b", 2, R"("queue":"q")")), 4);
  EXPECT_EQ(kinds_of(with_victim().pod("a", 1, R"("queue":"q")").pod("b", 1, R"("queue":"other")")), 4);
}

TEST(InstanceSize, EveryLargerGangIsAKind) {
  EXPECT_EQ(kinds_of(with_victim()
                         .gang("a", R"("queue":"q")")
                         .gang("b", R"("queue":"q")")
                         .pods("a", 2, 1, R"("gang":"a")")
                         .pods("b", 2, 1, R"("gang":"b")")),
            4);
}

}  // namespace
}  // namespace muster::portfolio
