#include "heuristics/preemption/reprieve.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/plan_of.h"
#include "heuristics/state/planned_eviction.h"
#include "model/objective/evaluation.h"
#include "model/referee/referee.h"
#include "test/support/plan.h"

namespace muster::preemption {
namespace {

// A plan put together by hand, and what is made of it.
class Reprieve : public testing::Test {
 protected:
  void build(const std::string& body) {
    problem_ = std::make_unique<test::Case>(body);
    state_ = std::make_unique<ClusterState>(**problem_, ClusterState::Releasing::kFreed);
  }
  void put(const char* pod, const char* node, const std::vector<std::int32_t>& devices = {0}) {
    state_->put(problem_->pod(pod), problem_->node(node), devices);
  }
  void evict(const char* pod, EvictionReason reason, const char* claimant) {
    state_->take(problem_->pod(pod));
    evictions_.push_back({problem_->pod(pod), reason, problem_->gang(claimant)});
  }
  // After it, expected to be legal and no worse.
  Plan reprieved(const StopRequest& stop = {}) const {
    const Problem& problem = **problem_;
    const FairShares& shares = problem_->shares();
    Candidate before{plan_of(problem, *state_, evictions_), {}};
    before.levels = evaluate(problem, shares, before.plan);
    const Candidate after = reprieve_victims(problem, shares, before, stop);
    EXPECT_EQ(after.levels, evaluate(problem, shares, after.plan));
    EXPECT_TRUE(compare(after.levels, before.levels, level_ids(problem)) >= 0);
    test::expect_legal(*problem_, after.plan);
    return after.plan;
  }
  std::string node_of(const Plan& plan, const char* pod) const { return test::nodes_of(*problem_, plan, {pod}); }

  std::unique_ptr<test::Case> problem_;
  std::unique_ptr<ClusterState> state_;
  std::vector<PlannedEviction> evictions_;
};

constexpr const char* kTwoNodes =
    R"("nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}}],
       "pods":[{"name":"runs","node":"a","gpus":[0],"gpu":{"count":1},"priority":1,"started":1767225000},
               {"name":"waits","gpu":{"count":1},"priority":9}])";

TEST_F(Reprieve, AMovedPodReturnsIfTheNewPodFitsElsewhere) {
  build(kTwoNodes);
  evict("runs", EvictionReason::kConsolidate, "waits");
  put("runs", "b");
  put("waits", "a");
  const Plan plan = reprieved();
  EXPECT_TRUE(plan.evictions.empty());
  EXPECT_EQ(node_of(plan, "waits"), "b");
}

TEST_F(Reprieve, AVictimComesBackIfItsClaimantFitsElsewhere) {
  build(kTwoNodes);
  evict("runs", EvictionReason::kPreempt, "waits");
  put("waits", "a");
  const Plan plan = reprieved();
  EXPECT_TRUE(plan.evictions.empty());
  EXPECT_EQ(node_of(plan, "waits"), "b");
}

// Nothing has been claimed there: a pod that comes back is not checked against a claimant's needs.
TEST_F(Reprieve, AVictimComesBackIfNothingMayBeMoved) {
  build(std::string(R"("policy":{"actions":["place","preempt"]},)") + kTwoNodes);
  evict("runs", EvictionReason::kPreempt, "waits");
  put("waits", "b");
  const Plan plan = reprieved();
  EXPECT_TRUE(plan.evictions.empty());
  EXPECT_EQ(node_of(plan, "waits"), "b");
}

// The new pod fits on `b` alone, and the pod there goes where the moved pod was.
TEST_F(Reprieve, OtherPodsMakeWayForThePodThatMakesWay) {
  build(
      R"("nodes":[{"name":"a","gpus":{"count":1},"labels":{"disk":"ssd"}},{"name":"b","gpus":{"count":1},"labels":{"disk":"ssd"}},
                  {"name":"c","gpus":{"count":1}}],
       "pods":[{"name":"runs","node":"a","gpus":[0],"gpu":{"count":1},"priority":1,"started":1767225000},
               {"name":"waits","gpu":{"count":1},"priority":9,"nodeSelector":{"disk":"ssd"}},
               {"name":"other","gpu":{"count":1},"priority":9}])");
  evict("runs", EvictionReason::kConsolidate, "waits");
  put("runs", "c");
  put("waits", "a");
  put("other", "b");
  const Plan plan = reprieved();
  EXPECT_TRUE(plan.evictions.empty());
  EXPECT_EQ(node_of(plan, "waits"), "b");
  EXPECT_EQ(node_of(plan, "other"), "c");
}

TEST_F(Reprieve, AVictimWhoseRoomIsNeededStaysAway) {
  build(
      R"("nodes":[{"name":"a","gpus":{"count":1}}],
       "pods":[{"name":"runs","node":"a","gpus":[0],"gpu":{"count":1},"priority":1,"started":1767225000},
               {"name":"waits","gpu":{"count":1},"priority":9}])");
  evict("runs", EvictionReason::kPreempt, "waits");
  put("waits", "a");
  const Plan plan = reprieved();
  EXPECT_EQ(plan.evictions.size(), 1U);
  EXPECT_EQ(node_of(plan, "waits"), "a");
}

// Once the first victim is back and the new pod elsewhere, the second one could have stayed, too: the referee objects
// to its eviction.
TEST_F(Reprieve, IsLegalHoweverEarlyItIsStopped) {
  std::size_t most_returned = 0;
  for (int answers = 0; answers < 30; ++answers) {
    SCOPED_TRACE(answers);
    build(
        R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],
         "pods":[{"name":"first","node":"a","gpus":[0],"gpu":{"count":1},"priority":1,"started":1767225000},
                 {"name":"second","node":"a","gpus":[1],"gpu":{"count":1},"priority":1,"started":1767225000},
                 {"name":"waits","gpu":{"count":2},"priority":9}])");
    evictions_.clear();
    evict("first", EvictionReason::kPreempt, "waits");
    evict("second", EvictionReason::kPreempt, "waits");
    put("waits", "a", {0, 1});
    const Plan plan = reprieved([left = answers]() mutable { return left-- <= 0; });
    most_returned = std::max(most_returned, 2 - plan.evictions.size());
  }
  EXPECT_EQ(most_returned, 2U);
}

}  // namespace
}  // namespace muster::preemption
