// minResources of several gangs together: each is checked by itself, and only gangs that lack something are reported.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/support/plan.h"

namespace muster::referee {
namespace {

using test::Case;

std::vector<std::string> charged(const std::string& plan) {
  static const Case cluster = Case::of_line(R"({"format":"muster/v1","time":1000,
    "nodes":[{"name":"a","resources":{"cpu":10},"gpus":{"count":2},"labels":{"pool":"x"}},{"name":"b","resources":{"cpu":10},"labels":{"pool":"x"}},
             {"name":"c","resources":{"cpu":4},"gpus":{"count":4},"labels":{"pool":"y"}}],
    "gangs":[{"name":"low","preemptible":true},
             {"name":"little","minMember":1,"minResources":{"cpu":12}},{"name":"much","minMember":1,"minResources":{"cpu":17}},
             {"name":"more","minMember":1,"minResources":{"cpu":18}},{"name":"gpus","minMember":1,"minResources":{"gpu":6}},
             {"name":"pool","minMember":1,"minResources":{"cpu":4,"gpu":4}},{"name":"large","minMember":1,"minResources":{"cpu":5}}],
    "pods":[{"name":"low-0","gang":"low","resources":{"cpu":3},"node":"a"},
            {"name":"little-0","gang":"little","nodeSelector":{"pool":"x"},"resources":{"cpu":1}},
            {"name":"much-0","gang":"much","nodeSelector":{"pool":"x"},"resources":{"cpu":1}},
            {"name":"more-0","gang":"more","nodeSelector":{"pool":"x"},"resources":{"cpu":1}},
            {"name":"gpus-0","gang":"gpus","resources":{"cpu":1}},
            {"name":"pool-0","gang":"pool","nodeSelector":{"pool":"y"},"resources":{"cpu":1}},
            {"name":"large-0","gang":"large","nodeSelector":{"pool":"y"},"resources":{"cpu":1}}]})");
  std::vector<std::string> found;
  for (const Violation& violation : cluster.check(test::plan_of(cluster, plan))) {
    EXPECT_EQ(violation.rule, Rule::kMinResources) << violation.message;
    found.push_back(violation.subject);
  }
  return found;
}

using Names = std::vector<std::string>;

TEST(RefereeOfMinResources, WeighsEachGangByItself) {
  EXPECT_EQ(charged("place little-0 a"), Names{});
  EXPECT_EQ(charged("place little-0 a\nplace much-0 b\nplace gpus-0 b\nplace pool-0 c"), Names{});  // 17 of 20 are free
}

TEST(RefereeOfMinResources, ChargesThoseAloneThatLackSomething) {
  EXPECT_EQ(charged("place little-0 a\nplace more-0 b\nplace much-0 b"), Names{"more"});
  EXPECT_EQ(charged("place large-0 c\nplace pool-0 c"), Names{"large"});
  EXPECT_EQ(charged("place large-0 c\nplace little-0 a\nplace more-0 b"), (Names{"more", "large"}));
}

}  // namespace
}  // namespace muster::referee
