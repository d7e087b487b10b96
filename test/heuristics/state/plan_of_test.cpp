#include "heuristics/state/plan_of.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "heuristics/state/candidate.h"
#include "test/support/case.h"

namespace muster {
namespace {

class PlanOf : public testing::Test {
 protected:
  void build(const std::string& body) {
    problem_ = std::make_unique<test::Case>(body);
    state_ = std::make_unique<ClusterState>(**problem_, ClusterState::Releasing::kFreed);
  }
  void put(const char* pod, const char* node, std::vector<std::int32_t> devices) {
    state_->put(problem_->pod(pod), problem_->node(node), devices);
  }
  void evict(const char* pod, EvictionReason reason, const char* claimant) {
    if (state_->is_present(problem_->pod(pod))) state_->take(problem_->pod(pod));
    evictions_.push_back({problem_->pod(pod), reason, problem_->gang(claimant)});
  }
  Plan plan() const { return plan_of(**problem_, *state_, evictions_); }
  std::vector<std::string> after(const char* pod) const {
    std::vector<std::string> names;
    for (const Placement& placement : plan().placements) {
      if (placement.pod != problem_->pod(pod)) continue;
      for (const PodIndex named : placement.after) names.emplace_back(problem_->snapshot().pods[named.value()].name);
    }
    return names;
  }
  using Names = std::vector<std::string>;

  std::unique_ptr<test::Case> problem_;
  std::unique_ptr<ClusterState> state_;
  std::vector<PlannedEviction> evictions_;
};

constexpr const char* kOneNode =
    R"("nodes":[{"name":"n","resources":{"cpu":8},"gpus":{"count":3}},{"name":"m","resources":{"cpu":8},"gpus":{"count":3}}],
  "gangs":[{"name":"g","minMember":1}],
  "pods":[{"name":"old","resources":{"cpu":1},"gpu":{"count":1},"node":"n","gpus":[0],"status":"releasing"},
          {"name":"low","resources":{"cpu":1},"gpu":{"count":1},"node":"n","gpus":[1]},
          {"name":"g-0","gang":"g","resources":{"cpu":1},"gpu":{"count":1}},{"name":"g-1","gang":"g","resources":{"cpu":1},"gpu":{"count":1}},
          {"name":"g-2","gang":"g","resources":{"cpu":1},"gpu":{"count":1}}])";

TEST_F(PlanOf, StartsImmediatelyWhatFitsBesideLeavingPods) {
  build(kOneNode);
  put("g-0", "n", {2});
  EXPECT_EQ(after("g-0"), Names{});
}

TEST_F(PlanOf, NamesOnlyPodsOfTheDevicesThatItNeeds) {
  build(kOneNode);
  put("g-0", "n", {2});
  put("g-1", "n", {0});
  EXPECT_EQ(after("g-1"), Names{"old"});
  EXPECT_EQ(after("g-0"), Names{});  // the minimum of one starts without waiting
}

TEST_F(PlanOf, AGangWhoseMinimumHasToWaitWaitsWhole) {
  std::string body = kOneNode;
  body.replace(body.find("\"minMember\":1"), 13, "\"minMember\":2");
  build(body);
  put("g-0", "n", {2});
  put("g-1", "n", {0});
  put("g-2", "m", {0});
  evict("low", EvictionReason::kPreempt, "g");
  EXPECT_EQ(after("g-0"), Names{});  // g-0 and g-2 are the minimum
  state_->take(problem_->pod("g-2"));
  EXPECT_EQ(after("g-0"), Names{"old"});
  EXPECT_EQ(after("g-1"), Names{"old"});
}

TEST_F(PlanOf, WaitsForEveryPodThatHoldsAShortResource) {
  build(R"("nodes":[{"name":"n","resources":{"cpu":4,"memory":"8Gi"}}],
    "pods":[{"name":"x","resources":{"cpu":1},"node":"n","status":"releasing"},{"name":"y","resources":{"cpu":2},"node":"n","status":"releasing"},
            {"name":"z","resources":{"memory":"1Gi"},"node":"n","status":"releasing"},{"name":"p","resources":{"cpu":2,"memory":"1Gi"}}])");
  put("p", "n", {});
  EXPECT_EQ(after("p"), (Names{"x", "y"}));
}

TEST_F(PlanOf, TellsEvictionsAndMovesApart) {
  build(kOneNode);
  evict("low", EvictionReason::kPreempt, "g");
  put("g-0", "n", {1});
  EXPECT_EQ(plan().evictions,
            (std::vector<Eviction>{{problem_->pod("low"), EvictionReason::kPreempt, problem_->gang("g")}}));
  put("low", "m", {0});
  EXPECT_EQ(plan().evictions,
            (std::vector<Eviction>{{problem_->pod("low"), EvictionReason::kConsolidate, problem_->gang("g")}}));
  EXPECT_EQ(plan().placements.size(), 2U);
  EXPECT_EQ(after("g-0"), Names{"low"});
  EXPECT_EQ(after("low"), Names{});
}

TEST_F(PlanOf, PodThatIsBackOnItsNodeIsNeitherEvictedNorPlaced) {
  build(kOneNode);
  evict("low", EvictionReason::kPreempt, "g");
  put("low", "n", {1});
  EXPECT_EQ(plan(), Plan{});
}

TEST_F(PlanOf, WaitsForPodsThatAntiAffinityKeepsApart) {
  build(R"("nodes":[{"name":"n","resources":{"cpu":4},"labels":{"host":"n"}}],"gangs":[{"name":"g","minMember":1}],
    "pods":[{"name":"old","gang":"g","node":"n","status":"releasing","podAntiAffinity":{"topologyKey":"host","matchGang":true}},
            {"name":"new","gang":"g","podAntiAffinity":{"topologyKey":"host","matchGang":true}}])");
  put("new", "n", {});
  EXPECT_EQ(after("new"), Names{"old"});
}

// Every pod of the gang would have to name every pod that leaves: 64 million names.
TEST_F(PlanOf, GivesUpAGangThatWouldWaitForTooManyPods) {
  constexpr int kPods = 8'000;
  std::string pods;
  for (int i = 0; i < kPods; ++i) {
    pods +=
        fmt::format(R"({}{{"name":"old-{}","gang":"old","node":"n","resources":{{"cpu":"1"}}}},)", i > 0 ? "," : "", i);
    pods += fmt::format(R"({{"name":"new-{}","gang":"new","resources":{{"cpu":"1"}}}})", i);
  }
  build(fmt::format(
      R"("nodes":[{{"name":"n","resources":{{"cpu":"{0}","pods":"100000"}}}}],"gangs":[{{"name":"old","minMember":1}},)"
      R"({{"name":"new","priority":1,"minMember":{0}}}],"pods":[{1}])",
      kPods, pods));
  for (int i = 0; i < kPods; ++i) evict(fmt::format("old-{}", i).c_str(), EvictionReason::kPreempt, "new");
  for (int i = 0; i < kPods; ++i) put(fmt::format("new-{}", i).c_str(), "n", {});
  EXPECT_EQ(ordered_plan_of(**problem_, *state_, evictions_).unbound.size(), std::size_t{kPods});
}

}  // namespace
}  // namespace muster
