#include "heuristics/preemption/reprieve.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/plan_of.h"
#include "heuristics/state/planned_eviction.h"
#include "model/objective/evaluation.h"
#include "model/referee/referee.h"
#include "test/support/built_problem.h"

namespace muster::preemption {
namespace {

// A plan put together by hand, and what is made of it.
class Reprieve : public testing::Test {
 protected:
  void build(const std::string& body) {
    problem_ = std::make_unique<BuiltProblem>(body);
    state_ = std::make_unique<ClusterState>(**problem_, ClusterState::Releasing::kFreed);
  }
  void put(const char* pod, const char* node) { state_->put(problem_->pod(pod), problem_->node(node), {0}); }
  void evict(const char* pod, EvictionReason reason, const char* claimant) {
    state_->take(problem_->pod(pod));
    evictions_.push_back({problem_->pod(pod), reason, problem_->gang(claimant)});
  }
  // After it, expected to be legal and no worse.
  Plan reprieved() const {
    const Problem& problem = **problem_;
    const FairShares shares = compute_fair_shares(problem);
    Candidate before{plan_of(problem, *state_, evictions_), {}};
    before.levels = evaluate(problem, shares, before.plan);
    const Candidate after = reprieve_victims(problem, shares, before, {});
    EXPECT_EQ(after.levels, evaluate(problem, shares, after.plan));
    EXPECT_TRUE(compare(after.levels, before.levels, level_ids(problem)) >= 0);
    for (const referee::Violation& violation : referee::check_plan(problem_->snapshot(), problem, shares, after.plan))
      ADD_FAILURE() << referee::rule_name(violation.rule) << " " << violation.subject << ": " << violation.message;
    return after.plan;
  }
  std::string node_of(const Plan& plan, const char* pod) const {
    const auto at = std::ranges::find(plan.placements, problem_->pod(pod), &Placement::pod);
    return at == plan.placements.end() ? "-" : std::string(problem_->snapshot().nodes[at->node.value()].name);
  }

  std::unique_ptr<BuiltProblem> problem_;
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

}  // namespace
}  // namespace muster::preemption
