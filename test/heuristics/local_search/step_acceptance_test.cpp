#include "heuristics/local_search/step_acceptance.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "test/heuristics/local_search/search_case.h"

namespace muster::local_search {
namespace {

class StepAcceptanceTest : public testing::Test {
 protected:
  Step place(const char* pod, const char* node, const DeviceList& devices) const {
    Step step;
    step.changes.push_back({search_.pod(pod), {}, {search_.node(node), devices}});
    step.gain.worth = search_.scope.worth(search_.pod(pod));
    return step;
  }
  Step drop(const char* pod, const char* node, const DeviceList& devices) const {
    Step step;
    step.changes.push_back({search_.pod(pod), {search_.node(node), devices}, {}});
    step.gain.worth = -search_.scope.worth(search_.pod(pod));
    return step;
  }
  bool is_placed(const char* pod) const { return plan_.state.is_present(search_.pod(pod)); }

  SearchCase search_{R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":1}}],
      "pods":[{"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}},{"name":"z","gpu":{"count":1}}])",
                     {{"x", "a", {0}}}};
  PlanState plan_{search_.plan, search_.before};
  const preemption::EvictionRules rules_{*search_.problem, search_.shares, search_.before};
  StepAcceptance acceptance_{rules_, plan_};
};

TEST_F(StepAcceptanceTest, TakesTheStepsOfAllPartsTogether) {
  EXPECT_TRUE(acceptance_.take_over({{place("y", "a", {1})}, {place("z", "b", {0})}}, {}));
  EXPECT_TRUE(is_placed("y") && is_placed("z"));
}

TEST_F(StepAcceptanceTest, TakesSingleStepsIfTheyDoNotFitTogether) {
  EXPECT_TRUE(acceptance_.take_over({{place("y", "b", {0})}, {place("z", "b", {0})}}, {}));
  EXPECT_TRUE(is_placed("y"));
  EXPECT_FALSE(is_placed("z"));
}

TEST_F(StepAcceptanceTest, TakesNoStepThatMakesThePlanWorse) {
  EXPECT_FALSE(acceptance_.take_over({{drop("x", "a", {0})}}, {}));
  EXPECT_TRUE(is_placed("x"));
}

TEST_F(StepAcceptanceTest, TakesNoStepWhosePodIsElsewhere) {
  Step step = drop("x", "a", {1});
  step.changes.push_back({search_.pod("y"), {}, {search_.node("b"), {0}}});
  EXPECT_FALSE(acceptance_.take_over({{step}}, {}));
  EXPECT_FALSE(is_placed("y"));
}

TEST_F(StepAcceptanceTest, TakesNothingIfNothingWasFound) { EXPECT_FALSE(acceptance_.take_over({{}, {}}, {})); }

TEST_F(StepAcceptanceTest, StopsBetweenSingleSteps) {
  EXPECT_FALSE(acceptance_.take_over({{place("y", "b", {0})}, {place("z", "b", {0})}}, [] { return true; }));
  EXPECT_FALSE(is_placed("y"));
}

TEST_F(StepAcceptanceTest, AcceptsEqualLeadingLevelsOnlyWithALaterGain) {
  EXPECT_FALSE(acceptance_.accepts({}));
  EXPECT_TRUE(acceptance_.accepts({.last_level = 1}));
}

}  // namespace
}  // namespace muster::local_search
